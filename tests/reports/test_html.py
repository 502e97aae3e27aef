"""The page: true to its data, whatever a run lacks, and readable for everyone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.figures import RunMetrics, TaskFigures, TurnPoint
from greenroom.reports.build_run import run_report
from greenroom.reports.html import SCRIPTS, STYLES, compared, render_html
from greenroom.reports.html_charts import nice_ticks
from greenroom.reports.report import RunReport
from greenroom.reports.run_words import convention_label
from greenroom.reports.sections import Evidence, Report
from greenroom.store.records import EpisodeRecord
from tests.reports import sample
from tests.reports.html_page import (
    Element,
    asset,
    block_data,
    evaluated,
    every_section,
    full_page,
    parsed,
)

EDGE_CASES = {
    "empty": (sample.empty_report, "Nothing has been played yet."),
    "only errors": (sample.errors_only_report, "No episode has a result: all 6 ended in an"),
    "single task": (sample.single_task_report, "Solved the only task in 2 of 3 trials."),
    "one trial": (sample.one_trial_report, "of the tasks in one try."),
    "unpriced": (sample.unpriced_report, "twice in a row."),
}


def steps_of(episode: EpisodeRecord) -> Iterator[tuple[Any, ...]]:
    """What was said and done, in order."""
    if episode.opening:
        yield "User", episode.opening, None
    for step in episode.steps:
        name, kwargs = step.action.name, step.action.kwargs
        if name != "respond":
            yield name, kwargs, step.observation, step.invalid
            continue
        yield "Agent", kwargs["content"], step.invalid
        if step.source == "user" and step.invalid is None:
            yield "User", step.observation, None


@pytest.mark.slow
def test_every_trajectory_is_in_the_page() -> None:
    _, page = full_page()
    data = block_data(page)
    for episode in sample.full_report().episodes:
        block = data[episode.task_index]
        (cell,) = [one for one in block["cells"] if one["trial"] == episode.trial]
        assert cell["outcome"] == episode.outcome
        assert cell["error"] == episode.error
        parts = {part["title"]: part for part in cell["parts"]}
        assert block["texts"][parts["The user's task"]["text"]] == episode.task.instruction
        assert [(one["name"], one["values"]) for one in parts["Ground truth"]["checks"]] == [
            (action.name, action.kwargs) for action in episode.task.actions
        ]
        assert [
            (one["tool"], one["kwargs"], block["texts"][one["text"]], one["invalid"])
            if "tool" in one
            else (one["who"], block["texts"][one["text"]], one["problem"])
            for one in cell["items"]
            if "turn" not in one
        ] == list(steps_of(episode))


def test_the_reasons_of_failures_stand_in_their_conversations() -> None:
    _, page = full_page()
    data = block_data(page)
    for one in sample.full_report().errors.diagnoses:
        (cell,) = [c for c in data[one.task_index]["cells"] if c["trial"] == one.trial]
        assert [reason["text"] for reason in cell["why"]] == [one.explanation]


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
        (one.attributes["data-series"], float(one.attributes["data-x"] or "")): one.attributes
        for one in page.named("rect")
        if "data-series" in one.attributes
    }
    for convention, figures in metrics.conventions.items():
        for k, estimate in figures.pass_hat_k.items():
            attributes = drawn.pop((convention_label(metrics, convention), k))
            assert float(attributes["data-y"] or "") == estimate.value
            assert float(attributes["data-low"] or "") == estimate.low
            assert float(attributes["data-high"] or "") == estimate.high
    assert not drawn


def test_one_convention_is_drawn_where_both_say_the_same() -> None:
    report = sample.build_report(sample.played(6, 2), sample.run_record(6, 2))
    bars = [one for one in parsed(render_html(report)).named("rect") if "data-x" in one.attributes]
    assert {one.attributes["data-series"] for one in bars} == {"synthetic"}


def test_the_turn_chart_shows_the_turn_curve() -> None:
    report = sample.one_trial_report()
    curve = [
        TurnPoint(turn=1, solved_at=0.25, solved_by=0.25),
        TurnPoint(turn=2, solved_at=0.5, solved_by=0.75),
    ]
    metrics = report.metrics.model_copy(update={"turn_curve": curve})
    page = parsed(render_html(run_report(report.model_copy(update={"metrics": metrics}))))
    drawn: dict[str, list[float]] = {}
    for one in page.named("circle"):
        name = one.attributes["data-series"] or ""
        drawn.setdefault(name, []).append(float(one.attributes["data-y"] or ""))
    assert drawn["solved by"] == [0.25, 0.75]
    assert drawn["solved at"] == [0.25, 0.5]


def test_charts_of_one_bar_and_leaderboards_of_one_row_are_left_out() -> None:
    alone = parsed(render_html(sample.one_trial_report()))
    shown = {one.attributes["id"] for one in alone.named("section")}
    assert not shown & {"reliability", "turns", "leaderboard"}
    _, page = full_page()
    assert {"reliability", "leaderboard"} <= {one.attributes["id"] for one in page.named("section")}


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
    columns = [one for one in page.having("data-score") if one.name == "div"]
    assert len(columns) == 96
    cells = [
        one for one in page.named("a") if (one.attributes.get("class") or "").startswith("cell")
    ]
    targets = {one.attributes["href"] for one in cells}
    assert targets == {
        f"#task-{one.task_index}-trial-{one.trial}" for one in sample.full_report().episodes
    }
    symbols = {one.attributes["data-outcome"]: one.text for one in cells}
    assert len(set(symbols.values())) == len(symbols) == 6
    assert all(one.attributes["aria-label"] for one in cells)


def test_published_rows_stand_beside_the_run_and_say_what_differs() -> None:
    _, page = full_page()
    for words in (
        "synthetic (this run)",
        "TC (claude-3-5-sonnet-20241022)",
        "all rows of Tau Bench leaderboard: user model: gpt-4o there, none here",
        "TC (gpt-4o): agent model: gpt-4o there",
    ):
        assert words in page.words, words
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
    def costs(report: RunReport) -> list[Element]:
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
    page = parsed(render_html(run_report(report.model_copy(update={"metrics": metrics}))))
    assert len([one for one in page.having("data-score") if one.name == "div"]) == 500


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


def test_every_type_of_section_is_drawn() -> None:
    page = parsed(render_html(every_section()))
    drawn = Counter((one.attributes["class"] or "").split()[0] for one in page.named("section"))
    assert drawn == {
        "facts-section": 1,
        "figures-section": 1,
        "table-section": 2,
        "chart-section": 3,
        "grid-section": 1,
        "failures-section": 1,
        "text-section": 2,
    }
    assert {one.attributes["data-verdict"] for one in page.having("data-gate")} == {
        "passed",
        "inconclusive",
        "failed",
    }
    assert "1 more said not listed" in page.words


def test_every_result_of_an_evaluation_is_in_the_page() -> None:
    report = evaluated()
    page = parsed(render_html(report))
    data = block_data(page)
    links = {one.attributes["href"] for one in page.named("a") if "data-item" in one.attributes}
    for result in report.results:
        assert f"#row-{result.row}-repeat-{result.repeat}" in links
        block = data[result.row - 1]
        (cell,) = [one for one in block["cells"] if one["trial"] == result.repeat - 1]
        assert cell["title"] == f"Row {result.row}, repeat {result.repeat}"
        assert cell["error"] == result.error
        assert bool(cell["why"]) == (cell["outcome"] != "passed")
        parts = {part["title"]: part for part in cell["parts"]}
        assert [(one["name"], one["good"]) for one in parts["Scores"]["checks"]] == [
            (alias, score.passed) for alias, score in result.scores.items()
        ]
        for one, score in zip(parts["Scores"]["checks"], result.scores.values(), strict=True):
            assert one["values"] == {"compared": score.compared, "against": score.against}
        assert parts["Also in the row"]["values"] == {"expected": "said"}
        assert [one.get("who") or one["tool"] for one in cell["items"]] == (
            ["User", "said", "c1 answered", "Assistant"]
            if result.conversation
            else ["Input", "System", "User", *_answer(result.outputs)]
        )


def _answer(outputs: Any) -> list[str]:
    if outputs is None:
        return []
    return ["Assistant"] if "assistant" in str(outputs) else ["Output"]


def test_sections_alone_make_a_page_without_conversations() -> None:
    report = sample.one_trial_report()
    sections = Report.model_validate(report.model_dump())
    page = parsed(render_html(sections))
    assert not page.named("dialog")
    assert not block_data(page)
    assert not [one for one in page.named("a") if "data-item" in one.attributes]
    assert block_data(parsed(render_html(sections, report))) == block_data(
        parsed(render_html(report))
    )


def marks(*evidence: tuple[str, str]) -> list[tuple[str, list[str]]]:
    found = compared([Evidence(label=label, text=text) for label, text in evidence])
    return [(label, [text for text, differs in pieces if differs]) for label, pieces in found]


def test_what_differs_in_evidence_is_marked() -> None:
    call = 'pay(order="#W71", sum=2.5, note="for the kayak")'
    differs = [("Differs", f"orders[#W71].{name}: expected 1, got 2") for name in ("a", "b")]
    assert marks(("Expected", call), ("Done", call.replace("2.5", "3.5")), *differs) == [
        ("Expected", ["2"]),
        ("Done", ["3"]),
        ("Differs", []),
    ]
    assert marks(("Expected", call), *differs) == [("Expected", []), ("Differs", [])]
    assert marks(("compared", "It opens at ten."), ("against", "It opens at nine today.")) == [
        ("compared", ["ten"]),
        ("against", ["nine today"]),
    ]
    assert marks(("compared", "Yes."), ("against", "It opens at nine.")) == [
        ("compared", []),
        ("against", []),
    ]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=40)), max_size=4))
def test_evidence_loses_nothing(evidence: list[tuple[str, str]]) -> None:
    found = compared([Evidence(label=label, text=text) for label, text in evidence])
    for label, pieces in found:
        said = "\n".join(text for other, text in evidence if other == label)
        assert "".join(text for text, _ in pieces) == said


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.integers(3, 9))
def test_axes_hold_all_values(values: list[float], count: int) -> None:
    ticks = nice_ticks(values, count)
    slack = 1e-6 * max(1.0, *map(abs, values))
    assert ticks[0] <= min(values) + slack
    assert ticks[-1] >= max(values) - slack
    assert 2 <= len(ticks) <= 2 * count + 2
    assert all(before < after for before, after in pairwise(ticks))


def test_colours_have_enough_contrast() -> None:
    css = asset("tokens.css")
    blocks = [_colours(block) for block in css.split("color-scheme:")[1:]]
    light, dark, dark_by_system = [block for block in blocks if block]
    assert dark == dark_by_system
    pairs = [("ink", "paper"), ("ink", "card"), ("quiet", "paper"), ("quiet", "card")]
    pairs += [("accent", "paper"), ("accent", "card"), ("accent", "soft"), ("ink", "soft")]
    pairs += [("quiet", "theirs"), ("quiet", "ours"), ("ink", "theirs"), ("ink", "ours")]
    pairs += [("mark-ink", "mark"), ("ink", "code"), ("ink", "alarm"), ("alarm-ink", "alarm")]
    pairs += [("alarm-ink", "paper"), *((f"colour-{number}", "paper") for number in range(6))]
    outcomes = ("good", "bad", "limit", "odd", "broken", "plain")
    pairs += [(f"{name}-ink", name) for name in outcomes]
    for colours in (light, dark):
        for front, back in pairs:
            assert _contrast(colours[front], colours[back]) >= 4.5, (front, back)


def test_the_files_of_the_page_are_part_of_the_package() -> None:
    for name in (*STYLES, *SCRIPTS):
        assert asset(name).strip()


def _colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block.split("}")[0]))


def _contrast(one: str, other: str) -> float:
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
