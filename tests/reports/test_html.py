"""The page: true to its data, whatever a run lacks, and readable for everyone."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from greenroom.analysis.figures import RunMetrics, TaskFigures
from greenroom.reports.html import SCRIPTS, STYLES, render_html
from greenroom.reports.report import RunReport as Report
from tests.reports import sample
from tests.reports.html_page import Element, asset, full_page, parsed, task_data

EDGE_CASES = {
    "empty": (sample.empty_report, "Nothing has been played yet."),
    "only errors": (sample.errors_only_report, "No episode has a result: all 6 ended in an"),
    "single task": (sample.single_task_report, "Solved the only task in 2 of 3 trials."),
    "one trial": (sample.one_trial_report, "of the tasks in one try."),
    "unpriced": (sample.unpriced_report, "twice in a row."),
}


def test_every_trajectory_is_in_the_page() -> None:
    _, page = full_page()
    data = task_data(page)
    for episode in sample.full_report().episodes:
        block = data[episode.task_index]
        (row,) = [one for one in block["episodes"] if one["trial"] == episode.trial]
        assert row["outcome"] == episode.outcome
        assert row["opening"] == episode.opening
        assert row["error"] == episode.error
        assert block["tasks"][row["task"]] == episode.task.model_dump()
        assert [
            (step["name"], step["kwargs"], block["texts"][step["answer"]], step["invalid"])
            for step in row["steps"]
        ] == [(s.action.name, s.action.kwargs, s.observation, s.invalid) for s in episode.steps]


def test_the_page_says_what_was_measured() -> None:
    _, page = full_page()
    for words in (
        "synthetic-retail",
        "retail, split test",
        "greenroom-retail 1; licence: MIT",
        "12 November 2026, 14:30 UTC",
        "0.1.0",
        "of the tasks in one try, and",
        "95 % interval",
        "8 episodes ended in an infrastructure error",
    ):
        assert words in page.words.replace("\u00a0", " "), words


def test_the_pass_chart_shows_both_conventions() -> None:
    _, page = full_page()
    metrics = sample.full_report().metrics
    drawn = {
        (one.attributes["data-convention"], int(one.attributes["data-k"] or "")): one.attributes
        for one in page.having("data-convention")
    }
    for convention, figures in metrics.conventions.items():
        for k, estimate in figures.pass_hat_k.items():
            attributes = drawn.pop((convention, k))
            assert float(attributes["data-value"] or "") == estimate.value
            assert float(attributes["data-low"] or "") == estimate.low
            assert float(attributes["data-high"] or "") == estimate.high
    assert not drawn


def test_one_convention_is_drawn_where_both_say_the_same() -> None:
    page = parsed(render_html(sample.one_trial_report()))
    assert {one.attributes["data-convention"] for one in page.having("data-convention")} == {
        "errors_excluded"
    }


def test_the_turn_chart_shows_the_turn_curve() -> None:
    _, page = full_page()
    curve = sample.full_report().metrics.turn_curve
    assert curve
    at = [float(one.attributes["data-solved-at"] or "") for one in page.having("data-solved-at")]
    by = [float(one.attributes["data-solved-by"] or "") for one in page.having("data-solved-by")]
    assert at == [point.solved_at for point in curve]
    assert by == [point.solved_by for point in curve]


def test_the_errors_are_counted_by_kind_and_listed() -> None:
    _, page = full_page()
    errors = sample.full_report().errors
    bars = {
        one.attributes["data-kind"]: int(one.attributes["data-count"] or "")
        for one in page.having("data-kind")
        if "data-count" in one.attributes
    }
    assert bars == {kind: count for kind, count in errors.by_kind.items() if count}
    listed = [one for one in page.having("data-trial") if "data-kind" in one.attributes]
    assert len(listed) == len(errors.diagnoses)


def test_the_grid_has_a_marked_cell_for_every_trial() -> None:
    _, page = full_page()
    columns = [one for one in page.having("data-rate") if one.name == "div"]
    assert len(columns) == 96
    cells = [
        one for one in page.named("a") if (one.attributes.get("class") or "").startswith("cell")
    ]
    targets = {one.attributes["href"] for one in cells}
    assert targets == {
        f"#task-{one.task_index}-trial-{one.trial}" for one in sample.full_report().episodes
    }
    symbols = {(one.attributes["class"] or "").split()[1]: one.text for one in cells}
    assert len(set(symbols.values())) == len(symbols) == 6
    assert all(one.attributes["aria-label"] for one in cells)


def test_published_rows_stand_beside_the_run_and_say_what_differs() -> None:
    _, page = full_page()
    strategies = [one.attributes["data-strategy"] for one in page.having("data-strategy")]
    assert strategies == ["synthetic", "TC (claude-3-5-sonnet-20241022)", "TC (gpt-4o)"]
    assert "All published rows: user model: gpt-4o there, none here." in page.words
    assert "TC (gpt-4o): agent model: gpt-4o there." in page.words
    alone = parsed(render_html(sample.one_trial_report()))
    assert "published" not in alone.words


@pytest.mark.parametrize("name", EDGE_CASES)
def test_runs_that_lack_something_are_shown(name: str) -> None:
    build, headline = EDGE_CASES[name]
    page = parsed(render_html(build()))
    words = page.words.replace("\u00a0", " ")
    assert headline in words
    assert not re.search(r"\b(nan|inf)\b", words)
    assert not any(value == "nan" for e in page.elements for value in e.attributes.values())


def test_cost_is_shown_where_something_was_bought() -> None:
    def costs(report: Report) -> list[Element]:
        return [
            one
            for one in parsed(render_html(report)).elements
            if one.attributes.get("data-figure") == "cost"
        ]

    assert costs(sample.full_report())
    assert costs(sample.unpriced_report())
    assert not costs(sample.single_task_report())
    assert "unknown" in render_html(sample.unpriced_report())


def test_a_grid_of_500_tasks_and_8_trials_is_drawn() -> None:
    report = sample.one_trial_report()
    task = report.metrics.tasks[0]
    tasks: list[TaskFigures] = [
        task.model_copy(
            update={"task_index": index, "outcomes": dict.fromkeys(range(8), "failure")}
        )
        for index in range(500)
    ]
    metrics: RunMetrics = report.metrics.model_copy(update={"tasks": tasks})
    page = parsed(render_html(report.model_copy(update={"metrics": metrics})))
    assert len([one for one in page.having("data-rate") if one.name == "div"]) == 500


def test_headings_tables_and_charts_are_accessible() -> None:
    _, page = full_page()
    levels = [int(one.name[1]) for one in page.elements if re.fullmatch(r"h[1-6]", one.name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(one.attributes.get("scope") in ("row", "col") for one in page.named("th"))
    ids = [one.attributes["id"] for one in page.having("id")]
    assert len(ids) == len(set(ids))
    for one in page.named("svg"):
        names = (one.attributes.get("aria-labelledby") or "").split()
        assert one.attributes.get("aria-hidden") == "true" or (names and set(names) <= set(ids))
    labelled = {one.attributes["aria-labelledby"] for one in page.having("aria-labelledby")}
    assert {name for names in labelled for name in (names or "").split()} <= set(ids)


def test_colours_have_enough_contrast() -> None:
    css = asset("base.css")
    blocks = [_colours(block) for block in css.split("color-scheme:")[1:]]
    light, dark, dark_by_system = [block for block in blocks if block]
    assert dark == dark_by_system
    pairs = [("ink", "paper"), ("ink", "card"), ("quiet", "paper"), ("quiet", "card")]
    pairs += [("accent", "paper"), ("accent", "card"), ("accent", "soft"), ("ink", "soft")]
    pairs += [("quiet", "user"), ("quiet", "agent"), ("ink", "user"), ("ink", "agent")]
    pairs += [("second", "card"), ("mark-ink", "mark"), ("ink", "code")]
    outcomes = ("success", "failure", "steps", "time", "invalid", "broken")
    pairs += [(f"{name}-ink", name) for name in outcomes]
    for colours in (light, dark):
        for front, back in pairs:
            assert _contrast(colours[front], colours[back]) >= 4.5, (front, back)


def test_the_files_of_the_page_are_part_of_the_package() -> None:
    for name in ("page.html", *STYLES, *SCRIPTS):
        assert asset(name).strip()


def _colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block.split("}")[0]))


def _contrast(one: str, other: str) -> float:
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
