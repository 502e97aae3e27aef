"""Judges as instruments: how far a judge agrees with people and with itself, and what sways it.

A judge gives verdicts on labelled cases, several times, and again with the order of what it reads
turned round, and with the answers padded. Cases are what is resampled: the verdicts of one case
belong together.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import combinations
from statistics import NormalDist, fmean
from typing import Any, Final, Literal

from pydantic import Field

from greenroom.analysis.agreement import (
    Coefficient,
    beyond_chance,
    chance_agreement,
    krippendorffs_alpha,
)
from greenroom.analysis.figures import Estimate, Immutable
from greenroom.store import Usage

Variant = Literal["plain", "order", "length"]
"""How a case is shown: as it is, with its order turned round, or with a padded answer."""

PASS: Final = "pass"  # noqa: S105
MIN_AGREEMENT: Final = 0.8
"""Below this share of agreement with people, a judge is marked."""
FEWEST_CASES: Final = 30
"""With fewer cases, an interval is too wide to rely on."""
_NO_PROMPT: Final = ("model", "provider", "api_base", "max_tokens", "timeout", "expected")
_FEWEST_FOR_BIAS: Final = 6
_MOST_GROUPS: Final = 100
_MOST_MISSING: Final = 0.1
"""Of the verdicts: with more missing, those that are there may be the easy ones."""
_CONFIDENCE: Final = 0.95
_BIAS_CONFIDENCE: Final = 0.97
"""Of either sign of bias: with both, at most 5 % of judges are called swayed that are not."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said of a case, in one way of showing it and at one repeat."""

    case: str
    """What is resampled: a judge may say several things of one case."""
    variant: Variant
    repeat: int
    label: str
    """What people say."""
    said: str | None
    """None where the judge gave no verdict."""
    item: int = 0
    """Which of several things that it says of the case."""


class BiasFigures(Immutable, frozen=True):
    """What becomes of verdicts when something changes that should not matter."""

    cases: int
    changed: Estimate
    """The share of verdicts that differ from those on the plain cases."""
    between_repeats: float | None
    """The share that differ between repeats of the plain cases: what is chance.

    None with a single repeat: then nobody knows.
    """
    towards_pass: float | None = None
    """How much the share of `pass` grows; None where verdicts are of more kinds."""
    excess: Estimate
    """By how much more verdicts differ than between repeats; none with a single repeat."""
    drift: Estimate | None = None
    """`towards_pass` with its interval."""

    @property
    def is_biased(self) -> bool:
        """Whether it is more than chance; a few cases cannot tell."""
        if self.cases < _FEWEST_FOR_BIAS:
            return False
        drifts = self.drift is not None and (self.drift.low > 0 or self.drift.high < 0)
        return self.excess.low > 0 or drifts


class JudgeFigures(Immutable, frozen=True):
    """What a check found of a judge."""

    cases: int
    """Labels of people that verdicts are compared with."""
    verdicts: int
    """On plain cases."""
    without_verdict: int
    """Over all ways of showing them."""
    problem: str = ""
    """Why there is no verdict, most often."""
    agreement: Estimate
    """The share of verdicts that are people's."""
    kappa: Estimate
    """Cohen's kappa with people's labels; NaN where only one label occurs."""
    alpha: Estimate
    """Krippendorff's alpha, likewise."""
    people_alpha: float | None = None
    """Of people among themselves, where several labelled the cases."""
    undecided: int = 0
    """Cases that no judge was shown, as people do not agree about them."""
    unlabelled: int = 0
    """Cases that no judge was shown, as nobody has labelled them yet."""
    asked: int = 0
    """Over all ways of showing the cases; 0 in checks of earlier versions."""
    self_agreement: Estimate
    """The share of pairs of repeats that say the same; NaN with a single repeat."""
    order: BiasFigures | None = None
    """None where the order of nothing can be turned round."""
    length: BiasFigures | None = None
    confusion: dict[str, dict[str, int]] = Field(default_factory=dict[str, dict[str, int]])
    """People's labels, and what the judge said, on plain cases."""
    usage: Usage = Field(default_factory=Usage)


