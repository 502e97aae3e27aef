from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import DataError
from greenroom.messages import Message
from greenroom.reports.tau_bench import (
    OwnInfo,
    read_tau_bench,
    result_file_name,
    tau_bench_rows,
    write_tau_bench,
)
from greenroom.store.records import EpisodeRecord, RunRecord, Usage
from greenroom.store.trajectory_records import (
    ActionRecord,
    DifferenceRecord,
    RewardRecord,
    StepRecord,
    TaskRecord,
)

CREATED = datetime(2024, 5, 15, 13, 4, 5, tzinfo=UTC)
CANCEL = ActionRecord(name="cancel", kwargs={"order_id": "#W1"}, writes=True)


def run(**fields: Any) -> RunRecord:
    values: dict[str, Any] = {
        "id": "r1",
        "name": "run",
        "created_at": CREATED,
        "greenroom_version": "0",
        "config": {},
        "env": "retail",
        "task_split": "test",
        "agent_strategy": "tool-calling",
        "task_indices": [0, 1, 2],
        "num_trials": 1,
        "pack": {},
        "policy": "Be kind.",
    }
    return RunRecord(**(values | fields))


def step(name: str, kwargs: dict[str, Any], observation: str, turn: int = 1) -> StepRecord:
    return StepRecord(
        action=ActionRecord(name=name, kwargs=kwargs, writes=name == "cancel"),
        observation=observation,
        source="user" if name == "respond" else name,
        turn=turn,
    )


STEPS = [
    step("respond", {"content": "Which one?"}, "#W1"),
    step("find", {"order_id": "#W1"}, '{"status": "pending"}', turn=2),
    step("cancel", {"order_id": "#W1"}, '{"status": "cancelled"}', turn=2),
    step("respond", {"content": "Done: 12.5"}, "Bye ###STOP###", turn=2),
]


def episode(**fields: Any) -> EpisodeRecord:
    values: dict[str, Any] = {
        "task_index": 7,
        "trial": 2,
        "outcome": "success",
        "reward": 1.0,
        "task": TaskRecord(
            instruction="Cancel it.", user_id="mia", actions=[CANCEL], outputs=["12.5"]
        ),
        "opening": "Hello!",
        "steps": STEPS,
        "details": RewardRecord(
            database=True, outputs={"12.5": True}, strict_outputs={"12.5": True}
        ),
        "started_at": CREATED,
        "seconds": 3.5,
        "seed": 11,
        "attempts": 2,
        "usage": {"user": Usage(calls=3, cost=0.25), "agent": Usage(calls=4, cost=None)},
    }
    return EpisodeRecord(**(values | fields))


def rows_of(*episodes: EpisodeRecord) -> list[dict[str, Any]]:
    return tau_bench_rows(run(), episodes)


def read_back(folder: Path, *episodes: EpisodeRecord) -> list[EpisodeRecord]:
    path = folder / "results.json"
    write_tau_bench(path, rows_of(*episodes))
    return read_tau_bench(path, write_tools=["cancel"])


def test_a_row_is_as_tau_bench_writes_it() -> None:
    (row,) = rows_of(episode())
    assert list(row) == ["task_id", "reward", "info", "traj", "trial"]
    assert (row["task_id"], row["reward"], row["trial"]) == (7, 1.0, 2)
    info = row["info"]
    assert info["task"] == {
        "user_id": "mia",
        "actions": [{"name": "cancel", "kwargs": {"order_id": "#W1"}}],
        "instruction": "Cancel it.",
        "outputs": ["12.5"],
    }
    assert info["source"] == "user"
    assert info["user_cost"] == 0.25
    assert info["reward_info"]["reward"] == 1.0
    assert info["reward_info"]["info"] == {"r_outputs": 1.0, "outputs": {"12.5": True}}
    assert info["reward_info"]["actions"] == info["task"]["actions"]


def test_both_parts_of_the_reward_are_kept() -> None:
    details = RewardRecord(
        database=False,
        outputs={"12.5": True},
        differences=[DifferenceRecord(table="orders", record="#W1", path="status", expected="x")],
    )
    (row,) = rows_of(episode(details=details, reward=0.0, outcome="failure"))
    parts = row["info"]["reward_info"]["parts"]
    assert (parts["database"], parts["outputs"]) == (False, {"12.5": True})
    (row,) = rows_of(episode(details=RewardRecord(database=False, ground_truth_hash="ab")))
    assert row["info"]["reward_info"]["info"] == {"r_actions": 0.0, "gt_data_hash": "ab"}


