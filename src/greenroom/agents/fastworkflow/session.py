"""One conversation in a FastWorkflow worker; its models and tools are in the parent process.

The episode in the parent process asks the models and makes the steps; the worker sends prompts and
actions. So budget, limits, retries and the environment stay in one place, and a worker needs no
keys.

Each message between them is a JSON object behind its length in four bytes. The worker asks
(`model`, `step`) and tells (`ready`, `turn`, `broken`); the episode starts it, sends what the user
says and answers.
"""

from __future__ import annotations

import importlib
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, get_args

import orjson

from greenroom.agents.fastworkflow.commands import fastworkflow
from greenroom.agents.fastworkflow.fastworkflow_bridge import (
    Binding,
    install_bridge,
    set_step_callback,
)
from greenroom.agents.fastworkflow.fastworkflow_tool_map import ToolMap, local_name
from greenroom.errors import redacted

ROLES = {
    "LLM_PLANNER": "planner",
    "LLM_AGENT": "agent",
    "LLM_PARAM_EXTRACTION": "extraction",
}
"""Which of FastWorkflow's models plays which role."""

TURN_ATTEMPTS = 3
"""How often a turn is tried before the agent fails."""

LENGTH = 4
"""Bytes of a message's length."""

_LONGEST_PROBLEM = 500


class Disconnected(BaseException):
    """The other end is gone. A BaseException, so that code that catches Exception stops too."""


class ModelGone(BaseException):
    """The episode ends, as the model has no answer. A BaseException, so that nothing continues."""


def packed(message: Mapping[str, Any]) -> bytes:
    """An encoded message."""
    body = orjson.dumps(message, default=str)
    return len(body).to_bytes(LENGTH) + body


class WorkerEnd:
    """The worker's end, in plain blocking code."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._incoming = connection.makefile("rb")

    def send(self, **message: Any) -> None:
        """Send a message."""
        try:
            self._connection.sendall(packed(message))
        except OSError as error:
            raise Disconnected from error

    def receive(self) -> dict[str, Any]:
        """Wait for the next message."""
        return orjson.loads(self._exactly(int.from_bytes(self._exactly(LENGTH))))

    def ask(self, **message: Any) -> dict[str, Any]:
        """Send a question and wait for its answer."""
        self.send(**message)
        return self.receive()

    def _exactly(self, count: int) -> bytes:
        try:
            data = self._incoming.read(count)
        except OSError as error:
            raise Disconnected from error
        if len(data) < count:
            raise Disconnected
        return data


@dataclass(frozen=True, kw_only=True)
class SessionSettings:
    """The settings that a worker gets when an episode begins."""

    session: str
    tool_infos: list[dict[str, Any]]
    tool_map: dict[str, str]
    decision_only: bool
    reasoning: bool
    trained: bool
    max_iterations: int
    policy: str = ""
    """Put before every user message if the workflow's insights cannot hold it."""


Complete = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Asks the model of a role: the answer's text and the tokens that it took."""


class Relay:
    """Sends FastWorkflow's model calls to the episode, and counts them."""

    def __init__(self, wire: WorkerEnd) -> None:
        self._wire = wire
        self.asked: Counter[str] = Counter()

    def complete(self, role: str, request: dict[str, Any]) -> dict[str, Any]:
        """The model's answer: its text and the tokens that it took."""
        self.asked[role] += 1
        reply = self._wire.ask(kind="model", role=role, **request)
        if reply["kind"] == "context_window":
            litellm: Any = importlib.import_module("litellm")
            raise litellm.ContextWindowExceededError(
                message=reply["problem"], model=role, llm_provider="greenroom"
            )
        if reply["kind"] != "completion":
            raise ModelGone
        return reply


class _RelayedEnvironment:
    def __init__(self, wire: WorkerEnd) -> None:
        self._wire = wire

    def step(self, action: dict[str, Any]) -> Any:
        return SimpleNamespace(**self._wire.ask(kind="step", action=action))


def hold(wire: WorkerEnd, workflow: str, settings: SessionSettings) -> None:
    """Play the conversation turn by turn until the episode closes the connection."""
    relay = Relay(wire)
    place_models(relay.complete, reasoning=settings.reasoning)
    tool_map = ToolMap(settings.tool_infos, settings.tool_map)
    binding = Binding(
        _RelayedEnvironment(wire),
        tool_map,
        decision_only=settings.decision_only,
        models_asked=lambda: dict(relay.asked),
        exact_only=not settings.trained,
    )
    package = fastworkflow()
    context = package.WorkflowExecutionContext(run_as_agent=True, session_key=settings.session)
    application = package.Workflow.create(workflow, workflow_id_str=settings.session)
    context.bind_app_workflow(application)
    _count_intents(relay)
    with install_bridge(context, binding):
        set_step_callback(context, lambda record: _tell_step(wire, settings, record))
        wire.send(kind="ready")
        while True:
            words = wire.receive()["words"]
            _take_turn(wire, context, binding, settings, words)