class JudgeCheck(Immutable, frozen=True):
    """A stored check of a judge, as reports tell of it."""

    name: str
    """Of the evaluation that it is."""
    judge: str
    """The kind of judge, and its model."""
    checked_at: datetime
    figures: JudgeFigures
    min_agreement: float
    builtin_cases: bool = False
    """The cases are Greenroom's own few."""

    @property
    def is_below(self) -> bool:
        """Whether it agrees with people less than is asked for."""
        value = self.figures.agreement.value
        return math.isnan(value) or value < self.min_agreement

    @property
    def flaws(self) -> list[str]:
        """What is wrong with the judge, in words; empty for a judge that can be used."""
        found = self.figures
        said: list[str] = []
        if not found.verdicts:
            return ["gave no verdict"]
        if found.without_verdict > _MOST_MISSING * found.asked > 0:
            said.append(f"gave no verdict {found.without_verdict:,} of {found.asked:,} times")
        if self.is_below:
            said.append(f"agrees with people less than {self.min_agreement:g}")
        for about, bias in (("order", found.order), ("length", found.length)):
            if bias is not None and bias.is_biased:
                said.append(f"is swayed by {about}")
        return said


def judge_key(kind: str, model: str, provider: str | None, prompt: str) -> str:
    """What a check is found by: a name that is the same for the same judge.

    A provider may be named on its own, or before the model.
    """
    text = "\n".join([kind, f"{provider}/{model}" if provider else model, prompt])
    return f"judge-{kind}-{sha256(text.encode()).hexdigest()[:16]}"


def evaluator_prompt(name: str, settings: Mapping[str, Any]) -> str:
    """What tells versions of an evaluator that judges apart: all of its settings but the model."""
    kept = {key: value for key, value in settings.items() if key not in _NO_PROMPT}
    text = json.dumps([name, kept], sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:12]


def measure_check(
    verdicts: Iterable[Verdict],
    *,
    people: Mapping[str, Sequence[str]] | None = None,
    undecided: Sequence[Sequence[str]] = (),
    unlabelled: int = 0,
    usage: Usage | None = None,
    problems: Iterable[str] = (),
) -> JudgeFigures:
    """The figures of a check from its verdicts; `people` are all their labels by case.

    `undecided` are their labels of cases without a majority, `problems` say why verdicts are
    missing.
    """
    reasons = Counter(problems).most_common(1)
    found = list(verdicts)
    plain = _by_case(found, "plain")
    binary = {PASS, "fail"}.issuperset(one.label for one in found)
    agreed = [(len(said), sum(one.said == one.label for one in said)) for said in plain.values()]
    kinds: dict[str, Counter[str]] = {}
    for said in plain.values():
        for one in said:
            kinds.setdefault(one.label, Counter())[str(one.said)] += 1
    agreement = _share(agreed)
    kappa, alpha = (_corrected(plain, which, agreement) for which in ("kappa", "alpha"))
    return JudgeFigures(
        cases=len({(one.case, one.item) for said in plain.values() for one in said}),
        verdicts=sum(map(len, plain.values())),
        without_verdict=sum(one.said is None for one in found),
        problem=reasons[0][0] if reasons else "",
        agreement=agreement,
        kappa=kappa,
        alpha=alpha,
        people_alpha=_people_alpha([*(people or {}).values(), *undecided]),
        undecided=len(undecided),
        unlabelled=unlabelled,
        asked=len(found),
        self_agreement=_self_agreement(plain),
        order=_bias(plain, _by_case(found, "order"), binary=binary),
        length=_bias(plain, _by_case(found, "length"), binary=binary),
        confusion={label: dict(one.most_common()) for label, one in sorted(kinds.items())},
        usage=usage or Usage(),
    )


Cases = Mapping[str, Sequence[Verdict]]


def _by_case(verdicts: Iterable[Verdict], variant: Variant) -> dict[str, list[Verdict]]:
    """The verdicts in one way of showing the cases; those that are missing are none."""
    found: dict[str, list[Verdict]] = {}
    for one in verdicts:
        if one.variant == variant and one.said is not None:
            found.setdefault(one.case, []).append(one)
    return found


def _share(counts: Sequence[tuple[int, int]]) -> Estimate:
    """A share over cases, of how many of each one's trials succeeded."""
    from greenroom.analysis.intervals import SuccessIntervals  # numpy, only where it is needed

    return SuccessIntervals(counts).pass_hat_k(1)


def _corrected(cases: Cases, which: Coefficient, agreement: Estimate) -> Estimate:
    pairs = {
        case: Counter((one.label, str(one.said)) for one in said) for case, said in cases.items()
    }

    def value(chosen: Sequence[str]) -> float:
        counts = Counter[tuple[str, str]]()
        for case in chosen:
            counts.update(pairs[case])
        return beyond_chance(counts, which)

    found = jackknife(sorted(cases), value, low=-1.0)
    if math.isnan(found.value):
        return found
    # Where all verdicts are right there is no spread to see: the interval of the plain share, which
    # keeps its word there, bounds this one too.
    by_chance = chance_agreement(sum(pairs.values(), Counter[tuple[str, str]]()), which)
    ends = [(end - by_chance) / (1 - by_chance) for end in (agreement.low, agreement.high)]
    known = [end for end in (found.low, *ends) if not math.isnan(end)]
    most = [end for end in (found.high, *ends) if not math.isnan(end)]
    if not known:
        return found
    return Estimate(
        value=found.value,
        low=max(-1.0, min(found.value, *known)),
        high=min(1.0, max(found.value, *most)),
        method="estimated",
    )


