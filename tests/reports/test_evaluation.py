from __future__ import annotations

import io
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from greenroom.analysis import check_gates, parse_gate
from greenroom.reports import (
    EvaluationReport,
    parse_report,
    print_report,
    render_json,
    render_markdown,
    report_schema,
)
from greenroom.reports.console import print_result
from greenroom.reports.report import EvaluatedRow
from greenroom.reports.sections import Failures, Figures, Grid, Table
from greenroom.store import ScoreRecord, Usage
from tests.evaluation.figured import evaluation, measured, reported, result, shares, summary

NASTY = "[red]loud[/red] | **bold** <b>\x1b[31m\n# heading @everyone"
WRONG = ScoreRecord(score=0.0, passed=False, compared=NASTY, against={"a": NASTY}, reason=NASTY)
RIGHT = ScoreRecord(score=1.0, passed=True)
UNSCORED = ScoreRecord(score=None, reason="the row has no expected output")
BROKEN = ScoreRecord(score=None, reason="the judge is down", broken=True)


def printed(report: EvaluationReport) -> str:
    out = io.StringIO()
    print_report(report, Console(file=out, width=200, color_system=None))
    return out.getvalue()


def test_what_was_said_is_shown_and_never_obeyed() -> None:
    report = reported([result(row, a=WRONG) for row in range(7)], name=NASTY, rows=7)
    shown = printed(report)
    assert "[red]loud[/red] | **bold** <b>" in shown
    assert "\x1b" not in shown
    assert "... and 2 more results" in shown
    page = render_markdown(report)
    (line,) = [line for line in page.splitlines() if line.startswith("- row 2: ")]
    assert "\\*\\*bold\\*\\* &lt;b&gt;" in line
    assert "@everyone" not in page
    out = io.StringIO()
    row = EvaluatedRow.of(result(1, a=WRONG), {"q": NASTY})
    print_result(evaluation(), row, Console(file=out, width=200))
    assert "q: [red]loud[/red]" in out.getvalue()
    assert "    # heading @everyone" in out.getvalue()


def test_the_question_stands_beside_what_did_not_pass() -> None:
    report = reported([result(0, a=RIGHT), result(1, a=WRONG)], rows=2)
    section = report.section("failures")
    assert isinstance(section, Failures)
    (failure,) = section.failures
    assert (failure.label, failure.kind, failure.subject) == ("row 2", "a", "question 2")
    assert [one.label for one in failure.evidence] == ["compared", "against"]
    for text in (printed(report), render_markdown(report)):
        assert "question 2" in text


def test_scores_are_shown_with_how_many_there_are_and_why_some_are_missing() -> None:
    report = reported([result(0, a=RIGHT), result(1, a=UNSCORED), result(2, a=BROKEN)])
    section = report.section("figures")
    assert isinstance(section, Figures)
    assert section.figures[0].meaning == "mean score; 1 of 3 scored, 1 broken"
    assert (section.figures[0].n, section.figures[0].partial) == (1, True)
    assert "1 result without a score by a: the row has no expected output" in report.notes
    nothing = reported([result(0, error="down")], rows=1).section("figures")
    assert isinstance(nothing, Figures)
    assert nothing.figures[0].value is None


def test_errors_and_missing_calls_are_in_the_headline() -> None:
    def said(count: int, *errors: str) -> str:
        rows = [summary(row, 1.0) for row in range(count)]
        rows += [summary(9, error=error) for error in errors]
        return reported(figures=measured(rows, planned=5)).headline

    assert said(5) == "100 % pass a; 5 of 5 calls answered"
    assert said(2, "x") == "2 of 5 calls answered, 1 error, 2 not made yet"
    assert said(0) == "Nothing has been called yet."


def test_costs_that_are_not_told_are_said_to_be() -> None:
    used = {"judge": Usage(calls=2, prompt_tokens=1000, completion_tokens=1, cost=0.5)}
    told = result(0, a=RIGHT).model_copy(update={"usage": used})
    silent = result(1, a=RIGHT).model_copy(update={"usage": {"agent": Usage(calls=1)}})
    report = reported([told, silent], rows=2)
    costs = report.section("costs")
    assert isinstance(costs, Table)
    assert [row.cells for row in costs.rows] == [
        ["Judge", 2, 1000, 1, 0.5],
        ["Workflow", 1, 0, 0, "unknown"],
        ["In all", 3, 1000, 1, "unknown"],
    ]


def test_gates_are_in_every_form() -> None:
    figures = measured(shares(1, 19))
    gates = check_gates([parse_gate("a>=0.9"), parse_gate("errors<=0")], figures.named())
    report = reported(figures=figures, gates=gates)
    assert not report.holds
    assert "Gate FAILED a>=0.9: a.mean is 0.05" in printed(report)
    assert "| **FAILED** | `a>=0.9` | a.mean is 0.05" in render_markdown(report)
    assert json.loads(render_json(report))["gates"][0]["passed"] is False


def test_rows_and_repeats_are_a_grid() -> None:
    results = [result(0, a=RIGHT), result(0, repeat=1, a=WRONG), result(1, error="down")]
    grid = reported(results, rows=2, repeats=2).section("cells")
    assert isinstance(grid, Grid)
    assert [(item.key, item.label, item.outcomes) for item in grid.items] == [
        (0, "1", ["passed", "not_passed"]),
        (1, "2", ["infrastructure_error", None]),
    ]
    assert grid.items[0].score == 0.5


@pytest.mark.parametrize("results", [[], [result(0, a=RIGHT), result(1, a=WRONG)]])
def test_the_json_fits_its_schema_and_is_read_back(results: list[object]) -> None:
    report = reported([one for one in results if isinstance(one, type(result(0)))])
    text = render_json(report)
    validator: Any = Draft202012Validator(report_schema(EvaluationReport))
    validator.validate(json.loads(text))
    assert render_json(parse_report(text, EvaluationReport)) == text
