"""The environments in verifiers and OpenEnv: the real packages, in an environment of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from greenroom.domains.domain import Domain
from greenroom.model_server import RunningServer, running_server
from tests.chat_server import running_chat_server, tool_call
from tests.test_docs import blocks
from tests.training.played import TASKS, natively_played

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-training/bin/python"
PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="module")
def server(retail: Domain) -> Generator[RunningServer]:
    with running_server(retail) as running:
        yield running


def asked(program: str, given: Any) -> Any:
    """What a program with the packages of others prints."""
    assert PYTHON.exists(), "verifiers is not installed: 'make test' sets up .venv-training for it."
    done = subprocess.run(
        [PYTHON, "-W", "ignore", PROGRAMS / program],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.timeout(240)
def test_verifiers_plays_as_a_run_does(retail: Domain, server: RunningServer) -> None:
    base = server.api_base
    users = {"user_model": "user", "user_api_base": base}
    nobody = {"user_model": "user", "user_api_base": "http://127.0.0.1:9/v1", "model_retries": 0}

    def ask(tasks: list[int], options: dict[str, Any], **more: Any) -> dict[str, Any]:
        taskset = {"domain": "retail", "tasks": tasks, "options": options}
        return {"api_base": base, "model": "oracle", "rollouts": 2, "taskset": taskset, **more}

    episodes, cut, limited, broken = asked(
        "verifiers_program.py",
        [
            ask(list(range(TASKS)), users, model="synthetic-0.5", rollouts=1),
            ask([5], {"max_num_steps": 1}),
            ask([5], {}, agent={"max_turns": 1}),
            ask([5], nobody),
        ],
    )
    played = natively_played(base)
    assert [one["task"] for one in episodes] == [one.task for one in played]
    assert [one["errors"] for one in episodes] == [[]] * TASKS
    assert [one["reward"] for one in episodes] == [one.reward for one in played]
    for found, native in zip(episodes, played, strict=True):
        assert found["calls"] == [list(call) for call in native.calls]
        assert found["roles"][:2] == ["system", "user"]
        assert found["info"]["outcome"] == ("success" if native.reward else "failure")
        # The place of the task is all that verifiers is told of it.
        outputs = retail.task(native.task, "test").outputs
        written = json.dumps([native.observations, native.actions])
        assert not [one for one in outputs if one in found["record"] and one not in written]

    # Limits are truncation, whoever sets them; what breaks outside of the agent is an error.
    for found in cut:
        assert (found["ok"], found["reward"], found["truncated"]) == (True, 0.0, True)
        assert found["info"]["outcome"] == "max_steps"
    for found in limited:
        assert (found["reward"], found["stop"], found["truncated"]) == (0.0, "max_turns", True)
    for found in broken:
        assert found["ok"] is False
        assert "The simulated user broke" in found["errors"][0]


@pytest.mark.timeout(120)
def test_a_model_whose_calls_nobody_can_read_ends_as_in_a_run() -> None:
    def babble(_: dict[str, Any]) -> dict[str, Any]:
        message = tool_call("think")
        message["tool_calls"][0]["function"]["arguments"] = '{"thought": '
        return message

    with running_chat_server(babble) as model:
        taskset = {"domain": "retail", "tasks": [5]}
        ask = {"api_base": model.api_base, "model": "any", "rollouts": 1, "taskset": taskset}
        ((found,),) = asked("verifiers_program.py", [ask])
        assert (found["ok"], found["reward"], found["info"]["outcome"]) == (True, 0.0, "invalid")
        assert len(model.asked) == 5


@pytest.mark.timeout(240)
def test_the_programs_of_the_page_work(tmp_path: Path, server: RunningServer) -> None:
    for block in blocks(ROOT / "docs/training.md"):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text)
    variables = os.environ | {"OPENAI_BASE_URL": server.api_base, "PYTHONWARNINGS": "ignore"}
    first = subprocess.run(
        [PYTHON, "train_with_verifiers.py"],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert first.stdout == "[1.0, 1.0, 1.0, 1.0]\n"
    serve = [PYTHON, "-m", "uvicorn", "conversations:app", "--port", "0"]
    with subprocess.Popen(
        serve, cwd=tmp_path, env=variables, stderr=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stderr is not None
        try:
            lines = iter(serving.stderr.readline, "")
            address = next(m[0] for line in lines if (m := re.search(r"http://[\d.:]+", line)))
            second = subprocess.run(
                [PYTHON, "train_with_openenv.py", address],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
            )
        finally:
            serving.terminate()
            serving.communicate()
    assert second.stdout == "16 tools\n518.19\nTrue 0.0 failure\n"


@pytest.mark.timeout(120)
def test_the_command_of_the_page_works(tmp_path: Path, server: RunningServer) -> None:
    page = (ROOT / "docs/training.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith("vf-eval")]
    line = line.replace("gpt-4o-mini", "oracle").replace("-n 20 -r 4", "-n 2 -r 2")
    program, *arguments = [*line.split(), "--client.base-url", server.api_base]
    done = subprocess.run(
        [PYTHON.parent / program, *arguments],
        cwd=tmp_path,
        env=os.environ | {"OPENAI_API_KEY": "of-nobody", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "4/4" in done.stdout, done.stderr
    assert "reward 1.00" in done.stdout


@pytest.mark.timeout(240)
def test_openenvs_client_plays_twenty_tasks_as_a_run_does(server: RunningServer) -> None:
    base = server.api_base
    played = natively_played(base)
    given = {
        "training": {"env": "retail", "user_model": "user", "user_api_base": base},
        "episodes": [asdict(one) for one in played],
        "sessions": 20,
    }
    found = asked("openenv_program.py", given)
    assert found["metadata"]["name"] == "greenroom-retail"
    assert set(found["fields"]) >= {"message", "name", "arguments"}
    for one, native in zip(found["played"], played, strict=True):
        assert one["seen"] == native.observations
        assert one["ends"] == [False] * len(native.actions) + [True]
        assert one["reward"] == native.reward
        state, last = one["told"]
        assert set(state) == {"episode_id", "step_count", "task"}
        assert (state["task"], state["step_count"]) == (native.task, len(native.actions))
        empty = ("policy", "tools", "messages")
        assert [last[name] for name in empty] == [None] * 3
    # A seed gives the same episode, and sessions have each their own.
    assert all(first == again for first, again in found["begun"])
    assert len({first for first, _ in found["begun"]}) > 10

    assert found["cut"] == [True, True, 0.0, "max_steps"]
    refused = found["refused"]
    assert "reset the environment first" in refused["no reset"]
    assert "There is no task 9999" in refused["unknown task"]
    assert "Unknown options: tsk. Known: task, trial" in refused["unknown option"]
    for name in ("both", "neither"):
        assert "VALIDATION_ERROR" in refused[name]  # and the session goes on
    observation, reward, done = json.loads(refused["last"])
    assert (observation["text"], reward, done) == ("###STOP###", 0.0, True)
    assert "The episode is over" in refused["over"]
