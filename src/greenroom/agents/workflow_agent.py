"""The workflow agent: any chat workflow, or any OpenAI-compatible server, plays.

The conversation goes to the workflow as `messages`, and the domain's tools go along. Tool calls
that it returns are made in the environment and answered, until it speaks. So a workflow that calls
tools as a model does is played exactly as the tool-calling agent plays a model.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import uuid4

import orjson

from greenroom.agents import tool_calling
from greenroom.agents.conversation import flag
from greenroom.agents.strategies import Agent, AgentContext, AgentStrategy, Setting, Stage
from greenroom.agents.tool_calling import ToolCallingAgent
from greenroom.errors import InputError
from greenroom.messages import last_assistant_message
from greenroom.models import Completion, Model, ModelRequest, ModelUnavailable
from greenroom.workflows.call.opening import open_target
from greenroom.workflows.calls import Call, CallError, Target

OPTIONS: Final = {
    "workflow": "its address, or file.py:name",
    "workflow_model": "which of an OpenAI-compatible server's models",
    "parameters": "the workflow's configuration, as a JSON object",
    "policy": "0 leaves the domain's policy out of the messages (default 1)",
    **tool_calling.OPTIONS,
}


@dataclass(frozen=True)
class OpenWorkflow:
    """The workflow that a run's agents share."""

    target: Target
    facts: dict[str, str]


@asynccontextmanager
async def prepare(setting: Setting) -> AsyncGenerator[OpenWorkflow]:
    """Find the workflow and see that it is a chat workflow."""
    address = setting.options.get("workflow")
    if not address:
        raise InputError(
            "The workflow agent plays a workflow: name it by --workflow, as an address or "
            "file.py:name."
        )
    target = await open_target(address, model=setting.options.get("workflow_model"))
    try:
        profile = target.profile
        if not profile.is_chat:
            raise InputError(
                f"'{profile.name}' at {address} is no chat workflow ({profile.decided_by}), and an "
                'agent has to converse. Declare it with flags={"is_chat": True}.'
            )
        yield OpenWorkflow(target, {"workflow": profile.name, "chat because": profile.decided_by})
    finally:
        await target.close()


class WorkflowAgent(ToolCallingAgent):
    """A tool-calling agent whose model is a workflow."""

    def __init__(self, context: AgentContext) -> None:
        super().__init__(context)
        assert isinstance(context.shared, OpenWorkflow), "the strategy was not prepared"
        self.facts = context.shared.facts
        self._tells_policy = _tells_policy(context.options)

    def _request(self, stage: Stage) -> ModelRequest:
        request = super()._request(stage)
        if self._tells_policy:
            return request
        return ModelRequest(messages=request.messages[1:], tools=request.tools, seed=request.seed)


@dataclass(frozen=True)
class WorkflowModel:
    """A workflow that is asked like a model, under one session for a whole episode."""

    target: Target
    parameters: dict[str, Any] | None
    session_id: str

    async def complete(self, request: ModelRequest) -> Completion:
        """Its answer; a workflow that fails is no agent that plays badly, so it is unavailable."""
        parameters = self.parameters
        if self.target.profile.interface == "openai" and request.seed is not None:
            parameters = {"seed": request.seed} | (parameters or {})
        call = Call(
            inputs={"messages": request.messages},
            parameters=parameters,
            session_id=self.session_id,
            tools=request.tools,
        )
        try:
            answer = await self.target.call(call)
        except CallError as error:
            raise ModelUnavailable(str(error), status=error.status) from error
        message = last_assistant_message(answer.outputs)
        return Completion(
            message=message or {"role": "assistant", "content": ""},
            finish_reason="tool_calls" if (message or {}).get("tool_calls") else "stop",
            prompt_tokens=answer.prompt_tokens or 0,
            completion_tokens=answer.completion_tokens or 0,
            cost=answer.cost,
            seconds=answer.seconds,
        )


def create_model(context: AgentContext) -> Model:
    """The workflow as the model of one episode."""
    assert isinstance(context.shared, OpenWorkflow), "the strategy was not prepared"
    session = f"{context.seed}-{context.task_index}-{context.trial}-{uuid4().hex[:8]}"
    return WorkflowModel(context.shared.target, _parameters(context.options), session)


def _parameters(options: Mapping[str, str]) -> dict[str, Any] | None:
    text = options.get("parameters")
    if text is None:
        return None
    try:
        found: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"The agent's option parameters must be a JSON object, not '{text}'.")
    return cast("dict[str, Any]", found)


def _tells_policy(options: Mapping[str, str]) -> bool:
    return flag({"policy": "1", **options}, "policy")


def check_options(options: Mapping[str, str]) -> None:
    """Raise InputError for values that will not do."""
    tool_calling.check_options(options)
    _tells_policy(options)
    _parameters(options)


def _create(context: AgentContext) -> Agent:
    return WorkflowAgent(context)


strategy = AgentStrategy(
    "workflow",
    _create,
    "a chat workflow, or an OpenAI-compatible server, that is given the domain's tools",
    options=OPTIONS,
    check_options=check_options,
    create_model=create_model,
    prepare=prepare,
)
