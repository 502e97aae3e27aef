"""The runtime bridge: FastWorkflow's agent resolves a command, and the environment executes it.

FastWorkflow itself stays as it is. While a session is bound, the execution of its resolved commands
is replaced: the command is planned (FastWorkflow's own wildcard route finds its name and its
parameters, and runs no tool), turned into an action, stepped in the session's environment, and what
comes back is the command's response. All that FastWorkflow does around it goes on: clarifying
ambiguous and misunderstood commands, aborting and planning anew where parameters are missing.

Two entry points can be patched. `workflow_agent._execute_workflow_query` is what the agent's tool
calls; where a version lacks it, `CommandExecutor.invoke_command`, which it calls in turn, will do.

Each session has an environment of its own, held weakly: there is no "last environment". When the
last session is let go, the patches are gone.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextvars import ContextVar
from typing import Any, Final, Protocol

import orjson

from greenroom.agents.fastworkflow_tool_map import ToolMap, UnmappedCommand, local_name
from greenroom.errors import InputError, redacted

KNOWN_VERSIONS = "2.30 is tested, 3.6 is known to have the same entry points"

AGENT_MODULE = "fastworkflow.workflow_agent"
ENTRY_POINT = "_execute_workflow_query"
"""What the agent's tool calls for each command."""

_LONGEST_COMPLAINT = 300
_MOST_CLARIFICATIONS = 5
_NOT_UNDERSTOOD = (
    "Error: it was not understood which command is meant. Begin with the exact name of one of the "
    "available commands."
)


class StepResult(Protocol):
    """What a step gives back: Tau Bench's response of an environment."""

    observation: Any
    reward: float
    done: bool
    info: Any


class SteppedEnvironment(Protocol):
    """What a session is bound to."""

    def step(self, action: dict[str, Any]) -> StepResult:
        """Do something; whatever it raises as an Exception is told to the agent."""
        ...


StepCallback = Callable[[dict[str, Any]], None]


def render_obs_for_agent(observation: Any, info: Any = None) -> str:
    """The observation as the agent reads it: the same text for the same observation, always.

    `info` is not looked at. What the environment knows and the agent may not, the task with its
    ground truth above all, is in there.
    """
    if isinstance(observation, str):
        return observation
    return orjson.dumps(observation, option=orjson.OPT_SORT_KEYS, default=str).decode()


