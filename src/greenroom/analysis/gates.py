"""Gates: what a result has to reach, written as `pass^1>=0.8` or `exact_match>=0.9`.

A gate is SUBJECT OPERATOR NUMBER. Operators are >=, >, <= and <; a number may be a share in per
cent. The subject is the name of a figure. `ALIAS` alone is `ALIAS.mean`, and `mean`, `passed` or
`unscored` alone is that figure of every evaluator.

Chance puts a figure a little up or down. A gate fails if the whole interval of its figure lies on
the wrong side. If only the figure itself does, the gate passes, but it is marked inconclusive;
strictly, it fails. Where there is no figure, nothing shows that the gate holds: it fails.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import ge, gt, le, lt

from greenroom.analysis.figures import Estimate, Immutable, Number
from greenroom.errors import InputError, UnknownName

_GATE = re.compile(
    r"\s*(?P<subject>[\w.^-]+)\s*(?P<operator>>=|<=|>|<)\s*(?P<number>[-+.\deE]+)\s*(?P<percent>%?)\s*"
)
_OPERATORS = {">=": ge, ">": gt, "<=": le, "<": lt}

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


class GateResult(Immutable, frozen=True):
    """A gate, the figure that it was compared with, and whether it holds."""

    gate: str
    """As it was written."""
    subject: str
    """Which figure; for a gate on every evaluator, of which one."""
    value: Number
    """NaN where there is none."""
    low: Number
    high: Number
    passed: bool
    inconclusive: bool = False
    """It passed only because chance may account for the figure."""
    reason: str
    """In words, with the figures."""

    @property
    def verdict(self) -> str:
        """The verdict in a word."""
        if not self.passed:
            return "FAILED"
        return "INCONCLUSIVE" if self.inconclusive else "passed"

    def __str__(self) -> str:
        return f"{self.verdict}  {self.gate}: {self.reason}"


def parse_gate(text: str) -> Gate:
    """A gate from what a person wrote; whether its subject exists is not checked here."""
    found = _GATE.fullmatch(text)
    try:
        limit = float(found["number"]) if found is not None else math.nan
    except ValueError:
        found, limit = None, math.nan
    if found is None or not math.isfinite(limit):
        raise InputError(f"'{text}' is no gate: {HOW}.")
    scale = 100 if found["percent"] else 1
    return Gate(found["subject"], found["operator"], limit / scale, text.strip())


def parse_gates(texts: Iterable[str], names: Collection[str]) -> list[Gate]:
    """Gates whose subjects are among the names of figures."""
    gates = [parse_gate(text) for text in texts]
    for gate in gates:
        _subjects(gate.subject, names)
    return gates


def check_gates(
    gates: Iterable[Gate], figures: Mapping[str, Estimate], *, strict: bool = False
) -> list[GateResult]:
    """Whether each gate holds, in order; one on every evaluator is checked for each of them."""
    return [
        _checked(gate, subject, figures[subject], strict=strict)
        for gate in gates
        for subject in _subjects(gate.subject, figures)
    ]


def _subjects(subject: str, names: Collection[str]) -> list[str]:
    """Which figures are meant. An evaluator comes before a figure of the same name."""
    if f"{subject}.mean" in names:
        return [f"{subject}.mean"]
    if subject in names:
        return [subject]
    found = [name for name in names if name.endswith(f".{subject}")]
    if not found:
        raise UnknownName("subject of a gate", subject, [n.removesuffix(".mean") for n in names])
    return found


def _checked(gate: Gate, subject: str, figure: Estimate, *, strict: bool) -> GateResult:
    best = figure.high if gate.wants_more else figure.low
    passed, inconclusive = gate.admits(figure.value), False
    if math.isnan(figure.value):
        why = "results do not tell what they cost" if subject == "cost" else "nothing was measured"
        reason = f"{subject} is not known: {why}"
    else:
        reason = f"{subject} is {_number(figure.value)}"
    if not math.isnan(best):
        reason += f" ({_number(figure.low)} to {_number(figure.high)})"
        if not (strict or passed):
            passed = inconclusive = gate.admits(best)
            may = "which chance may account for"
            reason += f", {may if passed else 'and chance does not account for it'}"
    return GateResult(
        gate=gate.text,
        subject=subject,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        passed=passed,
        inconclusive=inconclusive,
        reason=reason,
    )


def _number(value: float) -> str:
    if math.isinf(value):
        return "any"
    return f"{value:.3f}".rstrip("0").rstrip(".") if value != round(value) else f"{value:.0f}"