def _people_alpha(people: Sequence[Sequence[str]]) -> float | None:
    rows = [
        (str(rater), case, label)
        for case, labels in enumerate(people)
        for rater, label in enumerate(labels)
        if len(labels) > 1
    ]
    value = krippendorffs_alpha(rows)
    return None if math.isnan(value) else value


def _self_agreement(cases: Cases) -> Estimate:
    counts: list[tuple[int, int]] = []
    for said in cases.values():
        pairs = list(_pairs(said))
        counts.append((len(pairs), len(pairs) - sum(pairs)))
    return _share(counts)


def _pairs(said: Sequence[Verdict]) -> Iterator[bool]:
    """Whether two repeats differ, for each pair of them."""
    for one, other in combinations(said, 2):
        if one.item == other.item:
            yield one.said != other.said


def _bias(plain: Cases, shown: Cases, *, binary: bool) -> BiasFigures | None:
    both = sorted(case for case in shown if case in plain)
    if not both:
        return None

    def pairs(case: str) -> list[bool]:
        return [
            one.said != other.said
            for one in plain[case]
            for other in shown[case]
            if one.item == other.item
        ]

    def changed(case: str) -> float:
        return fmean(pairs(case))

    def by_chance(case: str) -> float:
        return fmean(_pairs(plain[case]))

    def drift(case: str) -> float:
        return fmean(one.said == PASS for one in shown[case]) - fmean(
            one.said == PASS for one in plain[case]
        )

    def mean_of(
        figure: Callable[[str], float], cases: Sequence[str] = both
    ) -> Callable[[Sequence[str]], float]:
        known = {case: figure(case) for case in cases}
        return lambda chosen: fmean(known[case] for case in chosen)

    sure = _BIAS_CONFIDENCE
    moved = jackknife(both, mean_of(drift), low=-1.0, confidence=sure) if binary else None
    repeated = [case for case in both if any(True for _ in _pairs(plain[case]))]

    def excess(case: str) -> float:
        return changed(case) - by_chance(case)

    return BiasFigures(
        cases=len(both),
        changed=_share([(len(pairs(case)), sum(pairs(case))) for case in both]),
        between_repeats=fmean(map(by_chance, repeated)) if repeated else None,
        towards_pass=None if moved is None else moved.value,
        excess=jackknife(repeated, mean_of(excess, repeated), low=-1.0, confidence=sure),
        drift=moved,
    )


def jackknife(
    cases: Sequence[str],
    value: Callable[[Sequence[str]], float],
    *,
    low: float = 0.0,
    confidence: float = _CONFIDENCE,
) -> Estimate:
    """A figure over cases with its interval, by leaving out a group of cases at a time.

    What is the same in every case has no spread to tell an interval by: then there is none but
    itself.
    """
    whole = value(cases) if cases else math.nan
    # Groups of one size: an uneven split makes the interval wider than it is.
    groups = math.ceil(len(cases) / math.ceil(len(cases) / _MOST_GROUPS)) if cases else 0
    if math.isnan(whole) or groups < 2:
        return Estimate(value=whole, low=math.nan, high=math.nan, method="none")
    parts = [value([one for n, one in enumerate(cases) if n % groups != g]) for g in range(groups)]
    if any(map(math.isnan, parts)):
        return Estimate(value=whole, low=math.nan, high=math.nan, method="none")
    middle = fmean(parts)
    spread = math.sqrt((groups - 1) / groups * sum((one - middle) ** 2 for one in parts))
    reach = _quantile(groups - 1, confidence) * spread
    ends = max(low, whole - reach), min(1.0, whole + reach)
    return Estimate(value=whole, low=ends[0], high=ends[1], method="estimated")


def _quantile(freedom: int, confidence: float) -> float:
    """Student's t, by Cornish and Fisher's expansion of the normal quantile."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2


__all__ = [
    "FEWEST_CASES",
    "MIN_AGREEMENT",
    "PASS",
    "BiasFigures",
    "JudgeCheck",
    "JudgeFigures",
    "Variant",
    "Verdict",
    "evaluator_prompt",
    "judge_key",
    "measure_check",
]
