"""Claim cards: written, verified, and refused when anything behind them has changed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from greenroom.store import open_store
from tests.cli.running import Greenroom


@pytest.fixture
def played(greenroom: Greenroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Greenroom:
    """A run of three tasks with two trials each, some of them failures."""
    monkeypatch.chdir(tmp_path)
    arguments = ["--agent-strategy", "synthetic", "--success", "0.6", "--task-ids", "1,2,5"]
    result = greenroom("run", *arguments, "--num-trials", 2, "--name", "first")
    assert result.status == 0, result.err
    return greenroom


def change(statement: str, *values: Any) -> None:
    """Change the store behind Greenroom's back."""
    with sqlite3.connect("runs.db") as database:
        assert database.execute(statement, values).rowcount == 1
    database.close()


def card(played: Greenroom) -> dict[str, Any]:
    return played("runs", "card", "first", "--json").json


def test_a_card_says_all_that_a_figure_needs(played: Greenroom) -> None:
    found = card(played)
    store = open_store()
    run = store.runs.find("first")
    store.close()
    assert run.task_set is not None
    assert found["task_set"]["hashes"]["hash"] == run.task_set.hash
    assert (found["task_set"]["env"], found["task_set"]["split"]) == ("retail", "test")
    assert found["agent"]["strategy"] == "synthetic"
    assert found["agent"]["settings"]["agent_options"]["success"] == 0.6
    assert found["agent"]["knows_the_answers"] is True
    assert (found["user"]["strategy"], found["tasks"], found["trials"]) == ("scripted", 3, 2)
    assert list(found["figures"]) == ["pass^1", "pass^2"]
    shown = played("runs", "show", "first", "--json").json["metrics"]
    expected = shown["conventions"]["errors_excluded"]["pass_hat_k"]
    for k in ("1", "2"):
        figure = found["figures"][f"pass^{k}"]
        assert figure["tasks"] == 3
        assert {name: figure[name] for name in expected[k]} == expected[k]
        assert figure["low"] <= figure["value"] <= figure["high"]
    assert found["coverage"]["share"] == 1.0
    assert found["coverage"]["with_result"] == found["coverage"]["planned"] == 6
    assert {task: sorted(trials) for task, trials in found["episodes"].items()} == {
        "1": ["0", "1"],
        "2": ["0", "1"],
        "5": ["0", "1"],
    }


def test_the_command_on_the_card_plays_the_same_run(played: Greenroom) -> None:
    import shlex

    found = card(played)
    (command,) = found["commands"]
    words = shlex.split(command)[1:]
    words[words.index("--name") + 1] = "again"
    assert played(*words).status == 0
    again = played("runs", "card", "again", "--json").json
    for part in ("figures", "agent", "user", "task_set", "coverage"):
        assert again[part] == found[part]


@pytest.mark.parametrize("name", ["card.json", "card.md"])
def test_a_card_holds_until_something_changes(played: Greenroom, name: str) -> None:
    assert "--verify" in played("runs", "card", "first", "-o", name).out
    held = played("runs", "card", "--verify", name)
    assert (held.status, held.out) == (0, f"{name} holds: no differences.\n")
    assert played("runs", "card", "first", "--verify", name, "--json").json == {
        "run": "first",
        "holds": True,
        "differences": [],
    }


def test_one_byte_of_one_episode_is_named(played: Greenroom) -> None:
    played("runs", "card", "first", "-o", "card.json")
    change("update results set body = replace(body, 'order', 'Order') where item = 2 and trial = 1")
    failed = played("runs", "card", "--verify", "card.json")
    assert failed.status == 1
    first, last = failed.out.splitlines()
    assert first.startswith("The episode of task 2, trial 1, of 'first' is not what it was: ")
    assert last == "card.json does not hold: 1 difference."


def test_a_reward_that_is_changed_changes_the_figures(played: Greenroom) -> None:
    played("runs", "card", "first", "-o", "card.json")
    before = card(played)["figures"]["pass^1"]["value"]
    store = open_store()
    solved = next(one for one in store.runs.results(store.runs.find("first").id) if one.solved)
    store.close()
    change(
        "update results set record = json_set(record, '$.reward', 0.0, '$.outcome', 'failure') "
        "where item = ? and trial = ?",
        *solved.key,
    )
    assert card(played)["figures"]["pass^1"]["value"] < before
    failed = played("runs", "card", "--verify", "card.json", "--json")
    assert failed.status == 1
    place = f"task {solved.task_index}, trial {solved.trial}"
    assert any(place in one for one in failed.json["differences"])
    assert any(one.startswith("figures.pass^1.value: ") for one in failed.json["differences"])


def test_an_episode_that_cannot_be_read_any_more_is_named(played: Greenroom) -> None:
    played("runs", "card", "first", "-o", "card.json")
    change("update results set record = substr(record, 2) where item = 5 and trial = 0")
    failed = played("runs", "card", "--verify", "card.json")
    assert failed.status == 1
    assert "The episode of task 5, trial 0, of 'first' is not what it was" in failed.out
    assert "The figures cannot be built again" in failed.out


