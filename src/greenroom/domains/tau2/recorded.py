"""Recorded episodes of tau2-bench as trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from greenroom.domains.steps import Step, Trajectory, UserCall
from greenroom.domains.tasks import RESPOND, Action, Party, Task, respond, validated
from greenroom.domains.tau2.tasks import PARTIES, RawMessages, read_tasks
from greenroom.errors import DataError
from greenroom.util.json_values import as_dict, as_list

SOLO_AGENT: Final = "llm_agent_solo"
SOLO_USER: Final = "dummy_user"
"""tau2's names of who plays where the agent works alone; its tools know such files by them."""
WORKFLOW_DOMAIN: Final = "telecom-workflow"
"""tau2's name of telecom with the policy "workflow". Tasks, tools and grading are telecom's."""


@dataclass
class TrajectoryBuilder:
    """Makes a trajectory of calls and texts, in the order in which they happened."""

    _opening: str = ""
    _opening_calls: list[UserCall] = field(default_factory=list[UserCall])
    _steps: list[Step] = field(default_factory=list[Step])

    def call(self, action: Action, observation: str, *, failed: bool) -> None:
        """A party called a tool."""
        if action.party == "agent":
            self._steps.append(Step(action, observation, action.name, done=False, failed=failed))
            return
        call = UserCall(action, observation, failed=failed)
        if self._steps:
            last = self._steps[-1]
            self._steps[-1] = replace(last, user_calls=(*last.user_calls, call))
        else:
            self._opening_calls.append(call)

    def say(self, party: Party, text: str) -> None:
        """A party said something to the other one."""
        if party == "agent":
            self._steps.append(Step(respond(text), "", "user", done=False))
        elif self._steps and self._steps[-1].action.name == RESPOND:
            self._steps[-1] = replace(self._steps[-1], observation=text)
        elif not self._steps:
            self._opening = text

    @property
    def trajectory(self) -> Trajectory:
        """What happened so far."""
        return Trajectory(self._opening, tuple(self._opening_calls), tuple(self._steps))


def read_messages(
    messages: Sequence[Mapping[str, Any]], task: Task, greeting: str | None
) -> Trajectory:
    """The trajectory in the messages of a simulation.

    It is without the greeting that begins it, or the history of the task, which grading adds again.
    """
    builder = TrajectoryBuilder()
    waiting: list[Action] = []
    for place, message in enumerate(messages[_past(messages, task) :]):
        role, content = message.get("role"), message.get("content")
        if role == "tool":
            if waiting:
                failed = bool(message.get("error"))
                builder.call(waiting.pop(0), content or "", failed=failed)
            continue
        party = PARTIES.get(str(role))
        greets = greeting is not None and place == 0 and party == "agent" and content == greeting
        if party is None or greets:
            continue
        if message.get("tool_calls"):
            waiting = list(_calls(message, party))
        elif isinstance(content, str):
            builder.say(party, content)
    return builder.trajectory


def _calls(message: Mapping[str, Any], party: Party) -> Iterator[Action]:
    # What is written along with several calls counts once.
    aside = (message.get("content") or "") if party == "agent" else ""
    for place, call in enumerate(message["tool_calls"]):
        requestor = call.get("requestor")
        yield Action(
            call["name"],
            call.get("arguments") or {},
            party=party if requestor is None else PARTIES[requestor],
            id=call.get("id") or None,
            aside="" if place else aside,
            joined=place > 0,
        )


def _past(messages: Sequence[Mapping[str, Any]], task: Task) -> int:
    """How many messages are the task's history."""
    history = () if task.initial is None else task.initial.messages
    told = [(message.get("role"), message.get("content")) for message in messages[: len(history)]]
    same = told == [(message.get("role"), message.get("content")) for message in history]
    return len(history) if same else 0


@dataclass(frozen=True)
class Simulation:
    """An episode of one of tau2's files."""

    domain: str
    task: Task
    """The task as the file has it."""
    trial: int
    messages: tuple[Mapping[str, Any], ...]
    reward: float | None
    """The recorded reward; None where there is none."""
    termination: str
    reward_info: Mapping[str, Any] | None = None
    """What tau2's evaluator found."""
    id: str = ""
    solo: bool = False
    """The agent worked alone."""

    def trajectory(self, greeting: str | None) -> Trajectory:
        """What was said and called."""
        return read_messages(self.messages, self.task, greeting)


class _RawSimulation(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = ""
    task_id: Annotated[str, BeforeValidator(str)]
    trial: int | None = None
    termination_reason: str = ""
    reward_info: dict[str, Any] | None = None
    messages: RawMessages = Field(default_factory=list[dict[str, Any]])


_raw_simulations = TypeAdapter(list[_RawSimulation])


def read_simulations(content: Any, source: Path | str) -> list[Simulation]:
    """The episodes of a run file of tau2's, or of a list of tasks with a simulation each."""
    if isinstance(content, list):
        entries = [as_dict(entry) for entry in cast("list[Any]", content)]
        tasks = read_tasks([entry.get("task") for entry in entries], source)
        raw = validated(_raw_simulations, [entry.get("simulation") for entry in entries], source)
        named = [_played_here(str(entry.get("domain", ""))) for entry in entries]
        found = zip(named, tasks, raw, strict=True)
        return [_simulation(domain, task, one) for domain, task, one in found]
    run = as_dict(content)
    tasks_by_id = {task.id: task for task in read_tasks(as_list(run.get("tasks")), source)}
    domain = as_dict(as_dict(run.get("info")).get("environment_info")).get("domain_name")
    if not isinstance(domain, str):
        raise DataError(f"{source} is no run file of tau2-bench: it names no domain.")
    domain = _played_here(domain)
    if run.get("simulations") is None:
        raise DataError(f"{source} has no episodes: its list of simulations is missing.")
    raw = validated(_raw_simulations, run.get("simulations"), source)
    lost = next((one.task_id for one in raw if one.task_id not in tasks_by_id), None)
    if lost is not None:
        raise DataError(f"{source} has an episode of the task '{lost}', and no such task.")
    solo = _is_solo(as_dict(run.get("info")))
    return [replace(_simulation(domain, tasks_by_id[one.task_id], one), solo=solo) for one in raw]


def _played_here(domain: str) -> str:
    return "telecom" if domain == WORKFLOW_DOMAIN else domain


def _is_solo(info: Mapping[str, Any]) -> bool:
    played = [as_dict(info.get(name)).get("implementation") for name in ("agent_info", "user_info")]
    return played == [SOLO_AGENT, SOLO_USER]


def is_simulations(content: Any) -> bool:
    """Whether the content of a file is one of tau2's."""
    if isinstance(content, list):
        first = as_dict(cast("list[Any]", content)[0]) if content else {}
        return "simulation" in first and "task" in first
    return {"info", "tasks"} <= as_dict(content).keys()


def _simulation(domain: str, task: Task, raw: _RawSimulation) -> Simulation:
    reward = (raw.reward_info or {}).get("reward")
    return Simulation(
        domain,
        task,
        raw.trial or 0,
        tuple(raw.messages),
        float(reward) if isinstance(reward, int | float) else None,
        raw.termination_reason,
        raw.reward_info,
        raw.id,
    )