class Binding:
    """One session and the environment that its commands are executed in."""

    def __init__(
        self,
        environment: SteppedEnvironment,
        tool_map: ToolMap,
        *,
        decision_only: bool = False,
        exact_only: bool = False,
        models_asked: Callable[[], Mapping[str, int]] = dict[str, int],
    ) -> None:
        self.environment = environment
        self.tool_map = tool_map
        self.decision_only = decision_only
        self.exact_only = exact_only
        """There are no intent models: a command has to begin with its exact name."""
        self.callback: StepCallback | None = None
        self.resolved: Counter[str] = Counter()
        """How the names and parameters of commands were found."""
        self.stopped = ""
        """Why there are no further steps, once there are none."""
        self._models_asked = models_asked
        self._loop: object = None
        self._answers: dict[int, str] = {}
        self._made: list[tuple[bytes, str]] = []
        self._abandoned: list[tuple[bytes, str]] = []
        self._unresolved_call: tuple[object, int] = (None, 0)
        self._unresolved = 0

    def begin_turn(self, *, again: bool = False) -> None:
        """The user has spoken; `again`: a turn that failed is begun anew with the same words.

        Not for the answer to a question: the turn that asked it goes on.
        """
        if again:
            self._abandoned += self._made
        else:
            self._abandoned = []
        self._made = []

    def execute(self, session: Any, command: str) -> Any:
        """Resolve a command and step; the outcome as FastWorkflow's CommandOutput."""
        self._halt_if_stopped()
        asked = self._models_asked()
        output = self._resolve(session, command)
        if output.command_handled:
            # As FastWorkflow does itself: the mode holds for one command.
            session.cme_workflow.context.pop("is_assistant_mode_command", None)
        if output.command_handled or not output.success:
            self._note_unresolved(session, command, output)
            return self._or_give_up(session, output)
        artifacts = _response(output).artifacts
        name, parameters = artifacts["command_name"], artifacts.get("cmd_parameters")
        self.resolved[self._how(command, name, asked)] += 1
        session.cme_workflow.context.pop("is_assistant_mode_command", None)
        text, success = self._step(session, command, name, parameters)
        return _output(session, text, success=success, name=name, parameters=parameters)

    def _or_give_up(self, session: Any, output: Any) -> Any:
        # FastWorkflow clarifies what it did not understand by asking a model for another command,
        # and begins again with that, for ever if need be.
        call = _tool_call(session)
        if call[0] is not self._unresolved_call[0] or call[1] != self._unresolved_call[1]:
            self._unresolved_call, self._unresolved = call, 0
        self._unresolved += _stage(session) in _UNDECIDED
        if self._unresolved < _MOST_CLARIFICATIONS:
            return output
        session.cme_workflow.end_command_processing()
        return _output(session, _NOT_UNDERSTOOD, success=False)

    def _resolve(self, session: Any, command: str) -> Any:
        if self.exact_only and _stage(session) in ("", "INTENT_DETECTION"):
            named = _beginning_with_its_name(session, command)
            if named is None:
                return _misunderstood(session, command)
            command = named
        action = _fastworkflow().Action(command_name="wildcard", command=command)
        return _executor().perform_action(session.cme_workflow, action)

    def failed(self, command: str, problem: Exception) -> str:
        """Something broke on the way: the agent is told, and a step without action is recorded."""
        complaint = redacted(f"{type(problem).__name__}: {problem}")[:_LONGEST_COMPLAINT]
        text = f"Error: the command could not be executed ({complaint})"
        self._tell({"command": command, "action": None, "error": complaint, "observation": text})
        return text

    def _step(self, session: Any, command: str, name: str, parameters: Any) -> tuple[str, bool]:
        try:
            action = self.tool_map.action(name, parameters)
        except UnmappedCommand as problem:
            self._tell({"command": command, "action": None, "error": str(problem)})
            return f"Error: {problem}", False
        loop, number = _tool_call(session)
        answered = self._answered(loop, number, action)
        if answered is not None:
            return answered, True
        if self.decision_only:
            text, done = orjson.dumps(action, option=orjson.OPT_SORT_KEYS).decode(), False
            self._tell({"command": command, "action": action, "observation": text})
        else:
            result = self.environment.step(action)
            text, done = render_obs_for_agent(result.observation, result.info), result.done
            self._tell(
                {
                    "command": command,
                    "action": action,
                    "observation": text,
                    "reward": result.reward,
                    "done": done,
                }
            )
        self._answers[number] = text
        self._made.append((_deed(action), text))
        if done:
            self.stopped = "the conversation is over"
            self._halt_if_stopped()
        return text, not text.startswith("Error")

    def _answered(self, loop: object, number: int, action: dict[str, Any]) -> str | None:
        # FastWorkflow repeats a tool call that raised, and begins its whole loop anew after a reply
        # that it cannot parse. A step that was made is not made again: it is told again.
        if loop is not self._loop:
            if self._loop is not None:
                self._abandoned += self._made
                self._made = []
            self._loop, self._answers = loop, {}
        if loop is None:
            return None
        if number in self._answers:
            return self._answers[number]
        deed = _deed(action)
        for place, (made, text) in enumerate(self._abandoned):
            if made == deed:
                self._made.append(self._abandoned.pop(place))
                self._answers[number] = text
                return text
        return None

    def _halt_if_stopped(self) -> None:
        if self.stopped:
            # No Exception: those FastWorkflow catches and tries again.
            raise _fastworkflow().CommandCancelledError(self.stopped)

    def _tell(self, record: dict[str, Any]) -> None:
        if self.callback is not None:
            self.callback(record)

    def _how(self, command: str, name: str, before: Mapping[str, int]) -> str:
        now = self._models_asked()
        if now.get("extraction", 0) > before.get("extraction", 0):
            return "parameter extraction"
        if now.get("intent", 0) > before.get("intent", 0):
            return "intent model"
        return "exact" if _first_word(command) == local_name(name).lower() else "close name"

    def _note_unresolved(self, session: Any, command: str, output: Any) -> None:
        # What FastWorkflow answers itself, such as "abort", is no failure.
        if not output.success or _stage(session) in _UNDECIDED:
            self.resolved["failed"] += 1
            self._tell({"command": command, "action": None, "error": _response(output).response})


