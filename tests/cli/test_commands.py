from __future__ import annotations

import json
from pathlib import Path

import pytest

from greenroom.domains.pack_writer import write_pack
from greenroom.domains.retail.generator import builtin_pack
from tests.agents.result_files import write_results
from tests.cli.running import Greenroom


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "pack"
    write_pack(path, [builtin_pack()])
    return path


@pytest.mark.slow
def test_shuffling_by_the_seed(greenroom: Greenroom) -> None:
    def order(*options: object) -> list[int]:
        return greenroom("run", "--end-index", 20, "--json", *options).json["run"]["task_indices"]

    assert order() == list(range(20))
    assert order("--shuffle", 1, "--seed", 3) == order("--shuffle", 1, "--seed", 3)
    assert order("--shuffle", 1, "--seed", 3) != order("--shuffle", 1, "--seed", 4)
    assert sorted(order("--shuffle", 1)) == list(range(20))


def test_tasks_list_and_show(greenroom: Greenroom) -> None:
    assert "96 tasks" in greenroom("tasks", "list").out
    task = greenroom("tasks", "show", 5, "--json").json
    shown = greenroom("tasks", "show", 5).out
    assert task["actions"][0]["name"] in shown
    for place in task["changes"]:
        assert place in shown
    for output in task["outputs"]:
        assert output in shown


def test_tasks_validate(greenroom: Greenroom, pack: Path) -> None:
    assert greenroom("tasks", "validate").out == "96/96 tasks are sound\n"
    file = pack / "retail/tasks/test.json"
    tasks = json.loads(file.read_text())
    tasks[3]["instruction"] = ""
    tasks[4]["unscored"] = {"nl_assertions": ["be kind", "be brief"]}
    file.write_text(json.dumps(tasks))
    result = greenroom("tasks", "validate", "--data", pack)
    assert result.status == 1
    assert result.out.splitlines() == [
        "task 3: has no instruction",
        "2 criteria of these tasks are not scored (see tasks show).",
        "95/96 tasks are sound",
    ]
    assert "be brief" in greenroom("tasks", "show", 4, "--data", pack).out
    assert greenroom("tasks", "validate", "--data", pack, "--json").json == {
        "tasks": 96,
        "unscored_criteria": 2,
        "problems": [{"task_id": 3, "problem": "has no instruction"}],
    }


def test_generate_makes_a_pack_that_runs(greenroom: Greenroom, tmp_path: Path) -> None:
    target = tmp_path / "fresh"
    made = greenroom("generate", "--env", "retail", "--seed", 5, "--tasks", 7, "-o", target)
    assert made.status == 0
    assert "Wrote 7 tasks" in made.out
    assert greenroom("tasks", "validate", "--data", target).out == "7/7 tasks are sound\n"
    result = greenroom("run", "--data", target, "--json").json
    assert result["metrics"]["outcomes"] == {"success": 7}
    assert result["run"]["pack"]["name"] == "greenroom-retail-5"
    again = greenroom("generate", "--tasks", 7, "-o", target)
    assert again.status == 2
    assert "holds a pack already" in again.err
    replaced = greenroom("generate", "--tasks", 3, "-o", target, "--replace", "--json")
    assert replaced.json["tasks"] == 3


def test_the_environment_names_the_data(
    greenroom: Greenroom, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_DATA", str(pack))
    assert greenroom("tasks", "list", "--json").status == 0
    monkeypatch.setenv("GREENROOM_DATA", str(pack / "nowhere"))
    assert greenroom("tasks", "list").status == 2


def test_data_list(greenroom: Greenroom, pack: Path, tmp_path: Path) -> None:
    (tmp_path / "cache/packs").mkdir(parents=True)
    pack.rename(tmp_path / "cache/packs/mine")
    rows = greenroom("data", "list", "--json").json
    assert [(row["data"], row["env"], row["splits"]) for row in rows] == [
        ("(default)", "retail", {"test": 96}),
        ("mine", "retail", {"test": 96}),
    ]
    shown = greenroom("data", "list").out
    assert "greenroom-retail" in shown
    assert "MIT" in shown


@pytest.mark.official
def test_replay_of_recorded_airline_episodes(greenroom: Greenroom, official_data: Path) -> None:
    file = official_data / "trajectories/gpt-4o-airline.json"
    result = greenroom("replay", file, "--env", "airline", "--data", official_data, "--json")
    assert result.status == 0
    assert (result.json["rewards_agreeing"], result.json["episodes"]) == (200, 200)
    figures = {k: round(value, 3) for k, value in result.json["pass_hat_k"].items()}
    assert figures == {"1": 0.420, "2": 0.273, "3": 0.220, "4": 0.200}
    assert result.json["observations_differing"] == 120


@pytest.mark.official
def test_replay_of_recorded_retail_episodes(greenroom: Greenroom, official_data: Path) -> None:
    file = official_data / "trajectories/gpt-4.1-mini-retail.json"
    result = greenroom("replay", file, "--data", official_data)
    assert result.status == 0
    assert "Observations that differ: 0" in result.out
    assert result.out.splitlines()[-1] == "115/115 rewards agree"


def test_a_reward_that_does_not_agree_is_told(greenroom: Greenroom, tmp_path: Path) -> None:
    file = write_results(tmp_path, reward=1.0)
    result = greenroom("replay", file)
    assert result.status == 1
    assert "task 0, trial 0: recorded 1.0, replayed 0.0" in result.out
    assert "First differing observation: task 0, trial 0, step 1 (light)" in result.out
    assert result.out.splitlines()[-1] == "0/1 rewards agree"


@pytest.mark.slow
@pytest.mark.official
def test_conformance_with_the_recorded_traces(greenroom: Greenroom, official_data: Path) -> None:
    file = official_data / "conformance.jsonl"
    result = greenroom("conformance", file, "--data", official_data)
    assert result.status == 0
    assert result.out.splitlines()[-1] == "300/300 traces match"
