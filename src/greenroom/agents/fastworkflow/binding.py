"""A FastWorkflow session and the environment in which its commands run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import orjson

from greenroom.agents.fastworkflow.commands import (
    UNDECIDED,
    beginning_with_its_name,
    executor,
    fastworkflow,
    first_word,
    misunderstood,
    output_of,
    response_of,
    stage_of,
    tool_call_of,
)
from greenroom.agents.fastworkflow.fastworkflow_tool_map import ToolMap, UnmappedCommand, local_name
from greenroom.errors import redacted

_LONGEST_COMPLAINT = 300
_MOST_CLARIFICATIONS = 5
NOT_UNDERSTOOD = "not understood"
_NO_COMMAND = (
    "Error: it was not understood which command is meant. Begin with the exact name of one of the "
    "available commands."
)


class SteppedEnvironment(Protocol):
    """The environment of a session."""

    def step(self, action: dict[str, Any]) -> Any:
        """Take a step; the agent is told about every Exception.

        The result has `observation`, `reward`, `done` and `info`, as Tau Bench's response has.
        """
        ...


StepCallback = Callable[[dict[str, Any]], None]


def render_obs_for_agent(observation: Any, info: Any = None) -> str:
    """The observation as text for the agent; the same observation gives the same text.

    `info` is ignored: it holds what the agent must not see, such as the task's ground truth.
    """
    if isinstance(observation, str):
        return observation
    return orjson.dumps(observation, option=orjson.OPT_SORT_KEYS, default=str).decode()


class Binding:
    """One session and the environment in which its commands run."""

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
        """Without intent models, a command has to begin with its exact name."""
        self.callback: StepCallback | None = None
        self.resolved: Counter[str] = Counter()
        """Counts how the names and parameters of commands were found."""
        self.stopped = ""
        """Why no further step is possible, once that is so."""
        self._models_asked = models_asked
        self._loop: object = None
        self._answers: dict[int, str] = {}
        self._made: list[tuple[bytes, str]] = []
        self._abandoned: list[tuple[bytes, str]] = []
        self._unresolved_call: tuple[object, int] = (None, 0)
        self._unresolved = 0

    def begin_turn(self, *, again: bool = False) -> None:
        """Begin a turn with a user message; `again` retries a failed turn with the same message.

        An answer to a question continues the turn that asked it instead.
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
            # As in FastWorkflow itself, the mode holds for one command.
            session.cme_workflow.context.pop("is_assistant_mode_command", None)
        if output.command_handled or not output.success:
            self._note_unresolved(session, command, output)
            return self._or_give_up(session, output)
        artifacts = response_of(output).artifacts
        name, parameters = artifacts["command_name"], artifacts.get("cmd_parameters")
        self.resolved[self._how(command, name, asked)] += 1
        session.cme_workflow.context.pop("is_assistant_mode_command", None)
        text, success = self._step(session, command, name, parameters)
        return output_of(session, text, success=success, name=name, parameters=parameters)

    def _or_give_up(self, session: Any, output: Any) -> Any:
        # FastWorkflow clarifies a command by asking a model for another one, and could repeat that
        # forever.
        call = tool_call_of(session)
        if call[0] is not self._unresolved_call[0] or call[1] != self._unresolved_call[1]:
            self._unresolved_call, self._unresolved = call, 0
        self._unresolved += stage_of(session) in UNDECIDED
        if self._unresolved < _MOST_CLARIFICATIONS:
            return output
        session.cme_workflow.end_command_processing()
        return output_of(session, _NO_COMMAND, success=False)

    def _resolve(self, session: Any, command: str) -> Any:
        if self.exact_only and stage_of(session) in ("", "INTENT_DETECTION"):
            named = beginning_with_its_name(session, command)
            if named is None:
                return misunderstood(session, command)
            command = named
        action = fastworkflow().Action(command_name="wildcard", command=command)
        return executor().perform_action(session.cme_workflow, action)

    def failed(self, command: str, problem: Exception) -> str:
        """Tell the agent about an error, and record a step without an action."""
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
        loop, number = tool_call_of(session)
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
                    "info": result.info,
                }
            )
        self._answers[number] = text
        self._made.append((_deed(action), text))
        if done:
            self.stopped = "the conversation is over"
            self._halt_if_stopped()
        return text, not text.startswith("Error")

    def _answered(self, loop: object, number: int, action: dict[str, Any]) -> str | None:
        # FastWorkflow repeats a tool call that raised, and restarts its loop after a reply that it
        # cannot parse. Return the recorded result of a repeated step instead of making it again.
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
            # A BaseException: FastWorkflow catches every Exception and tries again.
            raise fastworkflow().CommandCancelledError(self.stopped)

    def _tell(self, record: dict[str, Any]) -> None:
        if self.callback is not None:
            self.callback(record)

    def _how(self, command: str, name: str, before: Mapping[str, int]) -> str:
        now = self._models_asked()
        if now.get("extraction", 0) > before.get("extraction", 0):
            return "parameter extraction"
        if now.get("intent", 0) > before.get("intent", 0):
            return "intent model"
        return "exact" if first_word(command) == local_name(name).lower() else "close name"

    def _note_unresolved(self, session: Any, command: str, output: Any) -> None:
        # FastWorkflow's own answers, such as "abort", are not failures.
        if not output.success or stage_of(session) in UNDECIDED:
            self.resolved["failed"] += 1
            understood = stage_of(session) not in UNDECIDED
            # What FastWorkflow says of a command that it did not understand is advice.
            problem = response_of(output).response if understood else NOT_UNDERSTOOD
            self._tell({"command": command, "action": None, "error": problem})


def _deed(action: dict[str, Any]) -> bytes:
    return orjson.dumps(action, option=orjson.OPT_SORT_KEYS)
