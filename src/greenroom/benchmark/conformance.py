"""Traces recorded from Tau Bench's own environments, compared with ours step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from greenroom.domains.domain import load_domain
from greenroom.domains.environment import Environment
from greenroom.domains.packs import read_text
from greenroom.domains.tasks import Action
from greenroom.errors import DataError
from greenroom.users import ScriptedUser

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.reward import Reward

Line = TypeVar("Line", bound=BaseModel)


class TraceStep(BaseModel):
    """An action with what Tau Bench answered: the text itself, or its sha256."""

    model_config = ConfigDict(extra="ignore")

    name: str
    kwargs: dict[str, Any] = Field(default_factory=dict[str, Any])
    done: bool = False
    observation: str | None = None
    observation_sha256: str | None = None


class Trace(BaseModel):
    """One recorded episode."""

    model_config = ConfigDict(extra="ignore")

    env: str
    split: str = "test"
    task_index: int
    steps: list[TraceStep]
    reward: float | None = None
    reward_info: dict[str, Any] | None = None
    data_hash_before_end: str | None = None


@dataclass(frozen=True)
class Mismatch:
    """Where a trace and our environment part."""

    trace: int | str
    """The trace's number, or its id."""
    what: str
    expected: Any
    actual: Any

    def __str__(self) -> str:
        return f"trace {self.trace}: {self.what}: expected {self.expected!r}, got {self.actual!r}"


@dataclass(frozen=True)
class ConformanceReport:
    """How many traces match, and the first difference of each that does not."""

    total: int
    mismatches: tuple[Mismatch, ...]

    @property
    def matching(self) -> int:
        """The number of traces that agree in everything."""
        return self.total - len(self.mismatches)


def read_traces(path: Path) -> list[Trace]:
    """The traces of a JSON Lines file."""
    return read_lines(path, Trace)


def read_lines(path: Path, model: type[Line], *, first: int = 1) -> list[Line]:
    """The lines of a file of traces, from a number on."""
    found: list[Line] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if number < first or not line.strip():
            continue
        try:
            found.append(model.model_validate(orjson.loads(line)))
        except orjson.JSONDecodeError as error:
            raise DataError(f"{path}, line {number} is not valid JSON: {error.msg}.") from error
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(str(part) for part in problem["loc"])
            raise DataError(
                f"{path}, line {number} is no trace: {place}: {problem['msg']}."
            ) from error
    return found


def check_conformance(
    traces: list[Trace], data: Path | str, *, on_trace: Callable[[], None] = lambda: None
) -> ConformanceReport:
    """Play every trace on the data and collect what differs."""
    domains = {name: load_domain(name, data) for name in {trace.env for trace in traces}}
    mismatches: list[Mismatch] = []
    for number, trace in enumerate(traces, start=1):
        difference = anyio.run(_first_difference, domains[trace.env], trace)
        if difference is not None:
            mismatches.append(Mismatch(number, *difference))
        on_trace()
    return ConformanceReport(len(traces), tuple(mismatches))


_Difference = tuple[str, Any, Any]


async def _first_difference(domain: Domain, trace: Trace) -> _Difference | None:
    # The recorded user answered everything with the word that ends the conversation.
    environment = Environment(
        domain, ScriptedUser(), split=trace.split, max_steps=len(trace.steps) + 1
    )
    await environment.reset(trace.task_index)
    for number, recorded in enumerate(trace.steps):
        if environment.done:
            return f"step {number} ({recorded.name})", "a step", "an episode that is done"
        if recorded.done and trace.data_hash_before_end is not None:
            actual = environment.world.hash()
            if actual != trace.data_hash_before_end:
                return "database before the end", trace.data_hash_before_end, actual
        step = await environment.step(Action(recorded.name, recorded.kwargs))
        for what, expected, actual in _step_differences(recorded, step.observation, step.done):
            return f"step {number} ({recorded.name}): {what}", expected, actual
    for difference in _reward_differences(trace, environment.reward):
        return difference
    return None


def _step_differences(recorded: TraceStep, observation: str, done: bool) -> Iterator[_Difference]:
    if recorded.observation is not None and observation != recorded.observation:
        yield "observation", recorded.observation, observation
    if recorded.observation_sha256 is not None:
        digest = sha256(observation.encode()).hexdigest()
        if digest != recorded.observation_sha256:
            yield "sha256 of the observation", recorded.observation_sha256, observation
    if done != recorded.done:
        yield "done", recorded.done, done


def _reward_differences(trace: Trace, reward: Reward | None) -> Iterator[_Difference]:
    value = reward.value if reward is not None else 0.0
    if trace.reward is not None and value != trace.reward:
        yield "reward", trace.reward, value
    if reward is None or trace.reward_info is None:
        return
    parts: dict[str, Callable[[], Any]] = {
        "r_actions": lambda: float(reward.database),
        "gt_data_hash": lambda: reward.truth.database_hash,
        "r_outputs": lambda: float(all(reward.outputs.values())),
        "outputs": lambda: reward.outputs,
    }
    for name, expected in trace.reward_info.items():
        if name in parts and (actual := parts[name]()) != expected:
            yield f"reward_info.{name}", expected, actual
