"""Agreement: whether people, and judges, say the same of the same episodes.

The measure is Krippendorff's alpha for nominal data: 1 where all agree, 0 where they agree as often
as by chance. It allows for any number of raters, of whom each marked what they had time for.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from greenroom.analysis.wording import count
from greenroom.store import (
    CellKey,
    FaultKind,
    JudgementSummary,
    JudgingRecord,
    MarkRecord,
    Store,
)
from greenroom.store.record import Record

RaterKind = Literal["person", "judge"]
Coefficient = Literal["kappa", "alpha"]
"""Cohen's kappa, or Krippendorff's alpha."""

FEWEST_EPISODES = 5
"""With fewer episodes that two have marked, alpha says nothing."""
MOST_TAGS = 50
_GOOD, _FAIR = 0.8, 0.667  # Krippendorff's own bounds
_FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


class Rater(NamedTuple):
    """Who marks episodes: a person, or a model that judges."""

    kind: RaterKind
    name: str


@dataclass
class Opinion:
    """What a rater says of an episode."""

    verdict: str | None = None
    """The latest, where there are several."""
    tags: set[str] = field(default_factory=set[str])


Opinions = Mapping[CellKey, Mapping[Rater, Opinion]]


class AgreementFigure(Record):
    """How far raters agree on one question."""

    about: Literal["verdict", "tag"]
    value: str | None = None
    """The one verdict or tag that this is about; None for all verdicts together."""
    with_judges: bool = False
    alpha: float | None
    """Krippendorff's alpha; None where there is not enough to work it out."""
    words: str
    """What it means."""
    episodes: int
    """Episodes of which two or more say something."""
    agreed: int
    """Those of them where all say the same."""
    raters: int


def load_opinions(store: Store, job_id: str) -> tuple[Opinions, Mapping[str, JudgingRecord]]:
    """What everybody says of the episodes of a run, and the judging that counts, by judge."""
    judgings: dict[str, JudgingRecord] = {}
    for judging in store.judgings.all(parent=job_id):  # the newest first
        judgings.setdefault(judging.judge, judging)
    judged = {judge: store.judgings.summaries(one.id) for judge, one in judgings.items()}
    return collect_opinions(store.notes.marks(job_id), judged), judgings


def collect_opinions(
    marks: Iterable[MarkRecord], judged: Mapping[str, Iterable[JudgementSummary]]
) -> Opinions:
    """What everybody says, by episode: notes, the oldest first, and judgements by judge."""
    found: dict[CellKey, dict[Rater, Opinion]] = {}
    for mark in marks:
        raters = found.setdefault((mark.item, mark.trial), {})
        opinion = raters.setdefault(Rater("person", mark.author), Opinion())
        opinion.verdict = mark.verdict or opinion.verdict
        if mark.tag:
            opinion.tags.add(mark.tag)
    for judge, judgements in judged.items():
        for one in judgements:
            if one.has_result and one.author is not None:
                opinion = Opinion(one.author, {one.kind} if one.kind else set())
                found.setdefault((one.task_index, one.trial), {})[Rater("judge", judge)] = opinion
    return dict(sorted(found.items()))


def count_raters(opinions: Opinions) -> list[tuple[Rater, int]]:
    """Who marked how many episodes, the busiest first."""
    counts = Counter(rater for said in opinions.values() for rater in said)
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def measure_agreement(opinions: Opinions) -> list[AgreementFigure]:
    """Agreement on who is at fault, and on each tag; among people, and with judges if there are."""
    figures: list[AgreementFigure] = []
    raters = {rater for said in opinions.values() for rater in said}
    for with_judges in (False, True):
        if with_judges and not any(rater.kind == "judge" for rater in raters):
            continue
        questions = [Question("verdict", None, with_judges)]
        verdicts = Counter(
            value for said in questions[0].answers(opinions).values() for value in said.values()
        )
        if len(verdicts) > 2:  # of two verdicts, each is the opposite of the other
            questions += [Question("verdict", value, with_judges) for value in sorted(verdicts)]
        questions += [Question("tag", tag, with_judges) for tag in _tags(opinions, with_judges)]
        figures += [_figure(question, opinions) for question in questions]
    return figures


