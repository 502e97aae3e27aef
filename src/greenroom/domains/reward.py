"""The score of an episode: Tau Bench's reward and its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from greenroom.domains.diff import FieldDifference, record_differences

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenroom.domains.domain import Domain, GroundTruth
    from greenroom.domains.steps import Trajectory
    from greenroom.domains.tasks import Action, Assertion, Basis, Task
    from greenroom.domains.worlds import Worlds


@dataclass(frozen=True, slots=True)
class AssertionResult:
    """A function of a task that looked at a world, and whether it found what was expected."""

    assertion: Assertion
    met: bool
    error: str | None = None
    """What the function raised, if it did: then nobody knows, and it counts as not met."""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """An action of the ground truth, and whether somebody made such a call."""

    action: Action
    found: bool


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence about the conversation, and what the judge says of it."""

    sentence: str
    met: bool | None = None
    """None: nobody has judged it."""
    reason: str = ""


@dataclass(frozen=True)
class Reward:
    """What came of an episode, part by part. The task's basis says which parts count."""

    worlds: Worlds
    truth: GroundTruth
    database: bool
    """The databases equal the ground truth's."""
    outputs: dict[str, bool]
    """Each required output, and whether the agent's messages contain it: the official check."""
    strict_outputs: dict[str, bool]
    """The same for whole words and numbers: "1000" does not contain "10"."""
    basis: tuple[Basis, ...] = ("database", "outputs")
    assertions: tuple[AssertionResult, ...] = ()
    actions: tuple[ActionResult, ...] = ()
    judged: tuple[JudgedSentence, ...] = ()

    @property
    def parts(self) -> dict[Basis, bool | None]:
        """Every part, whether it counts or not; None where a judge has to decide first."""
        verdicts = [sentence.met for sentence in self.judged]
        judged = False if False in verdicts else None if None in verdicts else True
        return {
            "database": self.database,
            "assertions": all(result.met for result in self.assertions),
            "actions": all(result.found for result in self.actions),
            "outputs": all(self.outputs.values()),
            "judged": judged,
        }

    @property
    def without_judge(self) -> float:
        """The reward of all that needs no judge: 1.0 or 0.0."""
        return float(self._all_met(strict=False))

    @property
    def unjudged(self) -> int:
        """How many sentences that count have not been judged."""
        if "judged" not in self.basis:
            return 0
        return sum(sentence.met is None for sentence in self.judged)

    @property
    def value(self) -> float:
        """The reward: 1.0 or 0.0. Sentences that nobody has judged are left out."""
        rejected = "judged" in self.basis and any(one.met is False for one in self.judged)
        return 0.0 if rejected else self.without_judge

    @property
    def strict_value(self) -> float:
        """The reward under the strict output check."""
        return float(self._all_met(strict=True)) * self.value

    def _all_met(self, *, strict: bool) -> bool:
        parts = self.parts
        if strict:
            parts["outputs"] = all(self.strict_outputs.values())
        return all(parts[part] for part in self.basis if part != "judged")

    @cached_property
    def differences(self) -> list[FieldDifference]:
        """The fields that differ from the ground truth's database."""
        expected, actual = self.truth.changes, self.worlds.changes()
        return [
            difference
            for place in dict.fromkeys([*expected, *actual])
            if expected.get(place, place) != actual.get(place, place)
            for difference in record_differences(
                place, self.truth.worlds.record(place), self.worlds.record(place)
            )
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON of all parts."""
        return {
            "reward": self.value,
            "strict_reward": self.strict_value,
            "database": self.database,
            "outputs": self.outputs,
            "strict_outputs": self.strict_outputs,
            "differences": [difference.to_json() for difference in self.differences],
        }


def score(
    domain: Domain, task: Task, truth: GroundTruth, worlds: Worlds, trajectory: Trajectory
) -> Reward:
    """Score a finished episode from its worlds and what was said and called."""
    outputs, strict_outputs = check_outputs(task, trajectory.said)
    needs_actions = "actions" in task.basis
    calls = [call.action for call in trajectory.calls()] if needs_actions else []
    return Reward(
        worlds=worlds,
        truth=truth,
        database=truth.matches(worlds),
        outputs=outputs,
        strict_outputs=strict_outputs,
        basis=task.basis,
        assertions=tuple(check_assertion(domain, worlds, one) for one in task.assertions),
        actions=tuple(find_action(one, calls) for one in task.actions if needs_actions),
        judged=tuple(JudgedSentence(sentence) for sentence in task.judged),
    )


def check_outputs(task: Task, said: Iterable[str]) -> tuple[dict[str, bool], dict[str, bool]]:
    """Whether the agent said each required output: by the official check, and by the strict one."""
    texts = [text.lower().replace(",", "") for text in said] if task.outputs else []
    return (
        {output: _occurs(output, texts) for output in task.outputs},
        {output: _occurs_whole(output, texts) for output in task.outputs},
    )


def check_assertion(domain: Domain, worlds: Worlds, assertion: Assertion) -> AssertionResult:
    """Ask a task's function about a world; raise DataError if the domain has no such function."""
    ask = domain.function(assertion.party, assertion.name)
    try:
        found = ask(worlds.of(assertion.party), **assertion.kwargs)
        domain.sync(worlds)
    except Exception as error:  # a function of a domain may raise anything
        return AssertionResult(assertion, met=False, error=f"{type(error).__name__}: {error}")
    return AssertionResult(assertion, found == assertion.expected)


def find_action(wanted: Action, calls: Iterable[Action]) -> ActionResult:
    """Look for a call of either party like an action of the ground truth, as tau2-bench does.

    The arguments that the action names have to agree; without names, those of the call. So a call
    without arguments is found for every action of that name.
    """
    return ActionResult(wanted, any(_is_like(wanted, call) for call in calls))


def _is_like(wanted: Action, call: Action) -> bool:
    if wanted.name != call.name:
        return False
    compared = call.kwargs if wanted.compared is None else wanted.compared
    left = {key: value for key, value in wanted.kwargs.items() if key in compared}
    return left == {key: value for key, value in call.kwargs.items() if key in compared}


def _occurs(output: str, texts: Iterable[str]) -> bool:
    wanted = output.lower()
    return any(wanted in text for text in texts)


def _occurs_whole(output: str, texts: Iterable[str]) -> bool:
    # Neither inside a word nor inside a longer number: "10" is not in "1000", "10.5" or "3.10".
    wanted = re.escape(output.lower().replace(",", ""))
    pattern = re.compile(rf"(?<!\w)(?<!\d\.){wanted}(?!\w)(?!\.\d)")
    return any(pattern.search(text) for text in texts)
