"""Runs with scripts: kept with the run, refused at once, resumed, rewound and replayed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.benchmark import check_config, play_run, reopen_run, start_run
from greenroom.benchmark.rewind_runs import start_rewind
from greenroom.errors import InputError
from greenroom.store import EpisodeRecord, RunRecord, Store
from tests.benchmark import slow_agent

COMMAND = "from greenroom.cli.app import main; main()"
SCRIPT = """
[[scripts]]
opening = "Hello, please help me."
lines = ["One more time?", "And again?"]
otherwise = { stop = true }

[[scripts.answers]]
says = "for your records"
times = 1
say = "Thank you. What about the rest?"

[[scripts.answers]]
from_turn = 4
stop = true
"""
THERMOSTATS = Path(__file__).parents[2] / "examples" / "by_path" / "thermostat.py"


def written(folder: Path, text: str = SCRIPT) -> Path:
    path = folder / "user.toml"
    path.write_text(text)
    return path


def begun(store: Store, script: Path, **config: Any) -> tuple[RunRecord, Any]:
    fields: dict[str, Any] = {
        "agent_strategy": "oracle",
        "user_options": {"script": str(script)},
        "task_ids": [1, 4, 5],
    }
    return start_run(store, check_config(fields | config), name="run")


def said(episode: EpisodeRecord) -> list[str]:
    """What the user said, the opening first."""
    replies = [step.observation for step in episode.steps if step.action.name == "respond"]
    return [episode.opening, *replies]


def test_a_run_keeps_its_script(store: Store, tmp_path: Path) -> None:
    script = written(tmp_path)
    run, context = begun(store, script, num_trials=4)
    script.write_text('[[scripts]]\nopening = "Changed."')
    anyio.run(play_run, store, run, context)
    again, reopened = reopen_run(store, "run")
    assert reopened.user_settings == context.user_settings
    assert again.config["user_options"]["script"]["source"] == "user.toml"
    told = {(one.task_index, one.trial): said(one) for one in store.runs.results(run.id)}
    assert len(told) == 12
    stop = "###STOP###"
    more = ["One more time?", "And again?"]
    thanks = "Thank you. What about the rest?"
    opening = "Hello, please help me."
    for (task, _), words in told.items():
        # The oracle says the outputs, if there are any, again and again.
        first = [thanks, *more] if task in (4, 5) else [*more, stop]
        assert words == [opening, *first, *([stop] if task in (4, 5) else [])]


@pytest.mark.parametrize(
    ("text", "config", "told"),
    [
        ("[[scripts]]\ntasks = [1, 4]", {}, r"no script for task 5: add one with tasks = \[5\]"),
        ("[[scripts]]\n[[scripts]]\ntasks = ['retrun-73']", {}, r"'retrun-73', which no split has"),
        ("[[scripts]]\n[[scripts]]\ntasks = ['4']", {}, r"A place is written without quotes: 4\."),
        ("[[scripts]]\n[[scripts]]\ntasks = [9999]", {}, r"name the task 9999, which no split has"),
        ('[[scripts]]\nlines = ["{{city}}"]', {}, r"placeholder \{\{city\}\}.*is no column here"),
        (
            '[[scripts]]\nlines = [{calls = [{tool = "reboot"}], stop = true}]',
            {},
            r"script 1 calls reboot, which users do not have here\. Their tools: none",
        ),
        (
            '[[scripts]]\nlines = [{calls = [{tool = "reboot"}], stop = true}]',
            {"env": f"{THERMOSTATS}", "task_ids": [0]},
            r"script 1 calls reboot, which users do not have here\. Their tools: read_display",
        ),
    ],
)
def test_a_script_that_does_not_fit_is_refused_before_anything_is_kept(
    text: str, config: dict[str, Any], told: str, store: Store, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=told):
        begun(store, written(tmp_path, text), **config)
    assert list(store.runs.all()) == []


def test_an_agent_whom_the_script_does_not_expect_gets_an_infrastructure_error(
    store: Store, tmp_path: Path
) -> None:
    script = written(tmp_path, '[[scripts]]\nanswers = [{says = "hello", say = "Hi."}]')
    run, context = begun(store, script, max_retries=0, task_ids=[1])
    anyio.run(play_run, store, run, context)
    (episode,) = store.runs.results(run.id)
    assert (episode.outcome, episode.reward) == ("infrastructure_error", None)
    assert episode.error is not None
    assert "no answer to the agent's message 1, 'All done.': user.toml, script 1" in episode.error


def test_trials_from_the_middle_go_on_with_the_script(store: Store, tmp_path: Path) -> None:
    run, context = begun(store, written(tmp_path), task_ids=[5])
    anyio.run(play_run, store, run, context)
    (whole,) = store.runs.results(run.id)
    for step in range(2, len(whole.steps) + 1):
        started = start_rewind(store, "run", 5, step=step, trials=2)
        anyio.run(play_run, store, started.run, started.context)
        assert [said(one) for one in store.runs.results(started.run.id)] == [said(whole)] * 2


def test_a_user_acts_by_its_script(store: Store, tmp_path: Path) -> None:
    script = written(
        tmp_path,
        """
        [[scripts]]
        opening = { say = "It is cold. {{result}}", calls = [{ tool = "read_display" }] }
        """,
    )
    run, context = begun(store, script, env=f"{THERMOSTATS}", task_ids=[0])
    anyio.run(play_run, store, run, context)
    (episode,) = store.runs.results(run.id)
    assert episode.reward == 1.0
    assert episode.opening.startswith("It is cold. ")
    assert episode.opening_calls[0].observation in episode.opening
    # What a rehearsal asks for is done without a line in the script.
    assert "I have done that." in said(episode)


@pytest.mark.slow
def test_a_killed_run_goes_on_elsewhere_without_the_file(store: Store, tmp_path: Path) -> None:
    script, log = written(tmp_path), tmp_path / "log"
    agent = f"{slow_agent.__file__}:strategy"
    environment = {
        **os.environ,
        slow_agent.LOG_VARIABLE: str(log),
        slow_agent.SECONDS_VARIABLE: "0.4",
    }
    options = ["--task-ids", "1", "4", "5", "--num-trials", "3", "--max-concurrency", "2"]
    told = ["--agent-strategy", agent, "--user-option", f"script={script}", "--name", "killed"]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "run", *options, *told],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not log.exists() or log.read_text().count("\n") < 4:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    script.unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    subprocess.run(
        [sys.executable, "-c", COMMAND, "resume", "killed"],
        env=environment,
        cwd=elsewhere,
        check=True,
        capture_output=True,
    )
    run = store.runs.find("killed")
    episodes = list(store.runs.results(run.id))
    assert len(episodes) == 9
    assert {one.opening for one in episodes} == {"Hello, please help me."}
    replay = subprocess.run(
        [sys.executable, "-c", COMMAND, "replay", "killed"],
        env=environment,
        cwd=elsewhere,
        capture_output=True,
        text=True,
        check=False,
    )
    assert replay.returncode == 0, replay.stdout + replay.stderr
