"""Results as JUnit XML, which every CI system shows.

A run has a test case per episode, an evaluation one per result and evaluator. What did not succeed
is a failure; cells without a result and evaluators that did not work are errors; what has no score
or was not played is skipped. Each gate is a test case of a suite of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from greenroom.analysis.errors import diagnose
from greenroom.reports.evaluation_words import cell_name, value_text
from greenroom.reports.report import EvaluatedRow, EvaluationReport, RunReport
from greenroom.reports.templates import Names, template
from greenroom.reports.texts import kind_words
from greenroom.store.records import CellKey, EpisodeRecord

_LONGEST = 4_000
# XML 1.0 has no characters for these.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Verdict = Literal["failure", "error", "skipped", ""]


@dataclass(frozen=True)
class _Case:
    group: str
    name: str
    seconds: float = 0.0
    verdict: Verdict = ""
    message: str = ""
    details: str = ""


@dataclass(frozen=True)
class _Suite:
    name: str
    cases: Sequence[_Case]

    @property
    def seconds(self) -> float:
        return sum(case.seconds for case in self.cases)

    def count(self, verdict: Verdict) -> int:
        return sum(case.verdict == verdict for case in self.cases)


def render_junit(report: RunReport | EvaluationReport) -> str:
    """The document."""
    cases = _episodes(report) if isinstance(report, RunReport) else _results(report)
    job = report.run if isinstance(report, RunReport) else report.evaluation
    suites = [_Suite(report.name, list(cases))]
    if report.gates:
        gates = [
            _Case("gates", f"{gate.gate} ({gate.subject})")
            if gate.passed
            else _Case("gates", f"{gate.gate} ({gate.subject})", 0.0, "failure", gate.reason)
            for gate in report.gates
        ]
        suites.append(_Suite(f"{report.name} gates", gates))
    page = template("junit.xml.jinja", _words)
    return page.render(suites=suites, timestamp=f"{job.created_at:%Y-%m-%dT%H:%M:%S}")


def _words() -> tuple[Names, Names]:
    return {"xml": _possible}, {}


def _possible(text: str) -> str:
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    return _IMPOSSIBLE.sub("\N{REPLACEMENT CHARACTER}", cut)


def _episodes(report: RunReport) -> Iterator[_Case]:
    group = f"{report.name}.{report.run.env}"
    played = {episode.key: _episode(group, episode) for episode in report.episodes}
    planned = [
        (task, trial) for task in report.run.task_indices for trial in range(report.run.num_trials)
    ]
    for key in dict.fromkeys([*planned, *played]):
        skipped = _Case(group, _name(key), 0.0, "skipped", "not played")
        yield played.get(key, skipped)


def _episode(group: str, episode: EpisodeRecord) -> _Case:
    name, diagnosis = _name(episode.key), diagnose(episode)
    if diagnosis is None:
        return _Case(group, name, episode.seconds)
    verdict: Verdict = "failure" if episode.has_result else "error"
    details = "\n".join([kind_words(diagnosis.kind)[0], *diagnosis.differences])
    return _Case(group, name, episode.seconds, verdict, diagnosis.explanation, details)


def _name(key: CellKey) -> str:
    return f"task {key[0]}, trial {key[1]}"


def _results(report: EvaluationReport) -> Iterator[_Case]:
    aliases = [str(spec["alias"]) for spec in report.evaluation.evaluators]
    for result in report.results:
        name = cell_name(result.row, result.repeat, report.evaluation.repeats)
        # The workflow's time is counted once, however many evaluators looked at the answer.
        for place, alias in enumerate(aliases):
            seconds = 0.0 if place else result.seconds
            yield _Case(f"{report.name}.{alias}", name, seconds, *_problem(result, alias))


def _problem(result: EvaluatedRow, alias: str) -> tuple[Verdict, str, str]:
    score = result.scores.get(alias)
    if not result.has_result:
        return "error", result.error or "no answer", ""
    if score is None:
        return "skipped", "this evaluator was not asked", ""
    if score.score is None:
        return "error" if score.broken else "skipped", score.reason or "no score", ""
    if score.passed is not False:
        return "", "", ""
    values = (f"compared: {value_text(score.compared)}", f"against: {value_text(score.against)}")
    cut = [value if len(value) <= _LONGEST else f"{value[:_LONGEST]} ..." for value in values]
    details = "\n".join([*cut, f"score: {score.score:g}"])
    return "failure", score.reason or f"score {score.score:g}", details
