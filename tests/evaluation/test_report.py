from __future__ import annotations

import io

from rich.console import Console

from greenroom.evaluation import EvaluationReport, check_gates, parse_gate
from greenroom.evaluation.console import print_evaluation, print_result
from greenroom.evaluation.markdown import render_evaluation_markdown
from greenroom.evaluation.report_texts import headline, notes, score_rows
from greenroom.store import ScoreRecord, Usage
from tests.evaluation.figured import evaluation, measured, result, shares, summary

NASTY = "[red]loud[/red] | **bold** <b>\x1b[31m\n# heading @everyone"
WRONG = ScoreRecord(score=0.0, passed=False, compared=NASTY, against={"a": NASTY}, reason=NASTY)


def printed(report: EvaluationReport) -> str:
    out = io.StringIO()
    print_evaluation(report, Console(file=out, width=200, color_system=None))
    return out.getvalue()


def test_what_was_said_is_shown_and_never_obeyed() -> None:
    report = EvaluationReport(
        evaluation(name=NASTY), measured(shares(1, 1)), (), [result(1, a=WRONG)], 7
    )
    shown = printed(report)
    assert "[red]loud[/red] | **bold** <b>" in shown
    assert "\x1b" not in shown
    assert "... and 6 more results" in shown
    page = render_evaluation_markdown(report)
    (row,) = [line for line in page.splitlines() if line.startswith("| row 2 |")]
    assert "\\*\\*bold\\*\\* &lt;b&gt;" in row
    assert "@everyone" not in page
    out = io.StringIO()
    print_result(evaluation(), {"q": NASTY}, result(1, a=WRONG), Console(file=out, width=200))
    assert "q: [red]loud[/red]" in out.getvalue()
    assert "    # heading @everyone" in out.getvalue()


def test_scores_are_shown_with_how_many_there_are() -> None:
    scored = measured([summary(0, 1.0), summary(1, None), summary(2, None, broken=True)])
    assert score_rows(scored)[0][-1] == "1 of 3, 1 broken"
    nothing = measured([summary(0, error="down")])
    assert score_rows(nothing) == [("a", "–", "–", "–", "–", "0 of 0")]


def test_errors_and_missing_calls_are_in_the_headline() -> None:
    def said(count: int, *errors: str) -> str:
        rows = [summary(row, 1.0) for row in range(count)]
        rows += [summary(9, error=error) for error in errors]
        return headline(EvaluationReport(evaluation(), measured(rows, planned=5)))

    assert said(5) == "5 of 5 calls answered"
    assert said(2, "x") == "2 of 5 calls answered, 1 error, 2 not made yet"
    assert said(0) == "Nothing has been called yet."


def test_costs_that_are_not_told_are_said_to_be() -> None:
    wasted = [{"judge": Usage(calls=2, prompt_tokens=1000, completion_tokens=1, cost=0.5)}]
    figures = measured([summary(0, 1.0, cost=0.25), summary(1, 1.0, cost=None)], wasted=wasted)
    (cost,) = [note for note in notes(EvaluationReport(evaluation(), figures)) if "Cost" in note]
    assert cost == (
        "Cost: workflow $0.2500 and what is not told (2 calls); judges $0.5000 (2 calls, "
        "1,001 tokens)"
    )


def test_gates_are_in_every_form() -> None:
    figures = measured(shares(1, 19))
    gates = check_gates([parse_gate("a>=0.9"), parse_gate("errors<=0")], figures)
    report = EvaluationReport(evaluation(), figures, gates)
    assert not report.holds
    assert "Gate FAILED a>=0.9: a.mean is 0.05" in printed(report)
    assert "| **FAILED** | `a>=0.9` | a.mean is 0.05" in render_evaluation_markdown(report)
