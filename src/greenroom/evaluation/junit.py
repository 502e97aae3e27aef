"""Results as JUnit XML, which every CI system shows: a test case per result and evaluator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from xml.sax.saxutils import escape, quoteattr

from greenroom.evaluation.gates import GateResult
from greenroom.evaluation.report_texts import cell_name
from greenroom.store import EvaluationRecord, ResultRecord, ScoreRecord
from greenroom.util.raw_json import raw_text

_LONGEST = 4_000
# What XML 1.0 has no characters for.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Verdict = Literal["failure", "error", "skipped"]


def render_junit(
    evaluation: EvaluationRecord,
    results: Iterable[ResultRecord],
    gates: Sequence[GateResult] = (),
) -> str:
    """The document.

    A score that did not pass is a failure; a call without an answer and an evaluator that did not
    work are errors; what has no score is skipped. Each gate is a test case of a suite of its own.
    """
    suite = _Suite(evaluation.name, evaluation.created_at.strftime("%Y-%m-%dT%H:%M:%S"))
    for result in results:
        for case in _cases(evaluation, result):
            suite.add(case)
    suites = [suite]
    if gates:
        suites.append(_Suite(f"{evaluation.name} gates", suite.timestamp))
        for gate in gates:
            problem = None if gate.passed else _Problem("failure", gate.reason, str(gate))
            suites[-1].add(_Case("gates", f"{gate.gate.text} ({gate.subject})", 0.0, problem))
    pieces = ['<?xml version="1.0" encoding="UTF-8"?>\n', "<testsuites>\n"]
    for one in suites:
        pieces.extend(one.render())
    return "".join([*pieces, "</testsuites>\n"])


@dataclass(frozen=True)
class _Problem:
    verdict: Verdict
    message: str
    details: str = ""

    def render(self) -> str:
        kind = "" if self.verdict == "skipped" else f" type={_attribute(self.verdict)}"
        head = f"<{self.verdict} message={_attribute(self.message)}{kind}"
        if not self.details:
            return f"{head}/>"
        return f"{head}>{escape(_possible(self.details))}</{self.verdict}>"


@dataclass(frozen=True)
class _Case:
    group: str
    name: str
    seconds: float
    problem: _Problem | None

    def render(self) -> str:
        head = (
            f"<testcase classname={_attribute(self.group)} name={_attribute(self.name)}"
            f' time="{self.seconds:.3f}"'
        )
        return f"{head}>{self.problem.render()}</testcase>\n" if self.problem else f"{head}/>\n"


@dataclass
class _Suite:
    name: str
    timestamp: str
    seconds: float = 0.0
    cases: list[str] = field(default_factory=list[str])
    counts: Counter[str] = field(default_factory=Counter[str])

    def add(self, case: _Case) -> None:
        self.cases.append(case.render())
        self.seconds += case.seconds
        if case.problem is not None:
            self.counts[case.problem.verdict] += 1

    def render(self) -> Iterator[str]:
        yield (
            f'<testsuite name={_attribute(self.name)} tests="{len(self.cases)}"'
            f' failures="{self.counts["failure"]}" errors="{self.counts["error"]}"'
            f' skipped="{self.counts["skipped"]}" time="{self.seconds:.3f}"'
            f' timestamp="{self.timestamp}">\n'
        )
        yield from self.cases
        yield "</testsuite>\n"


def _cases(evaluation: EvaluationRecord, result: ResultRecord) -> Iterator[_Case]:
    name = cell_name(result.row, result.repeat, evaluation.repeats)
    # The workflow's time is counted once, however many looked at what it said.
    seconds = result.seconds
    for spec in evaluation.evaluators:
        alias = str(spec["alias"])
        problem = _problem(result, result.scores.get(alias))
        yield _Case(f"{evaluation.name}.{alias}", name, seconds, problem)
        seconds = 0.0


def _problem(result: ResultRecord, score: ScoreRecord | None) -> _Problem | None:
    if not result.has_result:
        return _Problem("error", result.error or "no answer")
    if score is None:
        return _Problem("skipped", "this evaluator was not asked")
    if score.score is None:
        reason = score.reason or "no score"
        return _Problem("error" if score.broken else "skipped", reason)
    if score.passed is not False:
        return None
    details = (
        f"compared: {_shown(score.compared)}\nagainst: {_shown(score.against)}\n"
        f"score: {score.score:g}"
    )
    return _Problem("failure", score.reason or f"score {score.score:g}", details)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else raw_text(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _attribute(text: str) -> str:
    return quoteattr(_possible(text[:_LONGEST]))


def _possible(text: str) -> str:
    return _IMPOSSIBLE.sub("\N{REPLACEMENT CHARACTER}", text)