def test_notes_of_an_agent_are_no_messages_of_the_row() -> None:
    said = [{"role": role, "content": "x"} for role in ("system", "user", "assistant", "user")]
    note = {"role": "system", "content": "FastWorkflow did not execute 'cancel it'"}
    (row,) = rows_of(episode(messages=[*said[:2], note, *said[2:], note]))
    assert row["traj"] == said


def test_a_row_says_what_the_agent_said_of_itself(tmp_path: Path) -> None:
    played = episode(facts={"bridge": "internal"}, tallies={"model calls": {"agent": 3}})
    (row,) = rows_of(played)
    own = row["info"]["greenroom"]
    assert (own["version"], own["agent_strategy"]) == (
        run().greenroom_version,
        run().agent_strategy,
    )
    assert own.keys() == OwnInfo.model_fields.keys()
    (read,) = read_back(tmp_path, played)
    assert (read.facts, read.tallies) == (played.facts, played.tallies)


def test_an_episode_that_never_ended_has_no_reward_info() -> None:
    (row,) = rows_of(episode(details=None, outcome="max_steps", reward=0.0))
    assert row["info"]["reward_info"] is None


def test_an_infrastructure_error_can_be_told_apart(tmp_path: Path) -> None:
    broken = episode(
        outcome="infrastructure_error", reward=None, details=None, error="No route to host"
    )
    (row,) = rows_of(broken)
    assert row == {
        "task_id": 7,
        "reward": 0.0,
        "info": {"error": "No route to host", "infrastructure_error": True},
        "traj": [],
        "trial": 2,
    }
    (read,) = read_back(tmp_path, broken)
    assert read.outcome == "infrastructure_error"
    assert read.reward is None
    assert read.error == "No route to host"


def test_messages_are_made_from_steps() -> None:
    (row,) = rows_of(episode())
    traj = row["traj"]
    assert [message["role"] for message in traj] == [
        *("system", "user", "assistant", "user"),
        *("assistant", "tool", "assistant", "tool", "assistant", "user"),
    ]
    assert traj[0]["content"] == "Be kind."
    assert traj[1]["content"] == "Hello!"
    assert traj[4] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "find", "arguments": '{"order_id": "#W1"}'},
            }
        ],
    }
    assert traj[5] == {
        "role": "tool",
        "tool_call_id": "call_1",
        "name": "find",
        "content": '{"status": "pending"}',
    }
    assert traj[6]["tool_calls"][0]["id"] == "call_2"
    for message in traj:
        Message.model_validate(message)


def test_the_agents_own_messages_come_first() -> None:
    own = [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hi", "x": 1}]
    (row,) = rows_of(episode(messages=own))
    assert row["traj"] == own


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert read_back(tmp_path, episode()) == [episode()]


@pytest.mark.parametrize("outcome", ["failure", "max_steps", "max_time", "invalid"])
def test_outcomes_are_kept(tmp_path: Path, outcome: str) -> None:
    written = episode(outcome=outcome, reward=0.0, details=None)
    assert read_back(tmp_path, written) == [written]


def test_own_messages_are_kept_as_they_are(tmp_path: Path) -> None:
    own = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hello!"},
        {"role": "assistant", "content": "Bye", "reasoning": "enough"},
        {"role": "user", "content": "###STOP###"},
    ]
    said = [step("respond", {"content": "Bye"}, "###STOP###")]
    (read,) = read_back(tmp_path, episode(messages=own, steps=said))
    assert read.messages == own
    assert read.steps == said


_text = st.text(max_size=20) | st.just('Action:\n{"name": "x", "arguments": {}}')
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1e9, 1e9) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=5,
)
_actions = st.builds(
    ActionRecord, name=st.just("respond"), kwargs=st.fixed_dictionaries({"content": _text})
) | st.builds(
    ActionRecord,
    name=st.sampled_from(["respond", "find", "cancel", "transfer_to_human_agents"]),
    kwargs=st.dictionaries(_text, _json, max_size=3),
)
_episodes = st.builds(
    EpisodeRecord,
    task_index=st.integers(0, 500),
    trial=st.integers(0, 9),
    outcome=st.sampled_from(["success", "failure", "max_steps", "invalid"]),
    reward=st.sampled_from([0.0, 0.5, 1.0]),
    task=st.builds(TaskRecord, instruction=_text, actions=st.lists(_actions, max_size=3)),
    opening=_text,
    steps=st.lists(
        st.builds(
            StepRecord, action=_actions, observation=_text, source=st.just("x"), turn=st.just(1)
        ),
        max_size=6,
    ),
    messages=st.none(),
    details=st.none() | st.just(RewardRecord(database=False, outputs={"1": True})),
    started_at=st.just(CREATED),
    usage=st.just({}),
)


