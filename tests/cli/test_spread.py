"""Several users of one run, and `greenroom spread`: what varies with the user."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from greenroom.domains import load_domain
from greenroom.model_server import running_server
from greenroom.reports import SpreadReport, parse_report
from greenroom.store import RunRecord, Store, open_store
from tests.cli.running import Greenroom
from tests.store.samples import sample_episode, sample_run

USERS = ("terse", "plain", "chatty")


def planned(name: str, user: str, agent: str = "react", **config: Any) -> RunRecord:
    """A run of 12 tasks in 4 trials with a user."""
    users = {"user_strategy": "llm", "user_model": "u", "user_persona": user}
    return sample_run(
        f"{name}+u+{user}",
        task_indices=list(range(12)),
        num_trials=4,
        agent_strategy=agent,
        config={"model": "one", **users, **config},
    )


def played(
    store: Store, name: str, solved: dict[str, int], agent: str = "react", **config: Any
) -> None:
    """A run for each user, who solves so many of 4 trials of each task."""
    for user, count in solved.items():
        run = planned(name, user, agent, **config)
        store.runs.create(run)
        store.runs.add(
            run.id,
            [
                sample_episode(task, trial)
                if trial < count
                else sample_episode(task, trial, outcome="failure", reward=0.0)
                for task in run.task_indices
                for trial in range(4)
            ],
        )


@pytest.fixture
def filled(greenroom: Greenroom) -> Store:
    store = open_store()
    played(store, "one", {"terse": 1, "plain": 2, "chatty": 3})
    played(store, "two", {"terse": 3, "plain": 2, "chatty": 2}, agent="act")
    return store


def test_the_variance_is_split(greenroom: Greenroom, filled: Store) -> None:
    found = greenroom("spread", "one", "--json").json
    assert found["agent"] == "react (one)"
    assert parse_report(json.dumps(found), SpreadReport).agent == "react (one)"
    assert {run["user"]: run["pass_1"]["value"] for run in found["runs"]} == {
        "u+terse": 0.25,
        "u+plain": 0.5,
        "u+chatty": 0.75,
    }
    parts = {one["part"]: one["variance"]["value"] for one in found["split"]["parts"]}
    assert parts["task"] == pytest.approx(0, abs=1e-9)
    assert parts["user"] == pytest.approx(0.0625)
    shown = greenroom("spread", "one").out
    assert "react (one) with 3 users over 12 tasks: the user makes " in shown
    assert greenroom("spread", *(f"one+u+{user}" for user in USERS)).status == 0


def test_the_order_of_two_agents_may_depend_on_the_user(
    greenroom: Greenroom, filled: Store
) -> None:
    ranking = greenroom("spread", "one", "--against", "two", "--json").json["ranking"]
    assert {one["user"]: one["difference"]["value"] for one in ranking["users"]} == {
        "u+terse": -0.5,
        "u+plain": 0.0,
        "u+chatty": 0.25,
    }
    assert ranking["flips"] == pytest.approx(1 / 3)
    shown = " ".join(greenroom("spread", "one", "--against", "two").out.split())
    assert "Against act (one) it is -0.083 on average: ahead with 1 of 3 users, behind" in shown
    assert "With 33 % of users the order is the other one; 0 beyond chance." in shown


def test_a_spread_is_written_as_a_page(greenroom: Greenroom, filled: Store, tmp_path: Path) -> None:
    file = tmp_path / "spread.html"
    result = greenroom("spread", "one", "--against", "two", "-o", file)
    assert result.status == 0, result.err
    page = file.read_text(encoding="utf-8")
    for said in ("Variance of results", "some users make some tasks harder", "the other order"):
        assert said in page
    refused = greenroom("spread", "one", "-o", tmp_path / "spread.xml")
    assert "A spread over users has no test cases" in refused.err


def test_few_results_are_shown_without_a_split(greenroom: Greenroom) -> None:
    store = open_store()
    played(store, "one", {"terse": 1})
    store.runs.create(planned("one", "plain"))
    result = greenroom("spread", "one", "--json")
    assert result.status == 0, result.err
    assert result.json["split"] is None
    assert result.json["notes"] == ["react (one) has no result with u+plain."]
    values = {run["user"]: run["pass_1"]["value"] for run in result.json["runs"]}
    assert values == {"u+terse": 0.25, "u+plain": None}


def test_what_else_differs_is_told(greenroom: Greenroom) -> None:
    store = open_store()
    played(store, "cold", {"terse": 1}, temperature=0.0)
    played(store, "warm", {"plain": 2}, temperature=1.0)
    (note,) = greenroom("spread", "cold+u+terse", "warm+u+plain", "--json").json["notes"]
    assert note.startswith("The runs of react (one) differ in temperature, too: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("one+u+terse",), "takes runs with at least two users"),
        (("one", "two"), "runs of different agents"),
        (("one", "copy"), "were played with the same user"),
        (("one", "--against", "apart"), "fewer than two users in common"),
        (("nobody",), "nobody"),
        (("empty",), "play the runs first"),
    ],
)
def test_what_cannot_be_split(
    greenroom: Greenroom, filled: Store, arguments: tuple[str, ...], said: str
) -> None:
    played(filled, "copy", {"terse": 1, "rare": 2})
    played(filled, "apart", {"terse": 1, "other": 2}, agent="act")
    for user in USERS:
        config = {"model": "one", "user_model": "u", "user_persona": user}
        filled.runs.create(sample_run(f"empty+{user}", config=config))
    result = greenroom("spread", *arguments)
    assert result.status == 2
    assert said in result.err


@pytest.mark.slow
def test_a_run_is_played_with_each_user(greenroom: Greenroom, tmp_path: Path) -> None:
    with running_server(load_domain("retail")) as server:
        run = ("run", "--agent-strategy", "oracle", "--task-ids", "1,2,5", "--num-trials", 2)
        users = ("--user-model", "user", "--user-api-base", server.api_base)
        personas = ("--user-persona", "terse", "--user-persona", "plain")
        result = greenroom(*run, *users, *personas, "--name", "desk", "--json")
        again = greenroom(*run, *users, *personas, "--name", "desk")
        waiting = greenroom(*run, *users, *personas, "--name", "later", "--processes", 0)
        later = greenroom("resume", "later", "-o", tmp_path / "later.html", "--json")
    assert result.status == 0, result.err
    assert [one["user"] for one in result.json["runs"]] == ["user+terse", "user+plain"]
    store = open_store()
    for persona in ("terse", "plain"):
        kept = store.runs.find(f"desk+user+{persona}")
        assert kept.config["user_persona"] == persona
        assert len(store.runs.finished(kept.id)) == 6
    assert again.status == 2
    assert "There is a run named 'desk+user+terse' already" in again.err
    assert "worker --run later+user+plain" in waiting.out
    assert later.status == 0, later.err
    assert [one["coverage"] for one in later.json["runs"]] == [1.0, 1.0]
    assert (tmp_path / "later.html").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--user-model", "b"), "give them a name by --name"),
        (("--user-model", "a", "--name", "x"), "--user-model names one twice"),
        (("--user-model", "b", "--name", "x", "--by", "tool"), "are for one run"),
        (("--user-model", "b", "--name", "x", "--user-persona", "rude"), "Known: plain"),
    ],
)
def test_users_that_are_refused_leave_no_run(
    greenroom: Greenroom, more: tuple[str, ...], said: str
) -> None:
    result = greenroom("run", "--agent-strategy", "oracle", "--user-model", "a", *more)
    assert result.status == 2
    assert said in result.err
    assert open_store().runs.all() == []