_UNDECIDED: Final = {"INTENT_AMBIGUITY_CLARIFICATION", "INTENT_MISUNDERSTANDING_CLARIFICATION"}

_lock = threading.RLock()
_bindings: weakref.WeakKeyDictionary[Any, Binding] = weakref.WeakKeyDictionary()
_patches: list[tuple[Any, str, Any]] = []
_inside: ContextVar[object] = ContextVar("inside_the_entry_point", default=None)


@contextlib.contextmanager
def install_bridge(session: Any, binding: Binding) -> Generator[Binding]:
    """Bind a session to an environment for as long as the block runs."""
    with _lock:
        _bindings[session] = binding
        try:
            if not _patches:
                _patch()
        except BaseException:
            del _bindings[session]
            raise
    # A session that is dropped without ado is let go just the same.
    forgotten = weakref.finalize(session, _unpatch_if_idle)
    try:
        yield binding
    finally:
        forgotten.detach()
        with _lock:
            _bindings.pop(session, None)
            _unpatch_if_idle()


def set_step_callback(session: Any, callback: StepCallback | None) -> None:
    """Have every step of a bound session told: its command, action, observation, reward, end."""
    _bindings[session].callback = callback


def is_installed() -> bool:
    """Whether FastWorkflow is patched just now."""
    return bool(_patches)


def check_entry_points() -> None:
    """Raise unless this FastWorkflow can be patched."""
    executor = _executor()
    invoke = inspect.getattr_static(executor, "invoke_command", None)
    if invoke is None or not hasattr(executor, "perform_action") or not _takes(executor, 2):
        raise InputError(
            f"This FastWorkflow ({version()}) cannot be bridged: its CommandExecutor has no "
            f"invoke_command(chat_session, command). Install a version that is known: "
            f"{KNOWN_VERSIONS}."
        )


def _patch() -> None:
    check_entry_points()
    executor = _executor()
    invoke = inspect.getattr_static(executor, "invoke_command")
    agent_module = importlib.import_module(AGENT_MODULE)
    entry = getattr(agent_module, ENTRY_POINT, None)
    bridged = _bridged_invocation(executor.invoke_command, alone=entry is None)
    _replace(executor, "invoke_command", classmethod(bridged), invoke)
    if entry is not None:
        _replace(agent_module, ENTRY_POINT, _bridged_entry(entry), entry)


def _bridged_invocation(original: Callable[..., Any], *, alone: bool) -> Callable[..., Any]:
    def invoke_command(_: Any, chat_session: Any, command: str) -> Any:
        binding = _bindings.get(chat_session)
        if binding is None or not (alone or _inside.get() is binding):
            return original(chat_session, command)
        if not command.strip():
            return original(chat_session, "")
        try:
            return binding.execute(chat_session, command)
        except Exception as problem:
            return _output(chat_session, binding.failed(command, problem), success=False)

    return invoke_command


def _bridged_entry(entry: Callable[..., str]) -> Callable[..., str]:
    def execute_workflow_query(command: str, chat_session_obj: Any) -> str:
        binding = _bindings.get(chat_session_obj)
        if binding is None:
            return entry(command, chat_session_obj)
        before = _inside.set(binding)
        try:
            return entry(command, chat_session_obj)
        except Exception as problem:
            # From FastWorkflow's own recovery: it would try the command again.
            return binding.failed(command, problem)
        finally:
            _inside.reset(before)

    return execute_workflow_query