@dataclass(frozen=True)
class Question:
    """What raters are compared by."""

    about: Literal["verdict", "tag"]
    value: str | None = None
    with_judges: bool = False

    def answer(self, rater: Rater, opinion: Opinion) -> str | None:
        """A rater's answer; None if there is none."""
        if rater.kind == "judge" and not self.with_judges:
            return None
        if self.about == "tag":
            # A judge says yes or no to the kinds of faults alone.
            if rater.kind == "judge" and self.value not in _FAULT_KINDS:
                return None
            return "yes" if self.value in opinion.tags else "no"
        verdict = opinion.verdict
        if self.with_judges and verdict == "task":
            verdict = "environment"  # to a judge, the task is a part of the environment
        if verdict is None or self.value is None:
            return verdict
        return "yes" if verdict == self.value else "no"

    def answers(self, opinions: Opinions) -> dict[CellKey, dict[Rater, str]]:
        """Everybody's answers, for episodes where two or more answer."""
        found: dict[CellKey, dict[Rater, str]] = {}
        for key, said in opinions.items():
            given = {rater: self.answer(rater, opinion) for rater, opinion in said.items()}
            known = {rater: answer for rater, answer in given.items() if answer is not None}
            if len(known) > 1:
                found[key] = known
        return found

    def differing(self, opinions: Opinions) -> list[CellKey]:
        """The episodes where answers differ, in order."""
        return [key for key, said in self.answers(opinions).items() if len({*said.values()}) > 1]


def _tags(opinions: Opinions, with_judges: bool) -> Sequence[str]:
    used = Counter(
        tag
        for said in opinions.values()
        for tag in {t for rater, one in said.items() if rater.kind == "person" for t in one.tags}
        if not with_judges or tag in _FAULT_KINDS
    )
    return sorted(used, key=lambda tag: (-used[tag], tag))[:MOST_TAGS]


def _figure(question: Question, opinions: Opinions) -> AgreementFigure:
    answers = question.answers(opinions)
    alpha, words = _alpha(answers)
    return AgreementFigure(
        about=question.about,
        value=question.value,
        with_judges=question.with_judges,
        alpha=alpha,
        words=words,
        episodes=len(answers),
        agreed=sum(len({*said.values()}) == 1 for said in answers.values()),
        raters=len({rater for said in answers.values() for rater in said}),
    )


def _alpha(answers: Mapping[CellKey, Mapping[Rater, str]]) -> tuple[float | None, str]:
    if len(answers) < FEWEST_EPISODES:
        marked = count(len(answers), "episode")
        return None, (
            f"Not enough: {marked} marked by two or more; it takes {FEWEST_EPISODES} to say how "
            "far they agree."
        )
    if len({answer for said in answers.values() for answer in said.values()}) == 1:
        return None, "Not enough: everybody always says the same, which may be chance."
    rows = [
        ("\n".join(rater), key, answer)
        for key, said in answers.items()
        for rater, answer in said.items()
    ]
    alpha = krippendorffs_alpha(rows)
    return alpha, _in_words(alpha)


def krippendorffs_alpha(rows: Sequence[tuple[str, Any, str]]) -> float:
    """Krippendorff's alpha of (rater, item, answer) for any raters; NaN where it says nothing."""
    if len({answer for _, _, answer in rows}) < 2 or len({rater for rater, _, _ in rows}) < 2:
        return math.nan
    # It is imported here because it takes a second.
    task: Callable[..., Any] = importlib.import_module("nltk.metrics.agreement").AnnotationTask
    return float(task(rows).alpha())


def beyond_chance(counts: Mapping[tuple[str, str], int], which: Coefficient) -> float:
    """Cohen's kappa or Krippendorff's alpha of two raters, from how often they say what.

    >>> counts = {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}
    >>> round(beyond_chance(counts, "kappa"), 3), round(beyond_chance(counts, "alpha"), 3)
    (0.4, 0.4)
    """
    if len({said for pair in counts for said in pair}) < 2:
        return math.nan
    agreed = sum(often for (one, other), often in counts.items() if one == other)
    by_chance = chance_agreement(counts, which)
    return (agreed / sum(counts.values()) - by_chance) / (1 - by_chance)


def chance_agreement(counts: Mapping[tuple[str, str], int], which: Coefficient) -> float:
    """How often both would agree by chance, from how often each says what."""
    one, other = Counter[str](), Counter[str]()
    for (first, second), often in counts.items():
        one[first] += often
        other[second] += often
    n = one.total()
    if which == "kappa":
        return sum(one[said] * other[said] for said in one) / n**2
    both = one + other
    return sum(often * (often - 1) for often in both.values()) / (2 * n * (2 * n - 1))


def _in_words(alpha: float) -> str:
    if alpha >= _GOOD:
        return "They agree well: conclusions can rest on it."
    if alpha >= _FAIR:
        return "They agree fairly: enough for tentative conclusions."
    if alpha > 0:
        return "They agree too little to rest conclusions on: settle the cases where they differ."
    return "They agree no more than by chance: settle what the words mean."
