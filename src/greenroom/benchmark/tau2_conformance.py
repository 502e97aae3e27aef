"""Traces recorded from tau2-bench's own environments and evaluator, compared with ours.

After every call the text, the error flag and the hashes of both databases are compared, and at the
end everything that the evaluator found. Texts that Python or pydantic word, and that differ between
their versions, are counted on their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict, Field

from greenroom.benchmark.conformance import ConformanceReport, Mismatch, read_lines
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.packs import read_text
from greenroom.domains.reward import Reward
from greenroom.domains.steps import Trajectory
from greenroom.domains.tasks import Action, Task
from greenroom.domains.tau2.grading import (
    GRADED_ENDS,
    NAMES,
    all_parts,
    breakdown,
    grade_replayed,
    hashes,
    replay_calls,
)
from greenroom.domains.tau2.recorded import TrajectoryBuilder
from greenroom.domains.tau2.tasks import PARTIES
from greenroom.domains.tau2.telecom.billing import MINTED
from greenroom.domains.tools import ToolResult
from greenroom.errors import DataError
from greenroom.util.json_values import as_dict

KIT: Final = "tau2 conformance"
"""The first line of such a file says so."""

_Difference = tuple[str, Any, Any]
_WORDED_BY_PYTHON: Final = ("TypeError", "AttributeError", "ValidationError", "SyntaxError")
READ_LOG: Final = "read_log_allowlist"


class TraceStep(BaseModel):
    """A call with its answer, or a text."""

    model_config = ConfigDict(extra="ignore")

    call: str | None = None
    say: str | None = None
    name: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    content: str | None = None
    error: bool = False
    exception: str | None = None
    hash: list[str | None] | None = None
    minted: list[str] = Field(default_factory=list[str])


class Tau2Trace(BaseModel):
    """One recorded episode."""

    model_config = ConfigDict(extra="ignore")

    id: str
    domain: str
    kind: str = ""
    task_id: str | None = None
    variant: str | None = None
    read_log_allowlist: list[str] | None = None
    solo_mode: bool = False
    hash_at_start: list[str | None]
    hash_after_init: list[str | None]
    steps: list[TraceStep]
    termination: str
    evaluation: dict[str, Any] | None = None


@dataclass
class Tally:
    """What has been compared."""

    calls: Counter[str] = field(default_factory=Counter[str])
    texts_of_python: int = 0
    """Texts of errors that another version of Python or pydantic words differently."""


def is_tau2_kit(path: Path) -> bool:
    """Whether the file says in its first line that it holds traces of tau2-bench."""
    first = read_text(path).partition("\n")[0]
    try:
        header: Any = orjson.loads(first)
    except orjson.JSONDecodeError:
        return False
    return as_dict(header).get("kit") == KIT


def read_tau2_traces(path: Path, domain: str | None = None) -> list[Tau2Trace]:
    """The traces of a file, of one domain or of all."""
    traces = read_lines(path, Tau2Trace, first=2)
    chosen = [trace for trace in traces if domain in (None, trace.domain)]
    if not chosen:
        known = ", ".join(sorted({trace.domain for trace in traces}))
        raise DataError(f"{path} has no traces of '{domain}' (it has: {known}).")
    return chosen


def check_tau2_conformance(
    traces: list[Tau2Trace],
    data: Path | str,
    *,
    on_trace: Callable[[], None] = lambda: None,
) -> tuple[ConformanceReport, Tally]:
    """Play every trace on the data and collect what differs."""
    tally, mismatches = Tally(), list[Mismatch]()
    open_domains = _Domains(data)
    for trace in traces:
        difference = next(_differences(open_domains.of(trace), trace, tally), None)
        if difference is not None:
            mismatches.append(Mismatch(trace.id, *difference))
        on_trace()
    return ConformanceReport(len(traces), tuple(mismatches)), tally


class _Domains:
    """Domains by name and what a trace asks of them, each opened once."""

    def __init__(self, data: Path | str) -> None:
        self._data = data
        self._opened: dict[tuple[str, str | None, bool], Domain] = {}

    def of(self, trace: Tau2Trace) -> Domain:
        key = (trace.domain, trace.variant, trace.solo_mode)
        domain = self._opened.get(key)
        if domain is None:
            settings = {} if trace.variant is None else {"retrieval": trace.variant}
            domain = load_domain(trace.domain, self._data, settings)
            if trace.solo_mode:
                domain = Domain(replace(domain.edition, solo=True, greeting=None), domain.pack)
            self._opened[key] = domain
        return domain


def find_task(domain: Domain, task_id: str) -> Task:
    """The task with an id, in whichever split."""
    for split in domain.pack.splits:
        for task in domain.tasks(split):
            if task.id == task_id:
                return task
    raise DataError(f"The data of {domain.name} has no task '{task_id}'.")


def _differences(domain: Domain, trace: Tau2Trace, tally: Tally) -> Iterator[_Difference]:
    task = None if trace.task_id is None else find_task(domain, trace.task_id)
    at_start = hashes(domain, domain.worlds())
    if at_start != trace.hash_at_start:
        yield "hashes of the data", trace.hash_at_start, at_start
    worlds = domain.worlds(task)
    if (now := hashes(domain, worlds)) != trace.hash_after_init:
        yield "hashes after the set-up", trace.hash_after_init, now
    if trace.read_log_allowlist is not None:
        worlds.agent.memory[READ_LOG] = frozenset(trace.read_log_allowlist)
    builder = TrajectoryBuilder()
    for number, step in enumerate(trace.steps):
        if step.say is not None:
            builder.say(PARTIES[step.say], step.content or "")
            continue
        action = Action(step.name, step.arguments, party=PARTIES[step.call or ""])
        result = domain.call(worlds, action)
        if result.failed:
            domain.sync(worlds)
        builder.call(action, result.observation, failed=result.failed)
        tally.calls[trace.domain] += 1
        for what, expected, actual in _call_differences(step, result, tally):
            yield f"step {number} ({step.name}): {what}", expected, actual
        if step.hash is not None and (now := hashes(domain, worlds)) != step.hash:
            yield f"step {number} ({step.name}): hashes", step.hash, now
    if task is not None and trace.evaluation is not None:
        minted = sum(len(step.minted) for step in trace.steps)
        yield from evaluation_differences(
            domain, task, builder.trajectory, trace.evaluation, trace.termination, minted=minted
        )


def _call_differences(step: TraceStep, result: ToolResult, tally: Tally) -> Iterator[_Difference]:
    if result.failed != step.error:
        yield "error", step.error, result.failed
    if result.observation == step.content:
        return
    if step.exception in _WORDED_BY_PYTHON:
        tally.texts_of_python += 1
    else:
        yield "text", step.content, result.observation


def evaluation_differences(
    domain: Domain,
    task: Task,
    trajectory: Trajectory,
    expected: Mapping[str, Any],
    termination: str = "user_stop",
    *,
    minted: int = 0,
) -> Iterator[_Difference]:
    """Everything that an evaluation of tau2's says and ours does not."""
    if termination not in GRADED_ENDS:
        if expected["reward"] != 0.0:
            yield "evaluation: reward", expected["reward"], 0.0
        return
    reward = _graded(domain, task, trajectory, minted)
    if "evaluation_error" in expected:
        errors = [one.error for one in reward.assertions if one.error is not None]
        text = str(expected["evaluation_error"]).partition(": ")[2]
        if not any(error.endswith(f": {text}") for error in errors):
            yield "evaluation_error", expected["evaluation_error"], errors
        return
    for name, actual in _findings(domain, task, reward).items():
        if name in expected and (wanted := _compared(name, expected[name])) != actual:
            yield f"evaluation: {name}", wanted, actual
    parts: Mapping[str, float] = expected.get("parts") or {}
    actual_parts = {name: value for name, value in all_parts(reward).items() if name in parts}
    if actual_parts != parts:
        yield "evaluation: parts", parts, actual_parts


