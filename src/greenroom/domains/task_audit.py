"""The audit of a split: every fault of a task that shows without playing it with a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from greenroom.domains.content import SHOWN, digest, task_content, task_hash
from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.domains.policy_checks import breaches
from greenroom.domains.tasks import REFUSAL
from greenroom.domains.validation import solved_by_nothing, validate_tasks
from greenroom.errors import DataError

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain

FAULTS: Final[Mapping[str, str]] = {
    "no-instruction": "the user is told nothing",
    "bad-call": "an action names no tool, or its arguments do not fit",
    "set-up-fails": "its worlds cannot be made",
    "ground-truth-fails": "its ground truth runs into an error",
    "assertion-unmet": "its ground truth does not fulfil its assertions",
    "solved-by-nothing": "an agent that does nothing solves it",
    "silent-refusal": "a refusal that an agent passes that says nothing",
    "against-policy": "its ground truth does what the policy forbids",
    "duplicate": "it is the same as an earlier task",
    "near-duplicate": "it asks for the same as an earlier task, in almost the same words",
    "contradictory": "an earlier task says the same, and demands something else",
    "never-solved": "no agent solved it",
    "solved-by-less": "only agents solved it that changed less than its ground truth",
}
"""The kinds of findings, and what each means."""

FROM_RUNS: Final = ("never-solved", "solved-by-less")
"""The kinds that need stored runs."""

_ALIKE: Final = 0.8
"""The share of words from which two instructions count as nearly the same."""
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class TaskFinding:
    """A fault of a task."""

    task_index: int
    kind: str
    sentence: str
    evidence: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON, without the task."""
        return {"kind": self.kind, "sentence": self.sentence, "evidence": dict(self.evidence)}


def audit_tasks(
    domain: Domain,
    split: str = DEFAULT_SPLIT,
    indices: Sequence[int] | None = None,
    on_task: Callable[[], None] = lambda: None,
) -> list[TaskFinding]:
    """All faults of a split's tasks that show without a run, by task.

    `on_task` is called after each task.
    """
    tasks = domain.tasks(split)
    chosen = list(range(len(tasks)) if indices is None else indices)
    problems = validate_tasks(domain, split, chosen, on_task)
    found = [TaskFinding(one.task_index, one.kind, one.problem, one.evidence) for one in problems]
    for index in solved_by_nothing(domain, split, chosen):
        if REFUSAL in tasks[index].tags:
            said = "an agent that says and does nothing passes it, as its request is to be refused"
            found.append(TaskFinding(index, "silent-refusal", said))
    unplayable = {one.task_index for one in problems if one.kind == "set-up-fails"}
    for index in chosen:
        if index not in unplayable:
            found.extend(_against_policy(domain, split, index))
    equal = {one.task_index for one in problems if one.kind == "duplicate"}
    found.extend(_alike(domain, split, [one for one in chosen if one not in unplayable], equal))
    return in_order(found)


def in_order(findings: Iterable[TaskFinding]) -> list[TaskFinding]:
    """Findings by task, and those of a task by kind."""
    order = list(FAULTS)
    return sorted(findings, key=lambda one: (one.task_index, order.index(one.kind)))


def _against_policy(domain: Domain, split: str, index: int) -> Iterator[TaskFinding]:
    for breach in breaches(domain, domain.task(index, split)):
        yield TaskFinding(
            index,
            "against-policy",
            f"action {breach.index} ({breach.action.name}) {breach.sentence}",
            {"action": breach.index, "call": breach.action.to_json()},
        )


def _alike(
    domain: Domain, split: str, chosen: Sequence[int], equal: Collection[int]
) -> Iterator[TaskFinding]:
    """Tasks that ask for the same as an earlier one, or say the same and ask for another thing.

    Of those that are `equal` to an earlier one, `duplicate` tells.
    """
    said: dict[str, int] = {}
    asked: dict[str, list[int]] = {}
    demands: dict[int, str] = {}
    words: dict[int, Counter[str]] = {}
    for index in chosen:
        task, demand = domain.task(index, split), _demand(domain, split, index)
        own = Counter(_WORD.findall(task.instruction.lower()))
        if demand is None or not own or index in equal:
            continue
        demands[index], words[index] = demand, own
        begins = digest([task_content(task)["initial"], task.user_id])
        wording = digest([begins, _WORD.findall(task.instruction.lower())])
        earlier = said.setdefault(wording, index)
        if demands[earlier] != demand:
            sentence = f"says the same as task {earlier}, and demands something else"
            yield TaskFinding(index, "contradictory", sentence, {"task": earlier})
        others = asked.setdefault(digest([begins, demand]), [])
        likeness, other = max(
            ((_likeness(own, words[one]), one) for one in others), default=(0.0, index)
        )
        if likeness >= _ALIKE:
            share = f"{100 * likeness:.0f} %"
            sentence = f"asks for the same as task {other}; {share} of their words are the same"
            evidence = {"task": other, "likeness": round(likeness, 3)}
            yield TaskFinding(index, "near-duplicate", sentence, evidence)
        others.append(index)


def _demand(domain: Domain, split: str, index: int) -> str | None:
    """What has to come out of a task, as a hash; None where its ground truth cannot be played."""
    task = domain.task(index, split)
    content = task_content(task)
    try:
        changes = domain.ground_truth(index, split).changes
    except DataError:
        return None
    ends = sorted((place.table, place.id, str(text)) for place, text in changes.items())
    # What was to be done and failed is a demand, too: the data leaves no other trace of it.
    calls: Any = content["actions"] if "actions" in task.basis or not ends else None
    named = [content[part] for part in ("outputs", "assertions", "judged", "basis")]
    return digest([ends, calls, *named])


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    either = (one | other).total()
    return (one & other).total() / either if either else 0.0


def finding_json(domain: Domain, split: str, finding: TaskFinding) -> dict[str, Any]:
    """A finding with its task, as an audit's file has it."""
    task = domain.task(finding.task_index, split)
    return {
        "task_id": finding.task_index,
        "id": task.id,
        "hash": task_hash(task)[:SHOWN],
    } | finding.to_json()


__all__ = ["FAULTS", "FROM_RUNS", "TaskFinding", "audit_tasks", "finding_json", "in_order"]
