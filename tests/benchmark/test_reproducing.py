"""The commands that play a run again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from greenroom.benchmark.reproducing import commands_of
from tests.cli.running import Greenroom
from tests.reports.sample import run_record

COMMIT = "0123456789" * 4
MADE = "--env retail --seed 7 --tasks 20 --difficulty official"


def commands(pack: dict[str, Any], **config: Any) -> list[str]:
    return commands_of(run_record(2, 1, name="x", config=config, pack=pack))


def test_only_what_differs_from_the_defaults_is_said() -> None:
    config = {
        "agent_strategy": "tool-calling",
        "model": "gpt-4o",
        "temperature": 0.0,
        "num_trials": 4,
        "shuffle": True,
        "task_ids": [1, 2],
        "agent_options": {"style": "a b"},
        "cache": True,
        "gates": ["pass^1>=0.5"],
        "data": None,
        "nothing_that_is_known": 1,
    }
    (command,) = commands({}, **config)
    assert command == (
        "greenroom run --agent-strategy tool-calling --agent-option 'style=a b' --task-ids 1,2 "
        "--shuffle 1 --num-trials 4 --model gpt-4o --cache --name x"
    )


@pytest.mark.parametrize(
    ("pack", "lines"),
    [
        (
            {"source": "checkout of amazon-agi/tau2-bench-verified", "edition": "tau2"}
            | {"commit": COMMIT},
            [
                "git clone https://github.com/amazon-agi/tau2-bench-verified",
                f"git -C tau2-bench-verified checkout {COMMIT}",
                "greenroom data import tau2-bench-verified",
                "greenroom run --data tau2-verified --name x",
            ],
        ),
        (
            {"source": "checkout of sierra-research/tau-bench", "commit": COMMIT},
            [
                "git clone https://github.com/sierra-research/tau-bench",
                f"git -C tau-bench checkout {COMMIT}",
                "greenroom data import tau-bench",
                "greenroom run --data tau-bench --name x",
            ],
        ),
        (
            {"name": "tau2", "source": "as carried by the wheel w 1", "edition": "tau2"},
            ["greenroom data pull tau2", "greenroom run --data tau2 --name x"],
        ),
        ({"name": "own", "source": "/home/me/own"}, ["greenroom run --data ./own --name x"]),
        (
            {"name": "greenroom-retail-7", "version": "1+seed.7.tasks.20.official"}
            | {"source": "generated: seed 7"},
            [
                f"greenroom generate {MADE} -o greenroom-retail-7",
                "greenroom run --data greenroom-retail-7 --name x",
            ],
        ),
    ],
)
def test_the_data_is_fetched_first_where_its_source_is_known(
    pack: dict[str, Any], lines: list[str]
) -> None:
    assert commands(pack, data="/home/me/own") == lines


def test_a_bare_name_stays_as_it_is() -> None:
    assert commands({}, data="mine") == ["greenroom run --data mine --name x"]


@pytest.mark.parametrize(
    ("env", "difficulty"), [("retail", "easy"), ("airline", "hard"), ("telecom", "official")]
)
def test_the_command_makes_the_pack_that_was_played(
    greenroom: Greenroom,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    env: str,
    difficulty: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    made = ("--env", env, "--seed", -3, "--tasks", 4, "--difficulty", difficulty)
    assert greenroom("generate", *made, "-o", "mine").status == 0
    assert greenroom("run", "--env", env, "--data", "mine", "--name", "first").status == 0
    card = greenroom("runs", "card", "first", "--json").json
    fetch, play = (shlex.split(line)[1:] for line in card["commands"])
    assert greenroom(*fetch).status == 0
    assert greenroom(*play[:-1], "second").status == 0
    again = greenroom("runs", "card", "second", "--json").json
    assert again["task_set"]["hashes"] == card["task_set"]["hashes"]
    assert again["figures"] == card["figures"]
