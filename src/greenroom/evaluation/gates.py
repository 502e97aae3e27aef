"""Gates: what an evaluation has to reach, written as `exact_match>=0.9`, and whether it does.

A gate is SUBJECT OPERATOR NUMBER. Operators are >=, >, <= and <; a number may be a share in per
cent. Subjects:

    ALIAS, ALIAS.mean   the mean score of an evaluator
    ALIAS.passed        the share of results that it passed
    ALIAS.unscored      how many results have no score of it, for whatever reason
    mean, passed, unscored      the same, of every evaluator
    latency_p50, _p90, _p95, _p99, latency_mean     seconds that the workflow takes
    cost                US dollars in all
    errors              how many calls gave no answer, or were not made

Chance puts a mean, a share or a percentile a little up or down. Such a gate fails only if its whole
interval lies on the wrong side; strictly, it fails if the figure does. Where there is no figure at
all, there is nothing to show that a gate holds: it fails.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt

from greenroom.analysis.figures import Estimate
from greenroom.analysis.intervals import without_interval
from greenroom.errors import InputError, UnknownName
from greenroom.evaluation.aggregates import PERCENTILES, EvaluationFigures, EvaluatorFigures

_GATE = re.compile(
    r"\s*(?P<subject>[\w.-]+)\s*(?P<operator>>=|<=|>|<)\s*(?P<number>[-+.\deE]+)\s*(?P<percent>%?)\s*"
)
_OPERATORS = {">=": ge, ">": gt, "<=": le, "<": lt}
_OF_EVALUATORS = ("mean", "passed", "unscored")
_LATENCIES = (*(f"latency_p{percent}" for percent in PERCENTILES), "latency_mean")
_OTHERS = (*_LATENCIES, "cost", "errors")

HOW = "write SUBJECT OPERATOR NUMBER, such as exact_match>=0.9 or errors<=0"


@dataclass(frozen=True)
class Gate:
    """What has to hold: a figure, compared with a number."""

    subject: str
    operator: str
    limit: float
    text: str
    """As it was written."""

    def admits(self, value: float) -> bool:
        """Whether the number is on the right side."""
        return bool(_OPERATORS[self.operator](value, self.limit))

    @property
    def wants_more(self) -> bool:
        """Whether larger is better."""
        return self.operator in (">=", ">")


@dataclass(frozen=True)
class GateResult:
    """A gate, the figure that it was held against, and whether it holds."""

    gate: Gate
    subject: str
    """Which figure; for a gate on every evaluator, of which one."""
    figure: Estimate
    """NaN where there is none."""
    passed: bool
    reason: str
    """In words, with the figures."""

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}  {self.gate.text}: {self.reason}"


def parse_gate(text: str) -> Gate:
    """A gate from what a person wrote; whether its subject exists is not looked at."""
    found = _GATE.fullmatch(text)
    try:
        limit = float(found["number"]) if found is not None else math.nan
    except ValueError:
        found, limit = None, math.nan
    if found is None or not math.isfinite(limit):
        raise InputError(f"'{text}' is no gate: {HOW}.")
    scale = 100 if found["percent"] else 1
    return Gate(found["subject"], found["operator"], limit / scale, text.strip())


def parse_gates(texts: Iterable[str], aliases: Sequence[str]) -> list[Gate]:
    """Gates whose subjects there will be, given the evaluators' aliases."""
    gates = [parse_gate(text) for text in texts]
    for gate in gates:
        if not _subjects(gate.subject, aliases):
            raise UnknownName("subject of a gate", gate.subject, _known(aliases))
    return gates


def check_gates(
    gates: Iterable[Gate], figures: EvaluationFigures, *, strict: bool = False
) -> list[GateResult]:
    """Whether each gate holds, in order; one on every evaluator is checked for each of them."""
    aliases = [one.alias for one in figures.evaluators]
    results: list[GateResult] = []
    for gate in gates:
        subjects = _subjects(gate.subject, aliases)
        if not subjects:
            raise UnknownName("subject of a gate", gate.subject, _known(aliases))
        for alias, what in subjects:
            subject = what if alias is None else f"{alias}.{what}"
            results.append(_checked(gate, subject, _figure(figures, alias, what), strict=strict))
    return results


def _subjects(subject: str, aliases: Sequence[str]) -> list[tuple[str | None, str]]:
    """Which figures are meant: of an evaluator or, for None, of the evaluation."""
    if subject in aliases:
        return [(subject, "mean")]
    alias, _, what = subject.rpartition(".")
    if alias in aliases and what in _OF_EVALUATORS:
        return [(alias, what)]
    if subject in _OF_EVALUATORS:
        return [(one, subject) for one in aliases]
    return [(None, subject)] if subject in _OTHERS else []


def _known(aliases: Sequence[str]) -> list[str]:
    return [
        *aliases,
        *(f"{alias}.{what}" for alias in aliases for what in _OF_EVALUATORS[1:]),
        *_OTHERS,
    ]


def _figure(figures: EvaluationFigures, alias: str | None, what: str) -> Estimate:
    if alias is not None:
        evaluator = figures.evaluator(alias)
        assert evaluator is not None  # its alias is one of theirs
        return _evaluator_figure(evaluator, what)
    if what == "errors":
        return without_interval(figures.errors + figures.missing)
    if what == "cost":
        return without_interval(math.nan if figures.cost is None else figures.cost)
    if what == "latency_mean":
        return without_interval(figures.latency_mean)
    return figures.latency[what.removeprefix("latency_")]


def _evaluator_figure(evaluator: EvaluatorFigures, what: str) -> Estimate:
    if what == "unscored":
        return without_interval(evaluator.unscored + evaluator.broken)
    return evaluator.passed if what == "passed" else evaluator.mean


def _checked(gate: Gate, subject: str, figure: Estimate, *, strict: bool) -> GateResult:
    if math.isnan(figure.value):
        why = "results do not tell what they cost" if subject == "cost" else "nothing was scored"
        return GateResult(gate, subject, figure, False, f"{subject} is not known: {why}")
    holds = gate.admits(figure.value)
    best = figure.high if gate.wants_more else figure.low
    words = f"{subject} is {_number(figure.value)}"
    if math.isnan(best):
        return GateResult(gate, subject, figure, holds, words)
    words += f" ({_number(figure.low)} to {_number(figure.high)})"
    if strict or holds:
        return GateResult(gate, subject, figure, holds, words)
    passed = gate.admits(best)
    words += ", which chance may account for" if passed else ", and chance does not account for it"
    return GateResult(gate, subject, figure, passed, words)


def _number(value: float) -> str:
    if math.isinf(value):
        return "any"
    return f"{value:.3f}".rstrip("0").rstrip(".") if value != round(value) else f"{value:.0f}"
