"""`greenroom plan`: what is measured, what is assumed, and what it costs."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.store import RunRecord, Store, Usage, open_store
from tests.cli.running import Greenroom
from tests.store.samples import sample_episode, sample_run


def played(store: Store, name: str, successes: list[int], trials: int = 4) -> RunRecord:
    """A run in which so many trials of each task succeeded."""
    fields: dict[str, Any] = {"agent_strategy": "tool-calling", "config": {"model": "one"}}
    run = sample_run(name=name, task_indices=range(len(successes)), num_trials=trials, **fields)
    store.runs.create(run)
    price = {"agent": Usage(calls=1, cost=0.25)}
    for task, solved in enumerate(successes):
        episodes = [
            sample_episode(task, trial, usage=price)
            if trial < solved
            else sample_episode(task, trial, outcome="failure", reward=0.0, usage=price)
            for trial in range(trials)
        ]
        assert all(store.runs.add(run.id, episodes))
    return run


def test_a_run_says_what_it_costs(greenroom: Greenroom) -> None:
    store = open_store()
    played(store, "small", [4, 3, 2, 2, 0, 4, 1, 3] * 3)
    result = greenroom("plan", "--detect", "0.1", "--from", "small", "--max-concurrency", "5")
    assert "small solved 59.4 % of 96 episodes of 24 tasks; trials of one task have" in result.out
    assert "took $0.25 and " in result.out
    found = greenroom("plan", "--detect", "0.1", "--from", "small", "--json").json
    assert (found["detect"], found["tasks"], found["price"]["cost"]) == (0.1, 24, 0.25)
    for one in found["sizes"]:
        assert one["cost"] == one["episodes"] / 4
        assert one["power"] >= 0.8


def test_without_a_run_all_is_assumed(greenroom: Greenroom) -> None:
    found = greenroom("plan", "--json").json
    assert (found["detect"], found["measured"], found["price"]) == (0.05, [], None)
    assert found["assumed"] == [
        "One agent solves 50 % of trials (--success).",
        "Trials of one task have a correlation of 0.3 (--likeness).",
        "The other agent solves 45 % of trials: of more and less that which takes more to find.",
        "The chances of both agents have a correlation of 0.7 over tasks (--alike).",
    ]
    sure = greenroom("plan", "--power", "0.9", "--false-calls", "0.01", "--json").json
    more = zip(found["sizes"], sure["sizes"], strict=True)
    assert all(one["episodes"] < other["episodes"] for one, other in more)


def test_two_runs_say_how_far_they_lie_apart(greenroom: Greenroom) -> None:
    store = open_store()
    played(store, "one", [4, 3, 2, 2, 0, 4, 1, 3] * 3)
    played(store, "two", [4, 2, 2, 3, 1, 3, 1, 3] * 3)
    found = greenroom("plan", "--from", "one", "--from", "two", "--json").json
    assert found["assumed"] == []
    assert found["measured"][0] == "How far one and two lie apart on 24 tasks."
    same = greenroom("plan", "--from", "one", "--from", "one", "--json").json["assumed"]
    assert same == ["The runs lie as far apart on each task: it is as if one task differed."]


def test_tasks_that_are_too_few(greenroom: Greenroom) -> None:
    out = greenroom("plan", "--tasks", "20", "--detect", "0.02").out
    assert "With 20 tasks no number of trials does: it takes more tasks." in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", "nobody"), "nobody"),
        (("--detect", "0.6"), "--detect a smaller difference"),
        (("--from", "run", "--success", "0.5"), "--success is for planning without --from"),
        (("--from", "run", "--likeness", "0.5"), "--likeness is not needed"),
        (("--from", "run", "--from", "run", "--from", "run"), "one run, or two"),
        (("--from", "run", "--from", "other", "--alike", "1"), "leave out --alike"),
        (
            (
                "--from",
                "tiny",
            ),
            "too few to plan by",
        ),
    ],
)
def test_what_cannot_be_planned(
    greenroom: Greenroom, arguments: tuple[str, ...], said: str
) -> None:
    store = open_store()
    for name in ("run", "other"):
        played(store, name, [4, 3, 2, 2])
    played(store, "tiny", [4])
    result = greenroom("plan", *arguments)
    assert result.status == 2
    assert said in result.err
