"""Stored episodes graded again: by other tasks, another basis or a new judge."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.agents import find_strategy
from greenroom.benchmark import RunContext, episode_record, play_episode
from greenroom.benchmark.config import RunConfig
from greenroom.benchmark.regrading import Refused, regrade, stored_trajectory
from greenroom.benchmark.regradings import (
    RegradingConfig,
    grade_again,
    regrading_domain,
    run_regrading,
    start_regrading,
    summarise_regrading,
)
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.packs import Pack
from greenroom.domains.tau2.counterparts import counterpart, likeness
from greenroom.errors import InputError
from greenroom.model_server import running_server
from greenroom.models import FakeModel, Ledger, ModelUnavailable
from greenroom.options import checked
from greenroom.store import (
    NO_RESULT,
    EpisodeRecord,
    GradeRecord,
    RegradingRecord,
    RunRecord,
    Store,
    open_store,
)
from tests.benchmark.test_tau2_conformance import DATA
from tests.cli.running import Greenroom
from tests.conftest import OFFICIAL_DATA
from tests.store.samples import sample_run

AIRLINE = OFFICIAL_DATA / "trajectories/gpt-4o-airline.json"
RETAIL = OFFICIAL_DATA / "trajectories/gpt-4.1-mini-retail.json"


@pytest.fixture(scope="module")
def airline() -> Domain:
    return load_domain("airline", DATA)


@pytest.fixture(scope="module")
def telecom() -> Domain:
    return load_domain("telecom", DATA)


def played(domain: Domain, task_index: int, strategy: str = "oracle") -> EpisodeRecord:
    context = RunContext(domain, find_strategy(strategy), RunConfig(task_split="base"))
    episode = anyio.run(play_episode, context, task_index)
    return episode_record(domain, episode, split="base")


@pytest.mark.slow
@pytest.mark.tau2_data
def test_an_episode_keeps_all_that_grading_needs(telecom: Domain) -> None:
    for index in range(0, 114, 23):
        record = played(telecom, index)
        again = EpisodeRecord.model_validate_json(record.model_dump_json())
        found = regrade(telecom, "base", again)
        assert found.value == record.reward
        assert found.reward is not None
        assert record.details is not None
        assert [one.met for one in found.reward.assertions] == [
            one.met for one in record.details.assertions
        ]
        assert [call.action for call in stored_trajectory(again).calls()] == [
            call.action for call in found.trajectory.calls()
        ]


@pytest.mark.tau2_data
def test_another_basis(telecom: Domain) -> None:
    records = [played(telecom, index) for index in range(0, 114, 12)]
    values = [regrade(telecom, "base", record).value for record in records]
    assert values == [1.0] * len(records)
    # Worlds are not kept in step while tau2 works out the ground truth: many databases differ.
    values = [regrade(telecom, "base", record, ["database"]).value for record in records]
    assert set(values) == {0.0, 1.0}
    both = [regrade(telecom, "base", record, ["actions", "assertions"]) for record in records]
    assert [one.value for one in both] == [1.0] * len(records)


@pytest.mark.slow
@pytest.mark.tau2_data
def test_an_episode_that_did_not_come_to_its_end_stays_0(airline: Domain) -> None:
    record = played(airline, 0).model_copy(update={"outcome": "too_many_errors", "reward": 0.0})
    found = regrade(airline, "base", record)
    assert (found.value, found.reward) == (0.0, None)


@pytest.mark.tau2_data
def test_what_cannot_be_replayed_is_refused(airline: Domain) -> None:
    record = played(airline, 7)
    assert [step for step in record.steps if step.action.writes]

    def refusal(**changes: Any) -> str:
        with pytest.raises(Refused) as refused:
            regrade(airline, "base", record.model_copy(update=changes))
        return str(refused.value)

    assert refusal(outcome=NO_RESULT) == "it has no result: infrastructure error"
    gone = record.task.model_copy(update={"id": "nowhere"})
    assert "no task 'nowhere'" in refusal(task=gone)
    by_number = record.task.model_copy(update={"id": None, "instruction": "Feed my dog."})
    assert "about something else" in refusal(task=by_number, task_index=3)
    assert "Tau Bench's task 50 has no counterpart" in refusal(task=by_number, task_index=50)
    renamed = [
        step.model_copy(update={"action": step.action.model_copy(update={"name": "x"})})
        if step.action.writes
        else step
        for step in record.steps
    ]
    assert "changed something; the tool is gone" in refusal(steps=renamed)
    failed = [
        step.model_copy(update={"observation": "Error: no"}) if step.action.writes else step
        for step in record.steps
    ]
    assert "failed then and succeeds now: Error: no" in refusal(steps=failed)


@pytest.mark.tau2_data
def test_tau_benchs_tasks_and_their_counterparts() -> None:
    for name, count in (("airline", 50), ("retail", 115)):
        before = load_domain(name, OFFICIAL_DATA).tasks("test")
        after = {task.id: task for task in load_domain(name, DATA).tasks()}
        assert len(before) == count
        found = {index: counterpart(name, index) for index in range(count)}
        assert sorted(filter(None, found.values())) == sorted(map(str, after))
        for index, task_id in found.items():
            if task_id is not None:
                text = after[task_id].instruction
                own = likeness(before[index].instruction, text)
                others = [likeness(task.instruction, text) for task in before]
                assert own > 0.3
                assert own > max(sorted(others)[:-6])  # some tasks are variants of each other
    known = {49: "0", 47: "1", 2: "18", 1: "19", 0: "20", 3: "21", 11: "25", 48: "36"}
    assert {index: counterpart("airline", index) for index in known} == known
    assert counterpart("telecom", 3) is None


@pytest.mark.tau2_data
@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "env", "figures"),
    [
        (AIRLINE, "airline", {"graded": 200, "refused": 0, "up": 7, "down": 16, "unjudged": 0}),
        (RETAIL, "retail", {"graded": 108, "refused": 7, "up": 4, "down": 2, "unjudged": 55}),
    ],
)
def test_the_recorded_episodes_under_present_tasks(
    greenroom: Greenroom, file: Path, env: str, figures: dict[str, int]
) -> None:
    once, twice = (
        greenroom("regrade", file, "--env", env, "--data", DATA, "--json") for _ in range(2)
    )
    assert once.status == twice.status == 0
    first, second = once.json, twice.json
    assert {name: first["summary"][name] for name in figures} == figures
    assert (first["flips"], first["refused"]) == (second["flips"], second["refused"])
    assert len(first["flips"]) == figures["up"] + figures["down"]
    assert all(flip["reasons"] for flip in first["flips"])
    assert all(refused["refused"] for refused in first["refused"])
    assert first["pack"]["edition"] == "tau2"
    rewards = first["summary"]
    unjudged = sum(
        1 for one in first["flips"] if one["reward"] == 1 and "not judged now" in str(one)
    )
    assert (rewards["reward_if_rejected"] < rewards["reward"]) == bool(unjudged)
    shown = greenroom("regrade", file, "--env", env, "--data", DATA).out
    worst = f"{rewards['reward_if_rejected']:.3f} if all that is not judged were rejected"
    assert (worst in shown) == bool(unjudged)


@pytest.fixture
def store(any_database: str) -> Generator[Store]:
    opened = open_store()
    yield opened
    opened.close()


def stored(store: Store, episodes: Sequence[EpisodeRecord], **changes: Any) -> RunRecord:
    keys = {"task_indices": [one.task_index for one in episodes], "num_trials": 1}
    run = store.runs.create(sample_run("graded").model_copy(update={**keys, **changes}))
    store.runs.add(run.id, episodes)
    return run


def regraded(
    store: Store, run: RunRecord, config: RegradingConfig
) -> tuple[RegradingRecord, list[GradeRecord]]:
    domain = regrading_domain(run, config)
    regrading = start_regrading(store, run, config, domain)
    anyio.run(partial(run_regrading, store, regrading, config, domain))
    return store.regradings.find(regrading.id), list(store.regradings.results(regrading.id))


@pytest.mark.slow
@pytest.mark.tau2_data
def test_both_grades_are_kept(store: Store, telecom: Domain) -> None:
    broken = played(telecom, 2).model_copy(update={"outcome": NO_RESULT, "reward": None})
    episodes = [played(telecom, 0), played(telecom, 1), broken]
    run = stored(store, episodes, env="telecom", task_split="base", config={"data": str(DATA)})
    regrading, grades = regraded(store, run, RegradingConfig(basis=["database", "assertions"]))
    assert regrading.status == "complete"
    assert regrading.pack["edition"] == "tau2"
    assert (regrading.run_name, regrading.basis) == ("graded", ["database", "assertions"])
    assert [one.refused for one in grades if one.refused] == [
        "it has no result: infrastructure error"
    ]
    for grade in grades[:2]:
        assert grade.before == 1.0
        assert grade.details is not None
        if grade.flip is not None:
            assert any("database" in reason for reason in grade.reasons)
    summary = summarise_regrading(grades)
    assert (summary.graded, summary.refused) == (2, 1)
    assert [one.reward for one in store.runs.results(run.id)] == [1.0, 1.0, None]
    assert [one.name for one in store.regradings.all(parent=run.id)] == [regrading.name]
    store.runs.delete(run)
    assert store.regradings.all() == []


@pytest.mark.tau2_data
def test_the_verdicts_of_the_runs_own_judge_are_kept_without_a_new_one(store: Store) -> None:
    retail = load_domain("retail", DATA)
    index = next(n for n, task in enumerate(retail.tasks("base")) if task.judged)
    first = played(retail, index)
    assert first.details is not None
    rejected = [
        one.model_copy(update={"met": False, "reason": "It was not said."})
        for one in first.details.judged
    ]
    details = first.details.model_copy(update={"judged": rejected})
    judged = first.model_copy(update={"details": details, "reward": 0.0, "outcome": "failure"})
    run = stored(store, [judged], env="retail", task_split="base", config={"data": str(DATA)})
    regrading, (grade,) = regraded(store, run, RegradingConfig())
    assert (grade.reward, grade.flip, grade.kept_verdicts) == (0.0, None, len(rejected))
    assert grade.details is not None
    assert grade.details.judged == rejected
    # A sentence that was not there then is open, and not taken for met or rejected.
    other = [one.model_copy(update={"sentence": "Something else."}) for one in rejected]
    details = first.details.model_copy(update={"judged": other})
    before = judged.model_copy(update={"details": details, "trial": 1})
    again = anyio.run(partial(grade_again, retail, regrading, before, None, Ledger()))
    assert again.details is not None
    assert (again.kept_verdicts, again.details.unjudged) == (0, len(rejected))
    # A verdict is about one conversation: another episode does not get it for the same sentence.
    met = [one.model_copy(update={"met": True}) for one in rejected]
    details = first.details.model_copy(update={"judged": met})
    before = judged.model_copy(update={"details": details, "trial": 2})
    another = anyio.run(partial(grade_again, retail, regrading, before, None, Ledger()))
    assert another.details is not None
    assert [one.met for one in another.details.judged] == [True] * len(met)


@pytest.mark.tau2_data
def test_a_judge_that_fails_leaves_sentences_open_and_the_flip_says_so(store: Store) -> None:
    retail = load_domain("retail", DATA)
    index = next(n for n, task in enumerate(retail.tasks("base")) if task.judged)
    first = played(retail, index)
    assert first.details is not None
    rejected = [one.model_copy(update={"met": False}) for one in first.details.judged]
    details = first.details.model_copy(update={"judged": rejected})
    before = first.model_copy(update={"details": details, "reward": 0.0, "outcome": "failure"})
    run = stored(store, [before], env="retail", task_split="base", config={"data": str(DATA)})
    regrading, _ = regraded(store, run, RegradingConfig())
    broken = FakeModel([ModelUnavailable("No answer.")] * 3)
    grade = anyio.run(partial(grade_again, retail, regrading, before, broken, Ledger()))
    assert grade.details is not None
    assert grade.details.unjudged == len(rejected)
    assert all("not judged: ModelUnavailable" in one.reason for one in grade.details.judged)
    assert "judged: not met then, not judged now" in grade.reasons
    summary = summarise_regrading([grade])
    assert (summary.unjudged, summary.kept_verdicts) == (len(rejected), 0)
    assert summary.judge_problems


@pytest.mark.slow
@pytest.mark.tau2_data
def test_a_regrading_that_was_interrupted_goes_on(store: Store, telecom: Domain) -> None:
    episodes = [played(telecom, index) for index in range(3)]
    run = stored(store, episodes, env="telecom", task_split="base", config={"data": str(DATA)})
    config = RegradingConfig()
    domain = regrading_domain(run, config)
    begun = start_regrading(store, run, config, domain)
    begin = partial(grade_again, domain, begun, episodes[0], None, Ledger())
    store.regradings.add(begun.id, [anyio.run(begin)])
    again, grades = regraded(store, run, config)
    assert again.id == begun.id
    assert sorted(one.key for one in grades) == [(0, 0), (1, 0), (2, 0)]
    # A complete one is left alone.
    assert start_regrading(store, run, config, domain).id != begun.id


@pytest.mark.tau2_data
def test_the_command_on_a_run(greenroom: Greenroom, any_database: str, tmp_path: Path) -> None:
    run = ("run", "--env", "mock", "--data", DATA, "--name", "small")
    assert greenroom(*run).status == 0
    listed = greenroom("regrade", "small", "--list")
    assert "has not been graded again" in listed.out
    shown = greenroom("regrade", "small", "--basis", "actions")
    assert shown.status == 0
    assert "10 of 10 episodes graded again, 0 refused" in shown.out
    assert "small-regraded-1" in greenroom("regrade", "small", "--list").out
    (kept,) = greenroom("regrade", "small", "--list", "--json").json
    assert kept["basis"] == ["actions"]
    wrong = greenroom("regrade", "small", "--basis", "looks")
    assert wrong.status == 2
    assert "--basis should be" in wrong.err


@pytest.mark.slow
@pytest.mark.tau2_data
def test_a_run_of_other_tasks_is_refused_as_a_whole(
    greenroom: Greenroom, any_database: str
) -> None:
    assert greenroom("run", "--env", "retail", "--task-ids", "0,1", "--name", "own").status == 0
    refused = greenroom("regrade", "own", "--data", DATA, "--json")
    assert refused.status == 1
    answer = refused.json
    assert answer["summary"]["refused"] == 2
    assert all(one["refused"].startswith("the data has no task") for one in answer["refused"])


@pytest.mark.tau2_data
def test_an_interrupted_regrading_of_other_data_is_not_taken_up(
    store: Store, telecom: Domain
) -> None:
    run = stored(
        store,
        [played(telecom, index) for index in range(2)],
        env="telecom",
        task_split="base",
        config={"data": str(DATA)},
    )
    begun = start_regrading(store, run, RegradingConfig(), telecom)
    assert start_regrading(store, run, RegradingConfig(), telecom).id == begun.id
    assert begun.task_set is not None
    tasks, pack = telecom.tasks("base"), telecom.pack
    corrected = Pack(
        pack.info,
        "telecom",
        load_tables=pack.load_tables,
        load_tasks=lambda _: (replace(tasks[0], instruction="Something else."), *tasks[1:]),
        splits=("base",),
        policy=pack.policy,
    )
    other = start_regrading(store, run, RegradingConfig(), Domain(telecom.edition, corrected))
    assert other.id != begun.id
    assert other.task_set is not None
    assert other.task_set.hash != begun.task_set.hash
    # Nor is one without the episodes that the run has now.
    store.runs.add(run.id, [played(telecom, 2)])
    assert start_regrading(store, run, RegradingConfig(), telecom).id not in (begun.id, other.id)


def test_parts_are_named_with_or_without_spaces_and_once() -> None:
    config = RegradingConfig.model_validate({"basis": "database, outputs,database"})
    assert config.basis == ["database", "outputs"]
    with pytest.raises(InputError, match="--basis should be one part or more"):
        checked(RegradingConfig, {"basis": " , "})


@pytest.mark.slow
@pytest.mark.tau2_data
def test_flips_name_the_arguments_that_changed(greenroom: Greenroom) -> None:
    shown = greenroom("regrade", AIRLINE, "--env", "airline", "--data", DATA)
    (booked,) = [line for line in shown.out.splitlines() if line.startswith("task 25 ")]
    assert "the task asks for another book_reservation: passengers" in booked
    assert booked.count("first_name") == 2
    # A part that stood well then and stands well now explains nothing.
    assert ": met then, does not count now" not in shown.out
    kept = greenroom("regrade", AIRLINE, "--env", "airline", "--list")
    assert (kept.status, "second grades are kept for runs alone" in kept.err) == (2, True)


@pytest.mark.slow
@pytest.mark.tau2_data
def test_refusals_name_their_tasks(greenroom: Greenroom) -> None:
    shown = greenroom("regrade", RETAIL, "--env", "retail", "--data", DATA)
    assert "refused: task 36, trial 0: call 11 (modify_pending_order_items)" in shown.out
    other = greenroom("regrade", AIRLINE, "--env", "retail", "--data", DATA)
    assert other.status == 1
    assert "refused: task 0, trials 0, 1, 2, 3:" in other.out
    assert "--env the domain of a file" in other.out


@pytest.mark.slow
@pytest.mark.tau2_data
def test_a_judge_without_budget_stops_the_regrading(
    greenroom: Greenroom, any_database: str
) -> None:
    run = ("run", "--env", "retail", "--data", DATA, "--task-ids", "2,3,4,5", "--name", "said")
    assert greenroom(*run).status == 0
    with running_server(load_domain("retail", DATA)) as server:
        judge = ("--judge-model", "judge", "--judge-api-base", server.api_base)
        again = ("regrade", "said", "--basis", "database,judged", *judge)
        stopped = greenroom(*again, "--max-tokens-total", 1)
        assert stopped.status == 3
        assert f"greenroom regrade said --basis database,judged {' '.join(judge)}" in stopped.err
        (kept,) = greenroom("regrade", "said", "--list", "--json").json
        assert kept["regrading"]["status"] == "interrupted"
        done = greenroom(*again)
        assert done.status == 0, done.err
        assert "The judge was asked" in done.out
    broken = greenroom("regrade", "said", *judge, "--model-retries", 0)
    assert "not judged, and left out: ModelUnavailable" in broken.out
    assert "give --judge-model" not in broken.out
    assert len(greenroom("regrade", "said", "--list", "--json").json) == 2