@given(st.lists(_episodes, max_size=3))
def test_reading_keeps_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, episodes: list[EpisodeRecord]
) -> None:
    read = read_back(tmp_path_factory.mktemp("rows"), *episodes)
    for one, other in zip(episodes, read, strict=True):
        assert (other.task_index, other.trial, other.reward) == (
            *(one.task_index, one.trial),
            one.reward,
        )
        assert [_called(step.action) for step in other.steps] == [
            _called(step.action) for step in one.steps
        ]
        assert [step.observation for step in other.steps] == [
            step.observation for step in one.steps
        ]
        assert [_called(action) for action in other.task.actions] == [
            _called(action) for action in one.task.actions
        ]
        assert (other.opening, other.outcome) == (one.opening, one.outcome)
        assert other.details == one.details


def _called(action: ActionRecord) -> tuple[str, dict[str, Any]]:
    return action.name, action.kwargs


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "deep" / "results.json"
    path.parent.mkdir()
    write_tau_bench(path, rows_of(episode()))
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"results.json cannot be written: No space left"):
        write_tau_bench(path, [])
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_what_is_no_json_is_found_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_tau_bench(tmp_path / "results.json", [{"task_id": object()}])
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="There is no directory"):
        write_tau_bench(tmp_path / "file" / "results.json", [])
    with pytest.raises(DataError, match="cannot be written"):
        write_tau_bench(tmp_path, [])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_files_name_is_tau_benchs() -> None:
    config = {
        "model": "gpt-4o",
        "temperature": 0.0,
        "start_index": 0,
        "end_index": -1,
        "user_model": "gpt-4o",
        "user_strategy": "llm",
    }
    assert result_file_name(run(config=config)) == (
        "tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_0515130405.json"
    )


def test_what_the_configuration_leaves_open_is_taken_from_the_run() -> None:
    assert result_file_name(run(agent_strategy="oracle", task_indices=[3, 4, 8])) == (
        "oracle-none-0.0_range_3-9_user-none-none_0515130405.json"
    )
    assert "_range_0-0_" in result_file_name(run(task_indices=[]))


@given(st.text(), st.text(), st.text())
def test_no_model_name_breaks_the_path(model: str, user_model: str, strategy: str) -> None:
    config = {"model": model, "user_model": user_model, "user_strategy": None}
    name = result_file_name(run(config=config, agent_strategy=strategy))
    assert Path(name).name == name
    assert len(name) < 255
    assert not set(name) & set('/\\:*?"<>|\0')
    assert name.isascii()


def test_slashes_in_model_names() -> None:
    config = {"model": "openrouter/meta/llama:70b", "user_model": "../../etc"}
    name = result_file_name(run(config=config))
    assert name.startswith("tool-calling-openrouter-meta-llama-70b-0.0_range_0-3_user-..-..-etc-")


@pytest.mark.slow
@pytest.mark.official
@pytest.mark.parametrize(
    ("file", "count", "successes"),
    [("gpt-4o-airline.json", 200, 84), ("gpt-4.1-mini-retail.json", 115, 62)],
)
def test_official_files_are_read(
    official_data: Path, tmp_path: Path, file: str, count: int, successes: int
) -> None:
    path = official_data / "trajectories" / file
    episodes = read_tau_bench(path)
    rows = json.loads(path.read_text())
    assert len(episodes) == count
    assert [one.reward for one in episodes] == [row["reward"] for row in rows]
    assert sum(one.outcome == "success" for one in episodes) == successes
    assert all(one.steps and one.opening and one.task.instruction for one in episodes)
    assert [one.messages for one in episodes] == [row["traj"] for row in rows]
    # What is written of them reads the same, but for when they were played.
    write_tau_bench(tmp_path / file, tau_bench_rows(run(), episodes))
    assert read_tau_bench(tmp_path / file) == episodes
