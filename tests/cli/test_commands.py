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


def test_tasks_show_tells_both_parties_and_what_counts(greenroom: Greenroom) -> None:
    thermostat = Path(__file__).parents[2] / "examples/by_path/thermostat.py"
    lines = greenroom("tasks", "show", 0, "--env", thermostat).out.splitlines()
    for line in (
        "  user: lock()",
        "  user: read_display()",
        "  pair(account='A-1', code='4711')",
        "  user: set_mode(mode='heat')",
        "  user: is_heating() is True",
        "Counts: database, assertions",
    ):
        assert line in lines
    # The buttons are locked before anybody acts: the set-up is no change of the ground truth.
    assert "Changes: accounts[A-1], user.thermostats[mine]" in lines


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
        f"task 3 ({tasks[3]['id']}): has no instruction",
        "2 criteria of these tasks are not scored (see tasks show).",
        "95/96 tasks are sound",
    ]
    assert "be brief" in greenroom("tasks", "show", 4, "--data", pack).out
    assert greenroom("tasks", "validate", "--data", pack, "--json").json == {
        "tasks": 96,
        "unscored_criteria": 2,
        "solved_by_doing_nothing": [],
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
    found = [(row["data"], row["env"], row["splits"]) for row in rows]
    assert ("(default)", "retail", {"test": 96}) in found
    assert [row for row in found if row[0] != "(default)"] == [("mine", "retail", {"test": 96})]
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


def test_rows_that_crashed_are_left_out_of_a_replay(greenroom: Greenroom, tmp_path: Path) -> None:
    file = write_results(tmp_path, reward=0.0)
    (row,) = json.loads(file.read_text())
    crashed = row | {"task_id": 1, "traj": [], "info": {"error": "Timeout", "traceback": "..."}}
    ours = row | {"task_id": 2, "info": {"error": "Fault", "infrastructure_error": True}}
    file.write_text(json.dumps([row, crashed, ours]))
    result = greenroom("replay", file, "--json").json
    assert (result["episodes"], result["crashed"], result["rewards_agreeing"]) == (1, 2, 1)
    shown = greenroom("replay", file).out.splitlines()
    assert "Left out: 2 episodes that crashed and were never played" in shown
    assert shown[-1] == "1/1 rewards agree"
    option = ("--agent-option", f"file={file}", "--max-retries", 0)
    run = greenroom("run", "--agent-strategy", "replay", *option, "--end-index", 3, "--json").json
    assert [episode["outcome"] for episode in run["episodes"]] == [
        "failure",
        "infrastructure_error",
        "infrastructure_error",
    ]


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


@pytest.mark.slow
def test_what_a_pack_warns_of_is_said_at_the_start_and_beside_the_figure(
    greenroom: Greenroom, tmp_path: Path
) -> None:
    pack = tmp_path / "pack"
    assert greenroom("generate", "--tasks", 3, "-o", pack).status == 0
    info = json.loads((pack / "pack.json").read_text())
    (pack / "pack.json").write_text(json.dumps(info | {"caveats": ["The tools are others."]}))
    result = greenroom("run", "--data", pack, "--name", "warned")
    assert result.err.startswith("note: The tools are others.\n")
    assert "\nThe tools are others.\n" in result.out
    report = greenroom("runs", "show", "warned", "--json").json
    assert report["notes"][0] == "The tools are others."
