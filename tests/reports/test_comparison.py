"""What a comparison says of episodes without a result, and of figures from a part of the tasks."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy import make_url

from greenroom.analysis.comparison import uneven_errors
from greenroom.analysis.figures import ErrorConvention
from greenroom.reports.build_comparison import compare_stored
from greenroom.reports.console import print_report
from greenroom.reports.markdown import render_markdown
from greenroom.reports.report import ComparisonReport
from greenroom.reports.users import user_facts, user_note
from greenroom.store import EpisodeRecord, Store
from greenroom.store.database import open_engine
from tests.analysis.counted import drawn, run
from tests.reports import sample

TASKS, TRIALS = 30, 4


def against_itself(
    breaks: Callable[[EpisodeRecord], bool], convention: ErrorConvention = "errors_excluded"
) -> ComparisonReport:
    """A clean run against the same with some episodes broken."""
    played = sample.played(TASKS, TRIALS)
    broken = [sample.ended(e, "infrastructure_error") if breaks(e) else e for e in played]
    runs = [sample.run_record(TASKS, TRIALS, id=name, name=name) for name in ("clean", "holes")]
    with TemporaryDirectory() as directory:
        store = Store(open_engine(make_url(f"sqlite:///{directory}/runs.db")))
        for one, episodes in zip(runs, (played, broken), strict=True):
            store.runs.create(one)
            store.runs.add(one.id, episodes)
        report = compare_stored(store, runs, convention=convention)
        store.close()
        return report


def every_fourth(episode: EpisodeRecord) -> bool:
    return episode.trial == episode.task_index % TRIALS


@pytest.mark.parametrize("convention", ["errors_excluded", "errors_as_failures"])
def test_coverage_and_both_verdicts_are_named(convention: ErrorConvention) -> None:
    report = against_itself(every_fourth, convention)
    how = "counted as failures" if convention == "errors_excluded" else "left out"
    assert "Coverage: clean 100 % (120 of 120 episodes), holes 75 % (90 of 120 episodes)." in (
        report.notes
    )
    (other,) = [one for one in report.notes if one.startswith("With episodes without a result")]
    assert other.startswith(f"With episodes without a result {how}: ")
    both = {report.comparisons[0].verdict, "worse" if " is worse than " in other else "no"}
    assert "worse" in both
    assert any("depends on the episodes without a result" in note for note in report.notes)


def test_verdicts_that_agree_do_not_depend_on_what_is_missing() -> None:
    report = against_itself(lambda episode: episode.task_index == episode.trial == 1)
    assert any(note.startswith("With episodes without a result") for note in report.notes)
    assert not any("depends on" in note or "spread evenly" in note for note in report.notes)
    (complete,) = against_itself(lambda _: False).notes
    assert complete.startswith("Coverage: 100 % in each run, so the verdict is the same")


def test_each_figure_stands_beside_the_number_of_its_tasks() -> None:
    report = against_itself(every_fourth)
    assert report.runs[1].pass_tasks == {1: 30, 2: 30, 3: 30}
    fewer = against_itself(lambda one: one.task_index < 20 and one.trial < 2)
    rows = next(one for one in render_markdown(fewer).split("## ") if one.startswith("Runs"))
    tasks = {
        line.split(" | ")[1]: line.split(" | ")[4]
        for line in rows.splitlines()
        if "| holes" in line
    }
    assert tasks == {"pass^1": "30", "pass^2": "30", "pass^3": "10", "pass^4": "10"}
    for width in (80, 120):
        console = Console(file=io.StringIO(), width=width)
        print_report(fewer, console)
        assert isinstance(console.file, io.StringIO)
        assert " holes   pass^4 " in console.file.getvalue()


def test_failures_that_break_are_noticed() -> None:
    report = against_itself(lambda one: one.outcome == "failure" and one.trial < 3)
    (uneven,) = [note for note in report.notes if "not spread evenly" in note]
    assert uneven.startswith("The episodes without a result of holes are not spread evenly: clean ")
    assert uneven.endswith("Leaving them out makes holes look better than it is.")


def test_errors_that_are_spread_by_chance_are_not() -> None:
    draw = random.Random(5)
    chances = [draw.betavariate(1.4, 0.9) for _ in range(60)]
    noticed = 0
    for number in range(60):
        beside = run("A", drawn(chances, 4, f"A{number}"))
        letters = [
            "".join("e" if draw.random() < 0.15 else one for one in row)
            for row in drawn(chances, 4, f"B{number}")
        ]
        noticed += uneven_errors(run("B", letters), beside) is not None
    assert noticed <= 9  # 5 % and what 60 repetitions leave to chance
    assert uneven_errors(run("B", ["eeff"] * 2), run("A", ["ssff"] * 2)) is None
    assert uneven_errors(run("B", ["eeee"] * 2), run("A", ["ssff"] * 2)) is None


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (
            {"user_strategy": "llm", "user_model": "m"},
            {"user_strategy": "verify", "user_model": "m", "user_persona": "terse"},
            "The simulated users differ (before: llm (m); now: verify (m), terse).",
        ),
        (
            {"user_options": {"script": {"source": "a.toml", "scripts": [{"lines": ["x"]}]}}},
            {"user_options": {"script": {"source": "a.toml", "scripts": [{"lines": ["y"]}]}}},
            "The simulated users differ in their options (before: scripted (a.toml); now: scr",
        ),
        ({"user_model": "m"}, {"user_model": "m", "seed": 3}, None),
        ({}, {"user_strategy": "scripted", "user_model": None}, None),
    ],
)
def test_other_users_are_noticed(
    before: dict[str, Any], now: dict[str, Any], said: str | None
) -> None:
    runs = [
        sample.run_record(1, 1, name=name).model_copy(update={"config": config})
        for name, config in (("before", before), ("now", now))
    ]
    notes = list(user_note(runs))
    assert notes == [] if said is None else notes[0].startswith(said)


@pytest.mark.parametrize(
    ("config", "facts"),
    [
        ({"user_strategy": "scripted"}, []),
        ({"user_options": {"script": {"source": "a.toml"}}}, [("User", "scripted (a.toml)")]),
        ({"user_strategy": "llm", "user_model": "m"}, [("User", "llm (m)")]),
    ],
)
def test_reports_say_who_the_users_are(
    config: dict[str, Any], facts: list[tuple[str, str]]
) -> None:
    assert list(user_facts(config)) == facts
