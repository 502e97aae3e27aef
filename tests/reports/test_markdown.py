"""The report as Markdown: it says the same, and data in it means nothing but itself."""

from __future__ import annotations

import re

import pytest

from greenroom.reports import run_words
from greenroom.reports.build_run import run_report
from greenroom.reports.markdown import escape, render_markdown
from greenroom.reports.report import RunReport as Report
from tests.reports import sample

COMMENT_LIMIT = 65_536
"""What a comment on a pull request may have."""


def tables(text: str) -> list[list[str]]:
    return [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]


def cells(line: str) -> list[str]:
    return re.split(r"(?<!\\)\|", line)[1:-1]


def renamed(report: Report, name: str) -> Report:
    run = report.run.model_copy(update={"name": name})
    return run_report(report.model_copy(update={"run": run}))


def test_it_says_what_all_formats_say() -> None:
    report = sample.full_report()
    text = render_markdown(report)
    assert text.startswith("# synthetic-retail\n\n**Solved ")
    assert f"**{run_words.headline(report)}**" in text
    assert run_words.interval_note(report) in text
    assert "| Strategy | Pass^1 | Pass^2 | Pass^3 | Pass^4 |" in text
    assert "- all rows of Tau Bench leaderboard: user model: gpt-4o there, none here" in text
    assert "errors counted as failures" in text
    assert "The 10 least solved of" in text
    assert len(text) < COMMENT_LIMIT


@pytest.mark.parametrize(
    "report",
    [
        sample.full_report(),
        sample.empty_report(),
        sample.errors_only_report(),
        sample.single_task_report(),
        sample.one_trial_report(),
        sample.unpriced_report(),
    ],
    ids=["full", "empty", "only errors", "single task", "one trial", "unpriced"],
)
def test_every_table_is_whole_and_every_fold_is_closed(report: Report) -> None:
    text = render_markdown(report)
    assert tables(text)
    for table in tables(text):
        assert len(table) > 2
        assert len({len(cells(line)) for line in table}) == 1, table
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>")
    assert not re.search(r"\b(nan|inf)\b", text)


def test_cost_is_unknown_or_not_there() -> None:
    assert "| Cost | unknown |" in render_markdown(sample.unpriced_report())
    assert "Cost" not in render_markdown(sample.single_task_report())
    untold = "| Cost | unknown |  |  | the agent does not tell what it costs |"
    assert untold in render_markdown(sample.untold_report())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a|b", r"a\|b"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("</details>", "&lt;/details&gt;"),
        ("*bold* _it_ `code`", r"\*bold\* \_it\_ \`code\`"),
        ("[link](x) ![image](x)", r"\[link\](x) \!\[image\](x)"),
        ("# heading\n\n- item", r"\# heading - item"),
        ("1. first", r"1\. first"),
        ("0.758", "0.758"),
        ("- item", r"\- item"),
        ("see http://example.org", r"see http\://example.org"),
        ("ask @someone or a@example.org", "ask @\u200bsomeone or a@example.org"),
        ("back\\|slash", r"back\\\|slash"),
        ("bell\x07 and \x1b[31mred", r"bell and \[31mred"),
        ("$x$", r"\$x\$"),
    ],
)
def test_data_is_escaped(text: str, written: str) -> None:
    assert escape(text) == written


def test_a_hostile_name_stays_a_name() -> None:
    text = render_markdown(renamed(sample.one_trial_report(), "a|b\n# c </details><b>"))
    assert text.startswith("# a\\|b \\# c &lt;/details&gt;&lt;b&gt;\n")


def test_long_runs_are_cut_and_say_so() -> None:
    report = sample.one_trial_report()
    many = [
        report.metrics.tasks[0].model_copy(update={"task_index": index}) for index in range(500)
    ]
    metrics = report.metrics.model_copy(update={"tasks": many})
    failures = [sample.full_report().errors.diagnoses[0]] * 400
    errors = report.errors.model_copy(update={"diagnoses": failures, "failures": 400})
    changed = report.model_copy(update={"metrics": metrics, "errors": errors})
    text = render_markdown(run_report(changed))
    assert "... and 380 more tasks" in text
    assert "340 more are not listed here." in text
    assert len(text) < COMMENT_LIMIT
