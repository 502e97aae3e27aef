from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.benchmark.conformance import check_conformance, read_traces
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment
from greenroom.domains.pack_writer import write_pack
from greenroom.domains.retail.generator import builtin_pack
from greenroom.domains.tasks import STOP, Action, respond
from greenroom.users import ScriptedUser


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("conformance") / "pack"
    write_pack(path, [builtin_pack()])
    return path


@pytest.fixture
def trace(retail: Domain) -> dict[str, Any]:
    """A trace of task 0's ground truth, recorded from our own environment."""

    async def record() -> dict[str, Any]:
        environment = Environment(retail, ScriptedUser())
        await environment.reset(0)
        actions: list[Action] = [*retail.task(0).actions, respond("Done.")]
        before = ""
        for action in actions:
            before = environment.world.hash()
            await environment.step(action)
        assert environment.reward is not None
        return {
            "env": "retail",
            "split": "test",
            "task_index": 0,
            "data_hash_before_end": before,
            "reward": environment.reward.value,
            "reward_info": {"r_outputs": 0.0, "outputs": environment.reward.outputs},
            "steps": [
                {
                    "name": step.action.name,
                    "kwargs": dict(step.action.kwargs),
                    "observation": step.observation,
                    "done": step.done,
                }
                for step in environment.steps
            ],
        }

    return anyio.run(record)


def check(tmp_path: Path, pack: Path, *traces: dict[str, Any]) -> list[str]:
    file = tmp_path / "traces.jsonl"
    file.write_text("\n".join(json.dumps(trace) for trace in traces) + "\n\n")
    report = check_conformance(read_traces(file), pack)
    assert report.total == len(traces)
    assert report.matching == len(traces) - len(report.mismatches)
    return [mismatch.what for mismatch in report.mismatches]


def test_a_trace_matches_itself(tmp_path: Path, pack: Path, trace: dict[str, Any]) -> None:
    assert check(tmp_path, pack, trace, trace) == []


def test_observations_may_be_given_by_their_sha256(
    tmp_path: Path, pack: Path, trace: dict[str, Any]
) -> None:
    for step in trace["steps"]:
        step["observation_sha256"] = sha256(step.pop("observation").encode()).hexdigest()
    assert check(tmp_path, pack, trace) == []
    trace["steps"][1]["observation_sha256"] = "0" * 64
    assert check(tmp_path, pack, trace) == [
        f"step 1 ({trace['steps'][1]['name']}): sha256 of the observation"
    ]


@pytest.mark.parametrize(
    ("place", "value", "what"),
    [
        (("reward",), 1.0, "reward"),
        (("reward_info", "r_outputs"), 1.0, "reward_info.r_outputs"),
        (("reward_info", "outputs"), {"x": True}, "reward_info.outputs"),
        (("reward_info", "r_actions"), 0.0, "reward_info.r_actions"),
        (("reward_info", "gt_data_hash"), "0", "reward_info.gt_data_hash"),
        (("data_hash_before_end",), "0", "database before the end"),
        (("steps", 0, "observation"), "x", "step 0 (find_user_id_by_name_zip): observation"),
        (("steps", 0, "done"), True, "step 0 (find_user_id_by_name_zip): done"),
        (("steps", -1, "observation"), "bye", "step 5 (respond): observation"),
    ],
)
def test_every_part_is_compared(
    tmp_path: Path,
    pack: Path,
    trace: dict[str, Any],
    place: tuple[Any, ...],
    value: Any,
    what: str,
) -> None:
    if place == ("steps", 0, "done"):
        trace["data_hash_before_end"] = None
    target: Any = trace
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    assert check(tmp_path, pack, trace) == [what]


def test_a_trace_that_goes_on_after_the_end(
    tmp_path: Path, pack: Path, trace: dict[str, Any]
) -> None:
    trace["steps"].append({"name": "respond", "kwargs": {"content": "x"}, "observation": STOP})
    assert check(tmp_path, pack, trace) == ["step 6 (respond)"]
