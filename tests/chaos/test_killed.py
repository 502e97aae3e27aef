"""A process is killed in the middle: of a workflow, of a run whose agents are commands."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from pathlib import Path

import pytest

from tests.chaos.jobs import GUIDE, NAME, Process, Scene
from tests.chaos.provider import Connection, answers
from tests.chaos.waiting import PATIENCE, free_port, is_open, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def serve(scene: Scene, port: int) -> Process:
    scene.env["CHAOS_PROVIDER"] = scene.provider.api_base
    server = scene.start("serve", GUIDE, "--port", port)

    def is_up() -> bool:
        assert server.alive, server.stderr
        return is_open("127.0.0.1", port)

    wait_for(is_up, "the server")
    return server


@pytest.mark.parametrize("again", ["retried", "resumed"])
def test_the_server_of_a_workflow_is_killed_in_an_evaluation(scene: Scene, again: str) -> None:
    port = free_port()
    server = serve(scene, port)
    scene.tasks, scene.provider.delay = 24, 0.1
    retries = ("--max-retries", 30 if again == "retried" else 0)
    process = scene.evaluate(f"http://127.0.0.1:{port}/guide", *retries)
    scene.wait_for_results(8, process)
    wait_for(lambda: scene.provider.under_way >= 2, "calls under way")
    server.popen.kill()
    server.end()
    if again == "retried":
        serve(scene, port)
        assert process.end() == 0, process.stderr
        scene.assert_nothing_is_lost_or_twice_or_unpaid(cancelled=scene.at_once)
        return
    assert process.end() == 0, process.stderr
    assert "Some calls gave no answer" in process.stdout
    serve(scene, port)
    before, since = scene.assert_it_goes_on()
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since, cancelled=scene.at_once)


def test_the_server_of_an_agent_is_killed_in_a_run(scene: Scene) -> None:
    port = free_port()
    server = serve(scene, port)
    scene.calls_per_cell, scene.provider.delay = 1, 0.1
    process = scene.run("--max-retries", 30, workflow=f"http://127.0.0.1:{port}/talker")
    scene.wait_for_results(3, process)
    wait_for(lambda: scene.provider.under_way >= 2, "calls under way")
    server.popen.kill()
    server.end()
    serve(scene, port)
    assert process.end() == 0, process.stderr
    scene.assert_nothing_is_lost_or_twice_or_unpaid(cancelled=scene.at_once)


def test_the_own_process_of_a_workflow_is_killed(scene: Scene) -> None:
    """It is the workflow's fault: the row counts as a crash, once, and is not called again."""
    killed = 3
    waiting = threading.Event()

    def holds(connection: Connection, answer: bytes) -> str:
        if connection.seed != killed:
            return answers(connection, answer)
        waiting.set()
        connection.stall()
        return "broken"

    scene.provider.behaviour = holds
    process = scene.evaluate(f"{GUIDE}:apart")
    assert waiting.wait(PATIENCE), process.stderr
    os.kill(int((scene.folder / f"child-{killed}").read_text()), signal.SIGKILL)
    assert process.end() == 0, process.stderr
    scene.assert_nothing_is_lost_or_twice_or_unpaid()
    outcomes = scene.look(lambda jobs, job: {r.row: r.outcome for r in jobs.results(job.id)})
    assert outcomes.pop(killed) == "crashed"
    assert set(outcomes.values()) == {"answered"}
    assert scene.used().lost_calls == 1


HANGS = """
import json, os, subprocess, sys, time
folder = sys.argv[1]
asleep = [sys.executable, "-c", "import time; time.sleep(600)"]
hangs = not os.path.exists(f"{folder}/go")
for line in sys.stdin:
    if "user" not in json.loads(line):
        continue
    if hangs:
        left = subprocess.Popen(asleep, start_new_session=True)
        name = f"{folder}/{os.getpid()}"
        with open(f"{name}.part", "w") as file:
            print(os.getpid(), left.pid, file=file)
        os.rename(f"{name}.part", f"{name}.pids")
        time.sleep(600)
    print(json.dumps({"message": "Hello."}), flush=True)
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found by /proc")
def test_a_run_that_is_killed_leaves_no_agent_behind(scene: Scene) -> None:
    told, own = scene.folder / "told", scene.folder / "folders"
    told.mkdir()
    own.mkdir()
    scene.env["TMPDIR"] = str(own)
    program = scene.folder / "hangs.py"
    program.write_text(HANGS)
    line = shlex.join([sys.executable, str(program), str(told)])
    words = ("run", "--agent-command", line, "--name", NAME, "--end-index", 2)
    scene.tasks, scene.trials = 2, 1
    process = scene.start(*words, "--max-concurrency", 2)

    def hanging() -> list[int]:
        assert process.alive, process.stderr
        return [int(pid) for file in told.glob("*.pids") for pid in file.read_text().split()]

    wait_for(lambda: len(hanging()) == 4, "two agents, and what they have started")
    pids = hanging()
    process.signal(signal.SIGKILL)
    process.end()
    wait_for(lambda: not any(map(_runs, pids)), "the end of all that the agents were")
    wait_for(lambda: not list(own.iterdir()), "the end of their folders")
    (told / "go").touch()
    process = scene.resume()
    assert process.end() == 0, process.stderr
    assert len(scene.finished()) == 2
    assert not list(own.iterdir())


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"  # dead, and nobody has looked yet
