"""The workflow agent: any chat workflow, or any OpenAI-compatible server, plays.

The conversation goes to the workflow as `messages`, and the domain's tools go along. Tool calls
that it returns are made in the environment and answered, until it speaks. So a workflow that calls
tools as a model does is played exactly as the tool-calling agent plays a model.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import uuid4

import orjson
from pydantic import BeforeValidator, Field

from greenroom.agents.strategies import AgentContext, AgentStrategy, DomainView, Stage
from greenroom.agents.tool_calling import ToolCallingAgent, ToolCallingSettings, write_reply
from greenroom.errors import InputError
from greenroom.messages import last_assistant_message
from greenroom.models import Completion, Model, ModelError, ModelRequest, ModelUnavailable
from greenroom.options import Flag, Reference
from greenroom.store import outcome_of
from greenroom.workflows.call.local import LocalTarget
from greenroom.workflows.call.opening import open_target
from greenroom.workflows.calls import Call, CallError, Profile, Target
from greenroom.workflows.declare import Workflow, as_workflow

_log = logging.getLogger("greenroom.agents")


def _read_object(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return orjson.loads(given)
    except orjson.JSONDecodeError:
        raise InputError(f"parameters should be a JSON object, not '{given}'.") from None


class CallSettings(ToolCallingSettings):
    """The settings of workflow calls."""

    parameters: Annotated[
        dict[str, Any] | None, BeforeValidator(_read_object), Flag(typed=str, metavar="JSON")
    ] = Field(default=None, description="The workflow's configuration, as a JSON object.")
    policy: bool = Field(default=True, description="Put the domain's policy into the messages.")


class WorkflowSettings(CallSettings):
    """The settings of the workflow agent."""

    workflow: Reference = Field(description="Its address, or file.py:name.", min_length=1)
    workflow_model: str | None = Field(
        default=None, description="Which of an OpenAI-compatible server's models."
    )


@dataclass(frozen=True)
class OpenWorkflow:
    """The workflow of a run's agents."""

    target: Target
    facts: dict[str, str]


@asynccontextmanager
async def prepare(
    domain: DomainView, settings: WorkflowSettings, max_steps: int
) -> AsyncGenerator[OpenWorkflow]:
    """Find the workflow and check that it is a chat workflow."""
    target = await open_target(settings.workflow, model=settings.workflow_model)
    async with _checked(target, settings.workflow) as opened:
        yield opened


@asynccontextmanager
async def _checked(target: Target, address: str) -> AsyncGenerator[OpenWorkflow]:
    try:
        profile = target.profile
        if not profile.is_chat:
            raise InputError(
                f"'{profile.name}' at {address} is not a chat workflow, decided by "
                f"{profile.decided_by}. "
                'An agent has to chat: declare it with flags={"is_chat": True}.'
            )
        yield OpenWorkflow(target, _facts(profile, address))
    finally:
        await target.close()


def _facts(profile: Profile, address: str) -> dict[str, str]:
    facts = {"workflow": profile.name, "chat decided by": profile.decided_by}
    if profile.takes_tools is False:
        if profile.interface != "local":
            raise InputError(
                f"'{profile.name}' at {address} declares no input 'tools', so it cannot get the "
                "domain's tools and cannot solve a task. Declare it in the schema of its inputs: "
                '"tools": {"type": "array"}.'
            )
        facts["tools"] = "NOT GIVEN: the workflow has no argument 'tools'"
        _log.warning(
            "'%s' has no argument 'tools': it plays without the domain's tools.", profile.name
        )
    elif profile.takes_tools is None:
        facts["tools"] = "given; the workflow does not tell whether it takes them"
    return facts


class WorkflowAgent(ToolCallingAgent):
    """A tool-calling agent whose model is a workflow."""

    def __init__(self, context: AgentContext) -> None:
        super().__init__(context)
        assert isinstance(context.shared, OpenWorkflow), "the strategy was not prepared"
        self.facts = context.shared.facts
        self._tells_policy = context.settings.policy

    def _request(self, stage: Stage) -> ModelRequest:
        request = super()._request(stage)
        if self._tells_policy:
            return request
        return ModelRequest(messages=request.messages[1:], tools=request.tools, seed=request.seed)


class WorkflowCrashed(ModelError):
    """The workflow's handler raised an error."""

    outcome = "crashed"


@dataclass(frozen=True)
class WorkflowModel:
    """A workflow as a model, with one session per episode."""

    target: Target
    parameters: dict[str, Any] | None
    session_id: str

    async def complete(self, request: ModelRequest) -> Completion:
        """The workflow's answer; what its handler raises counts against it."""
        call = Call(
            inputs={"messages": request.messages},
            parameters=self.target.profile.seeded(self.parameters, request.seed),
            session_id=self.session_id,
            tools=request.tools,
        )
        try:
            answer = await self.target.call(call)
        except CallError as error:
            if outcome_of(None, error) == "crashed":
                raise WorkflowCrashed(str(error)) from error
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
    session = f"{context.run_seed}-{context.task_index}-{context.trial}-{uuid4().hex[:8]}"
    return WorkflowModel(context.shared.target, context.settings.parameters, session)


strategy = AgentStrategy(
    "workflow",
    WorkflowAgent,
    "a chat workflow, or an OpenAI-compatible server, that is given the domain's tools",
    settings=WorkflowSettings,
    create_model=create_model,
    prepare=prepare,
    write_reply=write_reply,
)


def strategy_of(workflow: Workflow | Callable[..., Any]) -> AgentStrategy:
    """The strategy for a workflow of this process, or a chat function."""
    declared = as_workflow(workflow)

    def opened(*_: object) -> AbstractAsyncContextManager[OpenWorkflow]:
        return _checked(LocalTarget(declared), declared.name)

    return AgentStrategy(
        declared.name,
        WorkflowAgent,
        declared.description,
        settings=CallSettings,
        create_model=create_model,
        prepare=opened,
        write_reply=write_reply,
    )