def _graded(domain: Domain, task: Task, trajectory: Trajectory, minted: int) -> Reward:
    # The recorded ids of new bills go on from environment to environment.
    fresh, truth_worlds = domain.worlds(task), domain.worlds(task)
    if minted:
        fresh.agent.memory[MINTED] = minted
    replayed = replay_calls(domain, task, trajectory, fresh)
    if minted:
        truth_worlds.agent.memory[MINTED] = fresh.agent.memory[MINTED]
    # tau2 makes the ground truth in an environment that is not solo.
    plain = Domain(replace(domain.edition, solo=False), domain.pack)
    truth = plain.play_out(task.actions, task, truth_worlds)
    return grade_replayed(domain, task, truth, trajectory, replayed.worlds)


def _findings(domain: Domain, task: Task, reward: Reward) -> dict[str, Any]:
    judged = len(reward.judged) if "judged" in reward.basis else 0
    tools = [domain.named_tool(one.action.name) for one in reward.actions]
    kinds = [None if tool is None else tool.kind for tool in tools]
    return {
        "hash_replayed": hashes(domain, reward.worlds),
        "hash_gold": hashes(domain, reward.truth.worlds),
        "reward": reward.value,
        "reward_if_nl_rejected": 0.0 if judged else reward.value,
        "nl_assertions_to_judge": judged,
        "reward_basis": [NAMES[part] for part in reward.basis],
        "reward_breakdown": breakdown(reward, task),
        "env_assertions": [one.met for one in reward.assertions],
        "action_checks": [
            (one.action.id, one.found, kind)
            for one, kind in zip(reward.actions, kinds, strict=True)
        ],
        "communicate_checks": list(reward.outputs.items()),
    }


def _compared(name: str, recorded: Any) -> Any:
    """What is compared of a recorded finding."""
    fields = {
        "env_assertions": ("met",),
        "action_checks": ("action_id", "match", "tool_type"),
        "communicate_checks": ("info", "met"),
    }.get(name)
    if fields is None:
        return recorded
    checks = [tuple(check[field] for field in fields) for check in recorded or ()]
    return [check[0] for check in checks] if len(fields) == 1 else checks


__all__ = [
    "KIT",
    "Tally",
    "Tau2Trace",
    "check_tau2_conformance",
    "evaluation_differences",
    "is_tau2_kit",
    "read_tau2_traces",
]