def _take_turn(
    wire: WorkerEnd, context: Any, binding: Binding, settings: SessionSettings, words: str
) -> None:
    problem = ""
    text = _message(words, settings.policy)
    asked = _pending_question(context)
    for attempt in range(TURN_ATTEMPTS):
        # An answer to a question continues the turn that asked it.
        if attempt > 0 or asked is None:
            binding.begin_turn(again=attempt > 0)
        try:
            turn = _turn(context, settings, text)
        except Exception as error:
            problem = redacted(f"{type(error).__name__}: {error}")[:_LONGEST_PROBLEM]
            context.cancel_pending()
            context.cme_workflow.end_command_processing()
            if asked is not None:
                # The question's turn cannot be continued: send all of it as one message.
                text = f"{asked[0]}\n\nThe user was asked: {asked[1]}\nThe user answered: {words}"
                asked = None
            continue
        wire.send(kind="turn", answer=turn.answer or "", resolved=dict(binding.resolved))
        return
    wire.send(kind="broken", problem=problem, resolved=dict(binding.resolved))


def _turn(context: Any, settings: SessionSettings, text: str) -> Any:
    context._ensure_agent_initialized()
    agent = context.workflow_tool_agent
    agent.max_iters = settings.max_iterations
    # FastWorkflow continues the count of the turn before.
    agent.iteration_counter = 0
    return context.process_turn(text)


def _message(words: str, policy: str) -> str:
    text = f"{policy}\n\n{words}" if policy else words
    # A leading slash would leave the agent's mode.
    return f" {text}" if text.startswith("/") else text


def _pending_question(context: Any) -> tuple[str, str] | None:
    if not context.awaiting_user:
        return None
    return context._suspended_user_message or "", context._pending_clarification_request or ""


def _tell_step(wire: WorkerEnd, settings: SessionSettings, record: dict[str, Any]) -> None:
    if settings.decision_only and record["action"] is not None:
        wire.send(kind="decision", action=record["action"])
    elif record["action"] is None:
        wire.send(kind="refused", command=record["command"], problem=record["error"])


def place_models(complete: Complete, *, reasoning: bool) -> None:
    """Make FastWorkflow ask here instead of a provider."""
    dspy: Any = importlib.import_module("dspy")
    models = importlib.import_module("greenroom.agents.fastworkflow.models")

    def get_lm(model_env_var: str, *_: Any, **__: Any) -> Any:
        return models.RelayedModel(complete, ROLES.get(model_env_var, model_env_var.lower()))

    fastworkflow("utils.dspy_utils").get_lm = get_lm
    if not reasoning:
        dspy.ChainOfThought = dspy.Predict


def _count_intents(relay: Relay) -> None:
    routers = fastworkflow("model_pipeline_training").CommandRouter._instances_cache
    for router in routers.values():
        predict = router.predict

        def counted(command: str, predict: Any = predict) -> Any:
            relay.asked["intent"] += 1
            return predict(command)

        router.predict = counted


def command_names(workflow: str) -> list[str]:
    """The names of a workflow's commands, in all of its contexts."""
    definition = fastworkflow().RoutingRegistry.get_definition(workflow)
    names = {local_name(name) for names in definition.contexts.values() for name in names}
    return sorted(names - {"wildcard"})


def float_parameters(workflow: str) -> list[str]:
    """The parameters of a workflow's commands that turn whole numbers into floats."""
    definition = fastworkflow().RoutingRegistry.get_definition(workflow)
    kind = fastworkflow().ModuleType.COMMAND_PARAMETERS_CLASS
    names = {name for names in definition.contexts.values() for name in names}
    return sorted(
        f"{local_name(name)}.{parameter}"
        for name in names - {"wildcard"}
        for parameter, field in _fields_of(definition.get_command_class(name, kind)).items()
        if _is_float(field.annotation)
    )


def _is_float(annotation: Any) -> bool:
    # A union with int keeps whole numbers as they are.
    inner = get_args(annotation)
    return annotation is float or (
        int not in inner
        and any(map(_is_float, [*inner, *(f.annotation for f in _fields_of(annotation).values())]))
    )


def _fields_of(model: Any) -> Mapping[str, Any]:
    return getattr(model, "model_fields", {})