def test_missing_and_added_episodes_are_named(played: Greenroom) -> None:
    played("runs", "card", "first", "-o", "card.json")
    change("delete from results where item = 5 and trial = 1")
    gone = played("runs", "card", "--verify", "card.json").out
    assert (
        "The episode of task 5, trial 1, of 'first' is on the card, but not in the store." in gone
    )
    played("runs", "card", "first", "-o", "later.json")
    assert played("resume", "first").status == 0
    added = played("runs", "card", "--verify", "later.json").out
    assert (
        "The episode of task 5, trial 1, of 'first' is in the store, but not on the card." in added
    )


@pytest.mark.parametrize("part", ["figures", "task_set", "agent", "trials", "commands"])
def test_a_figure_that_is_changed_on_the_card_is_named(played: Greenroom, part: str) -> None:
    changed = card(played)
    changed[part] = 9 if part == "trials" else changed[part] and {"pass^1": {"value": 0.99}}
    Path("card.json").write_text(json.dumps(changed))
    failed = played("runs", "card", "--verify", "card.json")
    assert failed.status == 1
    assert f"{part}" in failed.out


def test_what_is_left_out_or_added_is_a_difference(played: Greenroom) -> None:
    changed = card(played)
    assert changed.pop("judge", 0) is None
    changed["more"] = None
    Path("card.json").write_text(json.dumps(changed))
    failed = played("runs", "card", "--verify", "card.json")
    assert failed.status == 1
    assert "judge: nothing on the card, null from the store." in failed.out
    assert "more: null on the card, nothing from the store." in failed.out


def test_a_part_that_is_there_twice_is_refused(played: Greenroom) -> None:
    twice = json.dumps(card(played)).replace('"format": 1', '"format": 1, "trials": 99')
    Path("card.json").write_text(twice)
    refused = played("runs", "card", "--verify", "card.json")
    assert (refused.status, "'trials' is there twice" in refused.err) == (2, True)


@pytest.mark.slow
def test_a_card_of_another_run_is_told_in_a_line(played: Greenroom) -> None:
    assert played("run", "--task-ids", "1", "--name", "other").status == 0
    played("runs", "card", "first", "-o", "card.json")
    failed = played("runs", "card", "other", "--verify", "card.json")
    assert failed.status == 1
    assert "The card is of the run" in failed.out
    assert "1 difference" in failed.out


def test_a_card_from_another_store_is_told_as_such(
    played: Greenroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    played("runs", "card", "first", "-o", "card.json")
    monkeypatch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{tmp_path}/another.db")
    refused = played("runs", "card", "--verify", "card.json")
    assert refused.status == 2
    told = " ".join(refused.err.split())
    assert "card.json is the card of the run 'first'" in told
    assert "this store does not have" in told
    assert "GREENROOM_DATABASE_URL" in told


@pytest.mark.parametrize("name", ["card.json", "card.md"])
def test_line_ends_of_another_system_change_nothing(played: Greenroom, name: str) -> None:
    played("runs", "card", "first", "-o", name)
    path = Path(name)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert played("runs", "card", "--verify", name).status == 0


def test_words_that_do_not_fit_the_json_are_refused(played: Greenroom) -> None:
    played("runs", "card", "first", "-o", "card.md")
    text = Path("card.md").read_text()
    Path("card.md").write_text(text.replace("3 tasks, 2 trials each", "300 tasks, 2 trials each"))
    refused = played("runs", "card", "--verify", "card.md")
    assert (refused.status, "do not trust it" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Name the run"),
        (["nothing"], "nothing"),
        (["first", "-o", "card.txt"], "is neither"),
        (["first", "-o", "no/where.json"], "There is no directory no"),
        (["--verify", "gone.json"], "gone.json is missing"),
        (["--verify", "text.json"], "holds no JSON"),
        (["--verify", "list.json"], "is no claim card"),
        (["--verify", "odd.json"], "lists no episodes"),
        (["--verify", "new.json"], "this version reads 1"),
        (["--verify", "odd.md"], "do not trust it"),
        (["first", "--verify", "list.json", "-o", "x.json"], "give one of them"),
    ],
)
def test_what_is_no_card(played: Greenroom, arguments: list[str], words: str) -> None:
    odd = {"kind": "greenroom.card", "format": 1, "run": {"id": "x"}, "episodes": [1]}
    files = {
        "text.json": "not at all",
        "list.json": "[]",
        "odd.json": json.dumps(odd),
        "new.json": json.dumps(odd | {"format": 2}),
        "odd.md": f"# x\n\n```json\n{json.dumps(odd)}\n```\n",
    }
    for name, text in files.items():
        Path(name).write_text(text)
    refused = played("runs", "card", *arguments)
    assert (refused.status, words in " ".join(refused.err.split())) == (2, True), refused.err
