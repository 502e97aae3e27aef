"""What a judge says is kept apart in every form of a report."""

from __future__ import annotations

import io
import json
from collections.abc import Generator

import pytest
from rich.console import Console

from greenroom.analysis.judge_checks import Verdict, judge_key, measure_check
from greenroom.reports.build import build_report
from greenroom.reports.build_comparison import compare_stored
from greenroom.reports.console import print_report
from greenroom.reports.forms import render
from greenroom.reports.report import RunReport
from greenroom.store import (
    EpisodeRecord,
    JudgedRecord,
    RewardRecord,
    RunRecord,
    Store,
    open_store,
)
from tests.reports import sample
from tests.store.samples import sample_evaluation

NASTY = "<b>not judged</b>: the [red]judge[/red] left"


def graded(episode: EpisodeRecord, *verdicts: bool | None, database: bool = True) -> EpisodeRecord:
    sentences = [
        JudgedRecord(sentence=f"s{number}", met=met, reason="" if met is not None else NASTY)
        for number, met in enumerate(verdicts)
    ]
    details = RewardRecord(database=database, basis=["database", "judged"], judged=sentences)
    solved = database and False not in verdicts
    changes = {
        "details": details,
        "reward": float(solved),
        "outcome": "success" if solved else "failure",
    }
    return episode.model_copy(update=changes)


@pytest.fixture
def store(any_database: str) -> Generator[Store]:
    opened = open_store()
    yield opened
    opened.close()


def report(store: Store, *episodes: EpisodeRecord) -> RunReport:
    config = {"judge_model": "a-judge", "judge_model_provider": "openai"}
    run = sample.run_record(len(episodes), 1, name="judged", config=config)
    store.runs.create(run)
    store.runs.add(run.id, episodes)
    return build_report(store, run)


@pytest.fixture
def judged(store: Store) -> RunReport:
    first, second, third, fourth = sample.played(4, 1)
    return report(
        store,
        graded(first, True, True),
        graded(second, True, False),
        graded(third, True, None),
        graded(fourth, None, database=False),
    )


def test_figures(judged: RunReport) -> None:
    figures = judged.judged
    assert figures is not None
    assert (figures.accepted, figures.rejected, figures.unjudged) == (4, 1, 2)
    assert (figures.episodes, figures.unjudged_episodes) == (4, 2)
    assert (figures.reward_without_judge, figures.reward) == (0.75, 0.5)
    assert figures.reward_if_rejected == 0.25
    assert figures.judge == "openai/a-judge"
    assert figures.reasons == {NASTY: 2}


def test_every_form_says_so(judged: RunReport) -> None:
    out = io.StringIO()
    print_report(judged, Console(file=out, width=200))
    texts = [out.getvalue(), str(render(judged, "markdown")), str(render(judged, "html"))]
    for text in texts:
        assert "Reward without the judge" in text
        assert "0.750" in text
        assert "Reward if all that is not judged were rejected" in text
        assert "4 accepted, 1 rejected, 2 not judged" in text
        assert "2 sentences that the reward depends on were not judged, in 2 episodes" in text
    assert NASTY not in texts[2]
    plain = json.loads(render(judged, "json"))["judged"]
    assert (plain["reward_without_judge"], plain["reward"], plain["unjudged"]) == (0.75, 0.5, 2)


def test_a_comparison_says_what_was_judged_in_each_run(store: Store) -> None:
    first, second = sample.played(2, 1)
    both = {
        "judged": [graded(first, True), graded(second, False)],
        "open": [graded(first, True), graded(second, None)],
    }
    runs = [
        sample.run_record(2, 1, id=name, name=name, config={"judge_model": judge})
        for name, judge in (("judged", "a-judge"), ("open", None))
    ]
    for run in runs:
        store.runs.create(run)
        store.runs.add(run.id, both[run.name])
    said, means = compare_stored(store, runs).notes[-2:]
    assert said.startswith("Rewards that need a judge: judged has 2 sentences judged by a-judge;")
    assert "; open has 1 sentence judged and 1 sentence left out, not judged." in said
    assert said.endswith(" judged: judge not checked.")
    assert means == "Mean reward without the judge: judged 1.000, open 1.000."


def test_a_comparison_without_such_sentences_says_nothing_of_judges(store: Store) -> None:
    runs = [sample.run_record(2, 1, id=name, name=name) for name in ("one", "other")]
    for run in runs:
        store.runs.create(run)
        store.runs.add(run.id, sample.played(2, 1))
    assert not [note for note in compare_stored(store, runs).notes if "judge" in note]


def test_a_run_without_such_sentences_has_no_such_section(store: Store) -> None:
    found = report(store, *sample.played(2, 1))
    assert found.judged is None
    assert "judge" not in [section.id for section in found.sections]


def checked(store: Store, agreement: float, *, prompt: str = "p") -> None:
    """A check of the judge of `report`, with this agreement."""
    said = [
        Verdict(str(n), "plain", 0, "pass", "pass" if n < 40 * agreement else "fail")
        for n in range(40)
    ]
    version, _ = store.test_sets.save("statements-cases", [{"case": {}, "variant": "plain"}])
    settings = {"judge": "statements", "model": "a-judge", "provider": "openai"}
    evaluation = sample_evaluation(
        version,
        name=f"check-{agreement}-{prompt}",
        status="complete",
        workflow=judge_key("statements", "a-judge", "openai", prompt),
        evaluators=[{"name": "x", "alias": "agreement", "settings": settings}],
        judge_check=measure_check(said).model_dump(mode="json"),
    )
    store.evaluations.create(evaluation)


def judged_run(store: Store) -> RunReport:
    first, second = sample.played(2, 1)
    config = {"judge_model": "a-judge", "judge_model_provider": "openai"}
    run = sample.run_record(2, 1, name="checked", config=config, judge_prompt="p")
    store.runs.create(run)
    store.runs.add(run.id, [graded(first, True), graded(second, False)])
    return build_report(store, run)


def rendered(found: RunReport) -> list[str]:
    """The report in every form that people read."""
    out = io.StringIO()
    print_report(found, Console(file=out, width=200))
    return [out.getvalue(), *(str(render(found, form)) for form in ("markdown", "html", "json"))]


def test_a_judge_that_nobody_checked_is_called_so(store: Store) -> None:
    checked(store, 0.9, prompt="another prompt")
    text = str(render(judged_run(store), "markdown"))
    assert "judge not checked" in text
    assert "greenroom judges check statements --judge-model openai/a-judge" in text


def test_a_check_stands_beside_the_judged_figure_in_every_form(store: Store) -> None:
    checked(store, 0.9)
    found = judged_run(store)
    for text in rendered(found):
        assert "agreement with people 0.90 on 40 cases" in " ".join(text.split())
    assert "marked" not in " ".join(found.notes)
    check = json.loads(str(render(found, "json")))["judged"]["check"]
    assert check["judge"] == "statements, openai/a-judge"


def test_a_judge_below_its_agreement_is_marked_in_every_form(store: Store) -> None:
    checked(store, 0.6)
    found = judged_run(store)
    assert any("marked: agrees with people less than 0.8" in note for note in found.notes)
    for text in rendered(found):
        assert "agrees with people less than 0.8" in " ".join(text.split())
    compared = compare_stored(store, [store.runs.find("checked"), _second(store)]).notes
    assert any("checked: agreement with people 0.60 on 40 cases" in note for note in compared)


def _second(store: Store) -> RunRecord:
    run = sample.run_record(2, 1, id="second", name="second")
    store.runs.create(run)
    store.runs.add(run.id, sample.played(2, 1))
    return run
