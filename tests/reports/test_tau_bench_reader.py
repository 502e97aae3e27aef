from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from greenroom.analysis import pass_hat_ks
from greenroom.errors import DataError
from greenroom.reports.tau_bench import read_tau_bench
from greenroom.store.trajectory_records import RewardRecord


def write_raw(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "official.json"
    path.write_text(json.dumps(rows))
    return path


def official_row(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"task_id": 0, "reward": 0.0, "info": {}, "trial": 0}
    traj = [{"role": "system", "content": "Policy"}, {"role": "user", "content": "Hello"}]
    return values | {"traj": [*traj, *messages]} | fields


def call(name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"function": function}]}


def tool(content: str) -> dict[str, Any]:
    return {"role": "tool", "content": content}


def said(content: str, answer: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": content}, {"role": "user", "content": answer}]


def test_when_it_was_played_is_taken_from_the_file(tmp_path: Path) -> None:
    path = write_raw(tmp_path, official_row())
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (read,) = read_tau_bench(path)
    assert read.started_at == datetime.fromtimestamp(1_700_000_000, UTC)


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        (official_row(*said("Bye", "###STOP###"), reward=1.0), "success"),
        (official_row(*said("Bye", "Bye ###STOP###")), "failure"),
        (official_row(call("transfer_to_human_agents", "{}"), tool("Done")), "failure"),
        (official_row(*said("Bye", "Wait"), info={"reward_info": {"info": {}}}), "failure"),
        (official_row(*said("Bye", "Wait"), info={"reward_info": None}), "max_steps"),
        (official_row(call("find", "{}"), tool("###STOP###")), "max_steps"),
        (official_row(traj=[], info={"error": "boom", "traceback": "..."}), "infrastructure_error"),
    ],
)
def test_how_an_official_episode_ended(tmp_path: Path, row: dict[str, Any], outcome: str) -> None:
    (read,) = read_tau_bench(write_raw(tmp_path, row))
    assert read.outcome == outcome
    assert read.reward == (None if outcome == "infrastructure_error" else row["reward"])


def test_turns_end_with_the_agents_reply(tmp_path: Path) -> None:
    row = official_row(
        *said("Who are you?", "Mia"),
        call("find", '{"name": "Mia"}'),
        tool("mia_1"),
        *said("Hello Mia.", "Cancel it."),
        call("cancel", "{}"),
    )
    (read,) = read_tau_bench(write_raw(tmp_path, row), write_tools=["cancel"])
    assert [one.turn for one in read.steps] == [1, 2, 2, 3]
    assert [one.source for one in read.steps] == ["user", "find", "user", "cancel"]
    assert [one.action.writes for one in read.steps] == [False, False, False, True]
    assert read.steps[-1].observation == ""
    assert read.opening == "Hello"


def test_calls_that_were_not_valid_are_marked(tmp_path: Path) -> None:
    mismatch = "Find.invoke() missing 1 required positional argument: 'name'"
    row = official_row(
        call("fly", "{}"),
        tool("Unknown action fly"),
        call("find", "{}"),
        tool(f"Error: {mismatch}"),
        call("find", "no json"),
        tool("Error"),
        call("find", "[1]"),
        tool("Error: user not found"),
        call("find", '{"name": "Mia"}'),
        tool("Error: user not found"),
    )
    (read,) = read_tau_bench(write_raw(tmp_path, row))
    invalid = [one.invalid for one in read.steps]
    assert invalid[:2] == ["Unknown action fly", mismatch]
    assert "not JSON" in (invalid[2] or "")
    assert invalid[3] == "The arguments are not a JSON object"
    assert invalid[4] is None


def test_actions_that_were_written_as_text(tmp_path: Path) -> None:
    respond = 'Thought:\nAsk.\nAction:\n{"name": "respond", "arguments": {"content": "Who?"}}'
    find = 'Action:\n{"name": "find", "arguments": {"name": "Mia"}}'
    row = official_row(
        *said(respond, "Mia"),
        *said(find, "API output: mia_1"),
        *said("Action:\nnothing of the kind", "Bye ###STOP###"),
        *said('Action:\n{"name": 1, "arguments": []}', "Bye ###STOP###"),
    )
    (read,) = read_tau_bench(write_raw(tmp_path, row))
    assert [(one.action.name, one.observation) for one in read.steps] == [
        ("respond", "Mia"),
        ("find", "mia_1"),
        ("respond", "Bye ###STOP###"),
        ("respond", "Bye ###STOP###"),
    ]


@pytest.mark.parametrize(
    ("reward", "info", "details"),
    [
        (
            0.0,
            {"r_actions": 0.0, "gt_data_hash": "x"},
            RewardRecord(database=False, ground_truth_hash="x"),
        ),
        (0.0, {"r_actions": True}, RewardRecord(database=True)),
        (
            1.0,
            {"r_outputs": 1.0, "outputs": {"7": True}},
            RewardRecord(database=True, outputs={"7": True}),
        ),
        # All was said, so that it must have been the database.
        (
            0.0,
            {"r_outputs": 1.0, "outputs": {"7": True}},
            RewardRecord(database=False, outputs={"7": True}),
        ),
        # Nothing tells how the database ended.
        (0.0, {"r_outputs": 0.0, "outputs": {"7": False}}, None),
    ],
)
def test_the_parts_of_an_official_reward(
    tmp_path: Path, reward: float, info: dict[str, Any], details: RewardRecord | None
) -> None:
    row = official_row(reward=reward, info={"reward_info": {"reward": reward, "info": info}})
    (read,) = read_tau_bench(write_raw(tmp_path, row))
    assert read.details == details


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[{", "is not valid JSON: .* at line 1, column 3"),
        (b"", "is not valid JSON"),
        (b"\xff\xfe", "is not UTF-8 text: .* at byte 0"),
        (b"{}", "is not a Tau Bench result file: the whole file: "),
        (b"[[]]", "is not a Tau Bench result file: 0: "),
        (b'[{"task_id": 1, "reward": 0.0, "traj": []}, {}]', "file: 1.task_id: Field required"),
        (b'[{"task_id": 1, "reward": 0, "traj": [{"role": "cat"}]}]', "file: 0.traj.0.role: "),
        (b'[{"task_id": 1, "reward": NaN, "traj": []}]', "file: 0.reward: "),
        (b'[{"task_id": 1, "reward": 0, "traj": [], "info": 3}]', "file: 0.info: "),
        (b"[" * 100_000, "nested too deeply|not valid JSON"),
    ],
)
def test_a_broken_file_is_named_with_the_place(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words) as raised:
        read_tau_bench(path)
    assert str(path) in str(raised.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is missing"):
        read_tau_bench(tmp_path / "none.json")
    with pytest.raises(DataError, match="cannot be read"):
        read_tau_bench(tmp_path)


@pytest.mark.official
def test_official_rewards_give_the_published_row(official_data: Path) -> None:
    trials: dict[int, list[bool]] = {}
    for one in read_tau_bench(official_data / "trajectories" / "gpt-4o-airline.json"):
        trials.setdefault(one.task_index, []).append(one.outcome == "success")
    figures = [round(value, 3) for value in pass_hat_ks(trials).values()]
    assert figures == [0.42, 0.273, 0.22, 0.2]
