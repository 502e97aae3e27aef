from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from greenroom.errors import InputError
from greenroom.model_server import RunningServer, Stats
from tests.model_server.command import command
from tests.model_server.wire import said, send

ROOT = Path(__file__).parents[2]


@contextmanager
def started(*options: str, token: str = "") -> Generator[tuple[subprocess.Popen[str], str]]:
    """The command as a process, and the first line that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.model_server.command", "model-server", *options],
        cwd=ROOT,
        env=os.environ | {"GREENROOM_TOKEN": token},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline()
        finally:
            process.kill()


def stopped(process: subprocess.Popen[str], number: signal.Signals) -> tuple[str, str]:
    """Stop the process: what else it printed."""
    assert process.stdout is not None
    assert process.stderr is not None
    process.send_signal(number)
    printed = process.stdout.read(), process.stderr.read()
    process.wait()
    return printed


def server_at(line: str) -> RunningServer:
    """The server that a line tells of."""
    found = re.search(r"at http://127\.0\.0\.1:(\d+)/v1$", line.strip())
    assert found, line
    return RunningServer("127.0.0.1", int(found[1]), Stats())


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_stopped(number: signal.Signals) -> None:
    with started("--port", "0", "--latency", "1ms-2ms") as (process, line):
        assert line.startswith("Serving 96 tasks of retail, split test, at http://127.0.0.1:")
        prompt = {"role": "system", "content": "You are a user."}
        assert said(server_at(line), [prompt]) == "Hello, I need some help."
        out, err = stopped(process, number)
        assert (process.returncode, err) == (0, "")
        assert "--model oracle --api-base http://127.0.0.1:" in out
        assert out.endswith("Answered 1 requests, 0 of them with a fault.\n")


@pytest.mark.slow
def test_the_command_takes_its_token_from_the_environment() -> None:
    with started("--port", "0", token="sesame") as (process, line):
        server = server_at(line)
        assert send(server, "/v1/models").status == 401
        allowed = send(server, "/v1/models", headers={"Authorization": "Bearer sesame"})
        assert allowed.json["data"][0]["id"] == "oracle"
        out, err = stopped(process, signal.SIGINT)
        assert "OPENAI_API_KEY=$GREENROOM_TOKEN greenroom run" in out
        assert "sesame" not in line + out + err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--latency", "soon"], "A time is"),
        (["--retry-after", "soon"], "A time is"),
        (["--faults", "fire"], "Unknown fault 'fire'"),
        (["--fault-rate", "2"], "from 0 to 1"),
        (["--host", "0.0.0.0"], "GREENROOM_TOKEN"),
        (["--task-split", "nowhere"], "Unknown split"),
        (["--env", "moon"], "Unknown env"),
    ],
)
def test_what_was_mistyped_is_told(
    monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    monkeypatch.delenv("GREENROOM_TOKEN", raising=False)
    with pytest.raises(InputError, match=re.escape(words)):
        command()(["model-server", "--port", "0", *options], standalone_mode=False)
