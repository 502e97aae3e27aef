from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.benchmark.config import RunConfig, check_config
from greenroom.cli import tau_bench_run
from greenroom.cli.options import spelt_out_switches
from greenroom.errors import InputError
from greenroom.options import joined_lists
from greenroom.store import open_store
from tests.cli.running import Greenroom


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        (["--task-ids", "1,2,3"], ["--task-ids", "1,2,3"]),
        (["--task-ids", "1", "2", "3"], ["--task-ids", "1,2,3"]),
        (["--task-ids", "1,", "2,", "3", "--json"], ["--task-ids", "1,,2,,3", "--json"]),
        (["--task-ids=1", "2"], ["--task-ids=1", "2"]),
        (
            ["--json", "--task-ids", "4", "--seed", "7"],
            ["--json", "--task-ids", "4", "--seed", "7"],
        ),
        (["--seed", "7", "8"], ["--seed", "7", "8"]),
        (["--task-ids"], ["--task-ids"]),
        (
            ["--exclude-tasks", "a.json", "--seed", "7", "--exclude-tasks=4", "--task-ids=1"],
            ["--exclude-tasks", "a.json,4", "--seed", "7", "--task-ids=1"],
        ),
        (
            ["--task-ids", "task_1", "[x]y|z:[P]", "--json"],
            ["--task-ids", "task_1,[x]y|z:[P]", "--json"],
        ),
    ],
)
def test_a_list_in_one_word_or_in_several(words: list[str], joined: list[str]) -> None:
    assert joined_lists(words) == joined


def test_numbers_of_tasks() -> None:
    assert RunConfig().task_ids is None
    assert check_config({"task_ids": "1,,2, 3"}).task_ids == [1, 2, 3]
    assert check_config({"task_ids": "task_001 2"}).task_ids == ["task_001", 2]
    with pytest.raises(InputError, match="--task-ids takes places or ids"):
        check_config({"task_ids": " , "})


def test_options_of_an_agent() -> None:
    given = check_config({"agent_options": ["a=1", "b=x=y"]})
    assert given.agent_options == {"a": "1", "b": "x=y"}
    for pair in ("a", "=1"):
        with pytest.raises(InputError, match="NAME=VALUE"):
            check_config({"agent_options": [pair]})


@pytest.mark.parametrize("ids", [["1,2,3"], ["1", "2", "3"], ["1,2", "3"]])
def test_commands_take_both_spellings(greenroom: Greenroom, ids: list[str]) -> None:
    for command in (["tasks", "list"], ["run"]):
        result = greenroom(*command, "--task-ids", *ids, "--json")
        assert result.status == 0, result.err
        assert len(result.json["episodes"] if command == ["run"] else result.json) == 3


@pytest.mark.parametrize(
    ("words", "spelt"),
    [
        (["--clear-cache"], ["--clear-cache", "true"]),
        (["--clear-cache", "false"], ["--clear-cache", "false"]),
        (["--clear-cache", "--seed", "3"], ["--clear-cache", "true", "--seed", "3"]),
        (["--seed", "3"], ["--seed", "3"]),
    ],
)
def test_a_switch_with_or_without_a_value(words: list[str], spelt: list[str]) -> None:
    assert spelt_out_switches(words) == spelt


@pytest.mark.parametrize(
    ("words", "cached"),
    [
        (["--clear-cache"], False),
        (["--clear-cache", "true", "--cache"], True),
        # The specification of FastWorkflow on Tau Bench: "cache results if --clear-cache false".
        (["--clear-cache", "false"], True),
        (["--no-cache"], False),
    ],
)
def test_the_cache_is_switched_in_every_spelling(
    greenroom: Greenroom, tmp_path: Path, words: list[str], cached: bool
) -> None:
    assert greenroom("run", "--task-ids", 1, "--json", *words).status == 0
    common = ["--agent-strategy", "oracle", "--task-ids", "1", "--log-dir", str(tmp_path)]
    tau_bench_run.play(tau_bench_run.parse([*common, *words]))
    runs = open_store().runs.all()
    assert [run.config["cache"] for run in runs] == [cached, cached]


def test_a_cache_is_cleared_or_not(greenroom: Greenroom) -> None:
    result = greenroom("run", "--task-ids", 1, "--clear-cache=maybe")
    assert (result.status, result.err) == (
        2,
        "error: --clear-cache takes true or false, not 'maybe'.\n",
    )


def test_agents_show_their_settings(greenroom: Greenroom) -> None:
    shown = greenroom("agents", "show", "synthetic")
    assert "--success ...  The chance that a task is solved" in shown.out
    assert "Default: 0.8." in shown.out
    listed = greenroom("agents", "list", "--json").json
    settings = {one["name"]: set(one["settings"]) for one in listed}
    assert settings["synthetic"] == {"success", "spread"}
    assert "bridge" in settings["fastworkflow"]
