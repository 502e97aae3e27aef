"""`greenroom replay` over runs: whole, from a turn on, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from greenroom.store import open_store
from tests.cli.running import Greenroom

SYNTHETIC = ("run", "--agent-strategy", "synthetic", "--success", 0.5)


@pytest.fixture
def stored(greenroom: Greenroom) -> Greenroom:
    """The command, with a run 'stored' of six tasks."""
    assert greenroom(*SYNTHETIC, "--end-index", 6, "--name", "stored").status == 0
    return greenroom


def test_a_run_is_replayed_whole(stored: Greenroom) -> None:
    whole = stored("replay", "stored")
    assert whole.status == 0
    assert whole.out.splitlines()[-1] == "6/6 rewards agree"
    assert stored("replay", "stored", 3, "--json").json["episodes"] == 1
    assert "has no such episode" in stored("replay", "stored", 33).err


@pytest.mark.slow
def test_an_episode_goes_on_from_a_step(stored: Greenroom) -> None:
    result = stored("replay", "stored", 3, "--from-step", 3, "--trials", 10)
    assert result.status == 0
    first, then, sentence, outcomes, *_ = result.out.splitlines()
    assert first == "Task 3, trial 0 of 'stored' from turn 1, after 2 steps, agent synthetic"
    assert then.startswith("Stored trial: ")
    found = re.fullmatch(
        r"From here it is solved (\d+) of 10 times \(95 % interval \d+ to \d+ %\)\.", sentence
    )
    assert found is not None
    assert f"{found[1]} Solved" in outcomes
    assert "10/10 (solved" in result.err
    name = "stored-task-3-turn-1-1"
    assert f"Stored as '{name}'" in result.out
    # It is a run of its own that belongs to the first, and can be shown, listed and deleted.
    shown = stored("runs", "show", name).out
    assert "Goes on from: stored, task 3, trial 0, turn 1, after 2 steps" in shown
    listed = stored("runs", "list", "--json").json
    assert [one["name"] for one in listed] == ["stored"]
    children = stored("runs", "list", "--from", "stored", "--json").json
    assert [one["name"] for one in children] == [name]
    assert "Turn" in stored("runs", "list", "--from", "stored").out
    again = stored("replay", "stored", 3, "--from-step", 3, "--trials", 10, "--json").json
    assert (again["run_name"], again["solved"]) == (name, int(found[1]))
    assert stored("runs", "delete", name, "--yes").status == 0
    assert stored("runs", "list", "--from", "stored", "--json").json == []


def test_json_has_each_outcome(stored: Greenroom) -> None:
    result = stored("replay", "stored", 3, "--from-turn", 1, "--trials", 4, "--json").json
    assert result["trials"] == len(result["each"]) == 4
    assert result["point"]["turn"] == 1
    assert 0 <= result["low"] <= result["high"] <= 1
    assert result["differences"] == []


def test_another_agent_goes_on(stored: Greenroom) -> None:
    place = ("replay", "stored", 3, "--from-step", 2, "--trials", 3, "--json")
    oracle = stored(*place, "--agent-strategy", "oracle").json
    assert (oracle["agent"], oracle["solved"]) == ("oracle", 3)
    sure = stored(*place, "--success", 1).json
    assert (sure["agent"], sure["solved"]) == ("synthetic", 3)
    never = stored(*place, "--success", 0).json
    assert never["solved"] == 0
    assert sum(never["kinds"].values()) == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["stored", 3, "--from-turn", 5], "has no turn 5: its turns are only 1"),
        (["stored", 3, "--from-turn", 1, "--from-step", 1], "one of them"),
        (["stored", "--from-turn", 1], "Say which task"),
        (["stored", 3, "--trials", 5], "Say where to go on"),
        (["stored", 3, "--success", 1], "Say where to go on"),
        (["stored", 3, "--from-turn", 1, "--trial", 8], "has no trial 8 of task 3"),
        (["stored", 3, "--from-turn", 1, "--env", "retail"], "--env does not apply"),
        (["stored", 3, "--from-turn", 1, "--agent-strategy", "react"], "name it by --model"),
        (["nothing"], "Unknown run 'nothing'"),
        (["nothing.json"], "nothing.json is missing"),
    ],
)
def test_what_cannot_be_done_is_told(stored: Greenroom, words: list[Any], told: str) -> None:
    result = stored("replay", *words)
    assert result.status == 2
    assert told in result.err
    assert open_store().runs.all(parent=open_store().runs.find("stored").id) == []


def test_a_result_file_is_replayed_as_it_is(stored: Greenroom, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    stored("runs", "export", "stored", "--format", "tau-bench", "-o", file)
    for words, told in (
        (["--from-turn", 1], "--from-turn is for runs of the store"),
        (["--success", 1], "--agent-strategy does not apply"),
    ):
        result = stored("replay", file, *words)
        assert result.status == 2
        assert told in result.err


def test_a_variable_for_files_does_not_touch_runs(
    stored: Greenroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_DATA", "/nowhere")
    assert stored("replay", "stored", 3, "--from-turn", 1).status == 0
