"""The sections of a run: what each figure stands on, and what every form can render."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from xml.etree import ElementTree

import pytest

from greenroom.analysis.slices import slice_run
from greenroom.errors import InputError, UnknownName
from greenroom.reports import RunReport, render_junit, render_markdown
from greenroom.reports.build_run import run_report
from greenroom.reports.forms import FORMS, form_of, render
from greenroom.reports.sections import Chart, Figures, Grid, Report, Table
from greenroom.reports.texts import show, span
from tests.reports import sample

REQUIRED = {
    "figures", "outcomes", "cells", "failures", "costs", "latency", "tools", "cost-quality",
    "turns", "leaderboard", "provenance", "configuration", "policy", "reliability",
}  # fmt: skip


def table(report: Report, section_id: str) -> Table:
    section = report.section(section_id)
    assert isinstance(section, Table)
    return section


def timed(report: RunReport) -> RunReport:
    """The report as if each turn took 0.1 to 0.4 seconds, and each model call 0.05."""
    episodes = [
        one.model_copy(
            update={
                "turn_seconds": [0.1 * (one.trial + 1)],
                "model_seconds": {"agent": [0.05, 0.05]},
            }
        )
        for one in report.episodes
    ]
    return sample.build_report(episodes, report.run)


def test_a_run_has_all_its_sections() -> None:
    found = [section.id for section in sample.full_report().sections]
    assert set(found) == REQUIRED
    assert len(found) == len(set(found))


def test_each_task_tells_its_reward_and_when_it_was_solved() -> None:
    report = sample.full_report()
    grid = report.section("cells")
    assert isinstance(grid, Grid)
    labels = [column.label for column in grid.columns]
    assert any(item.score == 0 for item in grid.items)
    assert any(item.score and item.score < 1 for item in grid.items)
    for item in grid.items:
        cells = dict(zip(labels, item.cells, strict=True))
        episodes = [one for one in report.episodes if one.task_index == item.key]
        # Only solved episodes count, and every episode of the sample has a result or is left out.
        solved = [one for one in episodes if one.outcome == "success"]
        rewards = [one.reward for one in episodes if one.reward is not None]
        assert cells["Reward"] == pytest.approx(sum(rewards) / len(rewards))
        for label, numbers in (
            ("Steps to success", [one.step_count for one in solved]),
            ("Turn of success", [one.turns for one in solved]),
        ):
            assert cells[label] == (sum(numbers) / len(numbers) if numbers else None)


def test_a_figure_from_a_part_of_the_tasks_is_marked_and_never_in_the_headline() -> None:
    episodes = list(sample.played(6, 4))
    # Two of six tasks have only three trials with a result.
    broken = [
        sample.ended(one, "infrastructure_error") if one.task_index < 2 and one.trial == 0 else one
        for one in episodes
    ]
    report = sample.build_report(broken, sample.run_record(6, 4))
    assert "three times in a row" in report.headline
    assert "four times" not in report.headline
    section = report.section("figures")
    assert isinstance(section, Figures)
    by_key = {figure.key: figure for figure in section.figures}
    assert [(by_key[f"pass^{k}"].n, by_key[f"pass^{k}"].partial) for k in (1, 3, 4)] == [
        (6, False),
        (6, False),
        (4, True),
    ]
    assert "only 4 of 6 tasks" in by_key["pass^4"].meaning
    assert "| 4 \\! |" in render_markdown(report)
    lost = [
        sample.ended(one, "infrastructure_error") if one.task_index == 0 else one
        for one in episodes
    ]
    part = sample.build_report(lost, sample.run_record(6, 4))
    assert part.headline.endswith("of 20 episodes with a result; 1 task of 6 without any.")


def test_latency_has_percentiles_of_turns_and_model_calls() -> None:
    report = timed(sample.full_report(12, 4))
    rows = {row.cells[0]: row.cells for row in table(report, "latency").rows}
    assert rows["Turn"][1:4] == [48, 0.2, pytest.approx(0.4)]
    assert rows["Model call: agent"][1] == 96
    assert report.metrics.named()["latency_p95"].value == pytest.approx(0.4)


def test_tools_are_counted_with_their_errors() -> None:
    report = sample.full_report(12, 4)
    steps = [step for one in report.episodes for step in one.steps]
    called = [step for step in steps if step.action.name == "get_order_details"]
    rows = {row.cells[0]: row.cells for row in table(report, "tools").rows}
    assert rows["get_order_details"][1] == len(called)
    assert "respond" not in rows
    broken = steps[0].model_copy(update={"observation": "Error: no such order"})
    first = report.episodes[0].model_copy(update={"steps": [broken]})
    changed = run_report(report.model_copy(update={"episodes": [first]}))
    (row,) = table(changed, "tools").rows
    assert row.cells == [broken.action.name, 1, 1, 1, 0, 1.0]


def test_costs_are_kept_by_purse_with_what_was_wasted() -> None:
    report = sample.full_report(4, 2)
    wasted = {"agent": sample.PRICED["agent"]}
    changed = report.model_copy(update={"attempts": 1, "attempts_usage": wasted})
    rows = table(run_report(changed), "costs").rows
    assert [row.cells[0] for row in rows] == [
        "Agent", "Simulated user", "Wasted on 1 attempt", "In all",
    ]  # fmt: skip
    assert rows[-1].cells[4] == pytest.approx(8 * (0.0315 + 0.0042) + 0.0315)
    unpriced = table(sample.unpriced_report(), "costs")
    assert [row.cells[4] for row in unpriced.rows] == ["unknown"]


def test_cells_and_charts_hold_plain_numbers() -> None:
    report = sample.full_report(12, 4)
    grid = report.section("cells")
    assert isinstance(grid, Grid)
    assert [item.key for item in grid.items] == list(range(12))
    assert {len(item.outcomes) for item in grid.items} == {4}
    assert {len(item.cells) for item in grid.items} == {len(grid.columns)}
    curve = report.section("turns")
    assert isinstance(curve, Chart)
    assert [one.name for one in curve.series] == ["solved by", "solved at"]


def test_runs_are_junit_too() -> None:
    report = sample.full_report(12, 4)
    (suite,) = ElementTree.fromstring(render_junit(report).encode())
    assert suite.attrib["tests"] == "48"
    outcomes = [one.outcome for one in report.episodes]
    errors = outcomes.count("infrastructure_error")
    assert int(suite.attrib["errors"]) == errors
    assert int(suite.attrib["failures"]) == 48 - errors - outcomes.count("success")
    missing = ElementTree.fromstring(render_junit(sample.single_task_report()).encode())[0]
    assert missing.attrib["skipped"] == "1"


def test_tables_are_exported_flat() -> None:
    report = sample.one_trial_report()
    rows = list(csv.DictReader(io.StringIO(str(render(report, "csv")))))
    assert [row["task_index"] for row in rows] == [str(n) for n in range(6)]
    assert float(rows[0]["usage.agent.cost"]) == 0.0315
    assert json.loads(rows[0]["steps"])[0]["turn"] == 1
    lines = str(render(report, "jsonl")).splitlines()
    assert [json.loads(line)["task_index"] for line in lines] == list(range(6))
    arrow: Any = pytest.importorskip("pyarrow.parquet")
    content = render(report, "parquet")
    assert isinstance(content, bytes)
    read = arrow.read_table(io.BytesIO(content)).to_pylist()
    assert [row["reward"] for row in read] == [one.reward for one in report.episodes]


def test_a_file_says_its_form_by_its_ending() -> None:
    assert form_of(".HTML") == "html"
    with pytest.raises(InputError, match=r"'.pdf' is no form of a report: .json, .md"):
        form_of(".pdf")
    assert set(FORMS) >= {"json", "markdown", "html", "junit", "csv", "parquet", "jsonl"}


@pytest.mark.parametrize(
    ("value", "form", "digits", "text"),
    [
        (None, "decimal", None, "–"),
        (0.5, "decimal", 2, "0.50"),
        (-0.25, "signed", None, "-0.250"),
        (0.9999, "percent", None, "99.99 %"),
        (1234.0, "count", None, "1,234"),
        (0.0123, "seconds", None, "12.3 ms"),
        (75.0, "seconds", None, "1 min 15 s"),
        ([3, 4], "ratio", None, "3/4"),
        ([0, 0], "ratio", None, "–"),
        (["success", "failure"], "outcomes", None, "✓ ×"),
        ("a\nb", "text", None, "a b"),
    ],
)
def test_values_are_written_by_their_format(
    value: Any, form: Any, digits: int | None, text: str
) -> None:
    assert show(value, form, digits) == text


def test_intervals_without_an_end_say_so() -> None:
    assert span(0.5, None, "seconds") == "0.50 s or more"
    assert span(None, None, "seconds") == ""
    assert span(0.1, 0.25, "percent") == "10.0 to 25.0 %"


def test_tasks_are_sliced_by_what_they_are_about() -> None:
    episodes = sample.played(12, 4)
    by_tool = {one.group: one for one in slice_run(episodes, "tool")}
    solved = [
        one for one in episodes if any(a.name == "cancel_pending_order" for a in one.task.actions)
    ]
    cancel = by_tool["cancel_pending_order"]
    assert cancel.cells == len(solved)
    assert cancel.n == len({one.task_index for one in solved})
    assert cancel.figure.value == pytest.approx(sum(one.solved for one in solved) / len(solved))
    failed = sum(not one.solved for one in episodes)
    assert sum(one.cells for one in slice_run(episodes, "kind")) == failed
    by_tag = slice_run(episodes, "tag")
    assert {one.group for one in by_tag} == {tag for one in episodes for tag in one.task.tags}
    assert sum(one.cells for one in by_tag) == len(episodes)
    with pytest.raises(UnknownName, match="kind, tag, tool"):
        slice_run(episodes, "colour")
