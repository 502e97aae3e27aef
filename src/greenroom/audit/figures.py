"""What an audit finds in all conversations of a job: counted, and what is left without faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from greenroom.analysis.figures import (
    CONFIDENCE,
    NOTHING,
    ConventionMetrics,
    Estimate,
    Immutable,
    Number,
)
from greenroom.analysis.tally import EpisodeLike, is_solved, tally
from greenroom.audit.checks import findings_of
from greenroom.audit.findings import KINDS, Finding, FindingKind
from greenroom.audit.judged import placed
from greenroom.audit.talks import Talk, talk_of
from greenroom.store import CellKey, EpisodeRecord, EpisodeSummary

MOST_SHOWN = 1_000
"""So many conversations are kept with their findings; all are counted."""


class FaultyTalk(Immutable, frozen=True):
    """A conversation with at least one finding."""

    item: int
    """The task, or the row."""
    trial: int
    """The trial, or the repeat."""
    outcome: str
    failed: bool
    """It has a result, and it is no success."""
    findings: list[Finding]

    @property
    def has_fault(self) -> bool:
        """Whether one of the findings can be why it failed."""
        return any(one.is_fault for one in self.findings)


class PassWithout(Immutable, frozen=True):
    """pass^k of all episodes, and of those without a user fault."""

    official: dict[int, Estimate]
    without: dict[int, Estimate]
    tasks: dict[int, int]
    """How many tasks are behind each figure without faults: those with k such trials."""
    coverage: Number
    """The share of the planned episodes that are left."""


class UserAudit(Immutable, frozen=True):
    """The audit of a run's or an evaluation's simulated users."""

    talks: int
    """Conversations that were read."""
    unread: int = 0
    """Conversations that could not be: pruned, never begun, or recited by a scripted user."""
    with_fault: int
    share: Estimate
    """The share of conversations with a fault."""
    by_kind: dict[FindingKind, int]
    """In how many conversations each kind was found."""
    failures: int
    user_failures: int
    """Failures with a user fault: the user may be why."""
    passes: PassWithout | None = None
    """Of runs alone."""
    judge: str = ""
    """Who blames failures on the user, and how far that judge can be trusted."""
    faulty: list[FaultyTalk] = Field(default_factory=list[FaultyTalk])
    """Failures with faults first, then by task or row; not more than a thousand."""


class AuditTally:
    """Audits conversations one by one. What is kept of each is small."""

    def __init__(self) -> None:
        self._kinds = Counter[FindingKind]()
        self._faults: dict[int, list[float]] = {}
        self._with_fault = set[CellKey]()
        self._failed, self._others = list[FaultyTalk](), list[FaultyTalk]()
        self._unread = self._failures = self._user_failures = 0

    def add(
        self,
        talk: Talk,
        key: CellKey,
        outcome: str,
        *,
        failed: bool,
        judged: Finding | None = None,
    ) -> None:
        """Audit a conversation, and count what is found.

        What a judge says is shown beside it, and not counted as a fault: judges see failures
        alone, and pass^k without those that they name would be too good.
        """
        findings = [*findings_of(talk), *([placed(judged, talk)] if judged else [])]
        one = FaultyTalk(
            item=key[0], trial=key[1], outcome=outcome, failed=failed, findings=findings
        )
        self._kinds.update({finding.kind for finding in findings})
        self._faults.setdefault(key[0], []).append(float(one.has_fault))
        self._failures += failed
        if one.has_fault:
            self._with_fault.add(key)
            self._user_failures += failed
        if one.has_fault or judged:
            kept = self._failed if failed else self._others
            if len(kept) < MOST_SHOWN:
                kept.append(one)

    def skip(self) -> None:
        """Count a conversation that cannot be read."""
        self._unread += 1

    def has_fault(self, key: CellKey) -> bool:
        """Whether the user of a conversation made a mistake."""
        return key in self._with_fault

    def audit(self, passes: PassWithout | None = None, confidence: float = CONFIDENCE) -> UserAudit:
        """What was found so far."""
        from greenroom.analysis.intervals import average_reward

        return UserAudit(
            talks=sum(map(len, self._faults.values())),
            unread=self._unread,
            with_fault=len(self._with_fault),
            share=average_reward(self._faults, confidence) if self._faults else NOTHING,
            by_kind={kind: self._kinds[kind] for kind in KINDS if self._kinds[kind]},
            failures=self._failures,
            user_failures=self._user_failures,
            passes=passes,
            faulty=[*self._failed, *self._others][:MOST_SHOWN],
        )


_NOBODY: Mapping[CellKey, Finding] = {}


def audit_episodes(
    episodes: Iterable[EpisodeRecord],
    *,
    task_indices: Sequence[int],
    num_trials: int,
    judged: Mapping[CellKey, Finding] = _NOBODY,
    persona: str | None = None,
) -> UserAudit:
    """The audit of a run's episodes, which are read once; pass^k without those with a fault.

    Episodes that cannot be read stay: nothing is known of their users. `judged` is what a judge
    found in some of them; `persona` is that of all users.
    """
    counted, summaries = AuditTally(), list[EpisodeSummary]()
    for episode in episodes:
        summaries.append(EpisodeSummary.of(episode))
        if episode.pruned is not None or not episode.opening:
            counted.skip()
            continue
        talk = talk_of(episode, persona)
        if talk.is_recited:
            counted.skip()
            continue
        failed = episode.has_result and not is_solved(episode)
        counted.add(
            talk, episode.key, episode.outcome, failed=failed, judged=judged.get(episode.key)
        )
    left = [one for one in summaries if not counted.has_fault((one.task_index, one.trial))]
    official = _measured(summaries, task_indices, num_trials)
    without = _measured(left, task_indices, num_trials)
    return counted.audit(
        PassWithout(
            official=official.pass_hat_k,
            without=without.pass_hat_k,
            tasks=without.pass_tasks,
            coverage=without.coverage,
        )
    )


def _measured(
    episodes: Sequence[EpisodeLike], task_indices: Sequence[int], num_trials: int
) -> ConventionMetrics:
    from greenroom.analysis.metrics import convention_metrics

    found = tally(episodes, task_indices=task_indices, num_trials=num_trials)
    return convention_metrics(found, "errors_excluded")


def findings_by_turn(findings: Iterable[Finding]) -> Mapping[int, list[Finding]]:
    """Findings by the number of the user's message that they are of."""
    found: dict[int, list[Finding]] = {}
    for one in findings:
        found.setdefault(one.turn, []).append(one)
    return found