def _replace(owner: Any, name: str, new: Any, old: Any) -> None:
    _patches.append((owner, name, old))
    setattr(owner, name, new)


def _unpatch_if_idle() -> None:
    with _lock:
        if len(_bindings):
            return
        while _patches:
            owner, name, old = _patches.pop()
            setattr(owner, name, old)


def _takes(executor: Any, count: int) -> bool:
    return len(inspect.signature(executor.invoke_command).parameters) == count


def version() -> str:
    """The version of FastWorkflow that is installed."""
    from importlib.metadata import version as installed

    return installed("fastworkflow")


def _fastworkflow() -> Any:
    return importlib.import_module("fastworkflow")


def _executor() -> Any:
    module: Any = importlib.import_module("fastworkflow.command_executor")
    return module.CommandExecutor


def _response(output: Any) -> Any:
    # One response a command since 3.0, a list of them before.
    single = getattr(output, "command_response", None)
    return single if single is not None else output.command_responses[0]


def _output(
    session: Any, text: str, *, success: bool, name: str = "", parameters: Any = None
) -> Any:
    fastworkflow = _fastworkflow()
    response = fastworkflow.CommandResponse(response=text, success=success)
    # Versions before 3.0 take the singular too.
    output = fastworkflow.CommandOutput(command_response=response)
    workflow = session.get_active_workflow()
    if workflow is not None:
        output.workflow_name = workflow.folderpath.rpartition("/")[2]
        output.context = workflow.current_command_context_displayname
    output.command_name = name
    output.command_parameters = parameters or None
    return output


def _stage(session: Any) -> str:
    return getattr(session.cme_workflow.context.get("NLU_Pipeline_Stage"), "name", "")


def _beginning_with_its_name(session: Any, command: str) -> str | None:
    # FastWorkflow knows a name by the space or the bracket behind it; agents write line breaks and
    # tags there as well.
    words = command.strip()
    registry = _fastworkflow().RoutingRegistry
    own = registry.get_definition(session.app_workflow.folderpath)
    internal = registry.get_definition(session.cme_workflow.folderpath)
    name = _first_word(words)
    known = {local_name(one).lower() for names in own.contexts.values() for one in names}
    if name in known:
        return f"{name} {words[len(name) :].strip()}".strip()
    spoken = "_".join(re.findall(r"\w+", words.lower()))
    general = {local_name(one).lower() for names in internal.contexts.values() for one in names}
    return words if spoken in general - {"wildcard"} else None


def _first_word(command: str) -> str:
    found = re.match(r"\s*([\w/]*)", command)
    return found.group(1).lower() if found else ""


def _misunderstood(session: Any, command: str) -> Any:
    # What FastWorkflow does with a command that its intent models find to be none.
    fastworkflow = _fastworkflow()
    context = session.cme_workflow.context
    context["NLU_Pipeline_Stage"] = (
        fastworkflow.NLUPipelineStage.INTENT_MISUNDERSTANDING_CLARIFICATION
    )
    context["command"] = command
    output = _executor().perform_action(
        session.cme_workflow,
        fastworkflow.Action(command_name="ErrorCorrection/you_misunderstood", command=command),
    )
    _response(output).artifacts["command_handled"] = True
    return output


def _tool_call(session: Any) -> tuple[object, int]:
    # The agent keeps a trajectory for each of its loops; every tool call adds to it first.
    agent = session.workflow_tool_agent
    trajectory = getattr(agent, "current_trajectory", None)
    if trajectory is None:
        trajectory = getattr(agent, "trajectory", None)
    if trajectory is None:
        return None, 0
    return trajectory, sum(key.startswith("tool_name_") for key in trajectory)


def _deed(action: dict[str, Any]) -> bytes:
    return orjson.dumps(action, option=orjson.OPT_SORT_KEYS)
