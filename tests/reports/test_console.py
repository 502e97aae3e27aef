"""The report on a console: whole at any width, plain where colours are not wanted."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from greenroom.reports import run_words, texts
from greenroom.reports.build_run import run_report
from greenroom.reports.console import print_report
from greenroom.reports.report import RunReport as Report
from tests.reports import sample

REPORTS = {
    "full": sample.full_report,
    "empty": sample.empty_report,
    "only errors": sample.errors_only_report,
    "single task": sample.single_task_report,
    "one trial": sample.one_trial_report,
    "unpriced": sample.unpriced_report,
}


def printed(
    report: Report,
    width: int = 80,
    *,
    max_items: int | None = None,
    everything: bool = False,
    **options: Any,
) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, **options)
    print_report(report, console, max_items=max_items, everything=everything)
    return file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("everything", [False, True])
def test_no_line_is_longer_than_the_console(name: str, width: int, everything: bool) -> None:
    text = printed(REPORTS[name](), width, everything=everything)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    assert "nan" not in text.split()


def test_it_says_what_all_formats_say() -> None:
    report = sample.full_report()
    text = printed(report, 120)
    assert run_words.headline(report) in text
    for estimate in report.metrics.main.pass_hat_k.values():
        shown = texts.span(estimate.low, estimate.high, "percent")
        assert shown
        assert shown in text
    assert "Agent: synthetic" in text
    assert "Environment: retail, split test" in text
    assert "Pack: greenroom-retail 1; licence: MIT" in text
    for words in ("Infrastructure error", "Change not made", "solved four times in a row"):
        assert words in text


@pytest.mark.parametrize("width", [80, 120])
def test_the_leaderboard_has_its_columns(width: int) -> None:
    lines = [line.split() for line in printed(sample.full_report(), width).splitlines()]
    assert ["Strategy", "Pass^1", "Pass^2", "Pass^3", "Pass^4"] in lines
    assert ["TC", "(gpt-4o)", "0.604", "0.491", "0.430", "0.383"] in lines


def test_published_rows_are_only_named_where_there_are_any() -> None:
    assert "What differs from this run:" in printed(sample.full_report())
    alone = printed(sample.one_trial_report())
    assert "published" not in alone
    assert "this run" not in alone


def test_the_task_table_is_limited_and_says_so() -> None:
    assert "... and 91 more tasks: --all shows them." in printed(sample.full_report(), max_items=5)
    assert "the least solved first" in printed(sample.full_report(), max_items=5)
    assert "more task" not in printed(sample.full_report(), max_items=96)


def test_cost_is_unknown_or_not_there() -> None:
    priced, unpriced, free = (
        [line.split() for line in printed(report).splitlines() if line.startswith(" Cost")]
        for report in (
            sample.full_report(),
            sample.unpriced_report(),
            sample.single_task_report(),
        )
    )
    assert priced[0][1].startswith("$")
    assert unpriced == [["Cost", "unknown"]]
    assert free == []


def test_data_is_never_read_as_markup_or_control() -> None:
    report = sample.one_trial_report()
    run = report.run.model_copy(update={"name": "[red]x[/red] [/] \x1b[31m\x07\nnext"})
    renamed = run_report(report.model_copy(update={"run": run}))
    text = printed(renamed, force_terminal=True, color_system=None)
    assert "[red]x[/red] [/] [31m next" in text
    assert "\x1b[31m" not in text


def test_it_can_be_printed_where_only_ascii_is_known() -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    print_report(sample.full_report(), Console(file=file, width=80))
    file.flush()
    text = raw.getvalue().decode("ascii")
    assert "Solved" in text
    assert max(map(len, text.splitlines())) <= 80
