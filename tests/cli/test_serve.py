"""`greenroom serve`: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import Greenroom
from tests.workflows.serving import HELLO, Server, told

APP = """
from greenroom import chat_workflow, workflow

@chat_workflow
def support(messages):
    "Answers customers."
    return {"role": "assistant", "content": "Hello!"}

@workflow
def shout(text: str) -> str:
    return text.upper()
"""
COMMAND = "from greenroom.cli import main; main()"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.py"
    path.write_text(APP)
    return path


@contextmanager
def started(
    *arguments: str, cwd: Path | None = None, **environment: str
) -> Generator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=os.environ | environment,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def rest(process: subprocess.Popen[str]) -> tuple[str, str]:
    """All that is printed until the end, and errors; `communicate` loses what is buffered."""
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = process.stdout.read(), process.stderr.read()
    process.wait(timeout=30)
    return out, err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_and_ends_cleanly(app: Path, number: signal.Signals) -> None:
    with started(str(app), "--port", "0") as process:
        line = first_line(process)
        assert line.startswith("Serving at http://127.0.0.1:")
        server = Server(line.split()[-1])
        assert told(server, {"messages": HELLO})["content"] == "Hello!"
        assert told(server, {"inputs": {"text": "a"}}, "/shout/invoke") == "A"
        process.send_signal(number)
        out, err = rest(process)
    assert process.returncode == 0
    line, other = err.splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\S+Z POST /invoke 200 [\d.]+ ms \d+ bytes", line)
    assert " POST /shout/invoke 200 " in other
    assert f"  {server.address}/support  chat workflow support: Answers customers." in out
    assert f"  {server.address}/shout  workflow shout" in out
    assert f"greenroom chat {server.address}/support" in out
    assert out.endswith("Ctrl-C ends it.\nStopped.\n")


@pytest.mark.slow
def test_scripts_get_one_line_of_json(app: Path) -> None:
    with started(
        f"{app}:support", "--port", "0", "--json", GREENROOM_TOKEN="very-secret"
    ) as process:
        ready = json.loads(first_line(process))
        server = Server(ready["address"])
        assert ready["workflows"] == [
            {
                "name": "support",
                "is_chat": True,
                "address": server.address,
                "description": "Answers customers.",
            }
        ]
        assert server.post("/invoke", {"messages": HELLO}).status == 401
        assert told(server, {"messages": HELLO}, authorization="Bearer very-secret")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.py"], "There is no file missing.py."),
        (["{app}:other"], "Unknown workflow 'other'."),
        (["{app}", "--host", "0.0.0.0"], "Others can reach 0.0.0.0: set GREENROOM_TOKEN"),
        (["{app}", "{app}:nothing"], "Unknown workflow 'nothing'."),
        ([], "Name a workflow, as in app.py:name"),
        (["{app}", "--max-body", "0"], "--max-body"),
        (["{app}", "--timeout", "0"], "--timeout"),
        (["--reload"], "Name a workflow, as in app.py:name."),
    ],
)
def test_what_is_wrong_is_told(
    app: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.delenv("GREENROOM_TOKEN", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    result = Greenroom(capsys)("serve", *(one.format(app=app) for one in arguments))
    assert (result.status, result.out) == (2, "")
    assert words in result.err


def test_an_agent_without_a_model_is_not_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / "clerk.py"
    path.write_text(
        "from greenroom import from_callable\n\n\n"
        "def answer(messages, model):\n"
        '    return "Hello."\n\n\n'
        "clerk = from_callable(answer)\n"
    )
    result = Greenroom(capsys)("serve", f"{path}:clerk")
    assert (result.status, result.out) == (2, "")
    assert "has no model of its own, and its callers bring none" in result.err


@pytest.mark.slow
def test_a_call_that_does_not_end_holds_up_nothing(tmp_path: Path) -> None:
    path = tmp_path / "stuck.py"
    path.write_text(
        "import time\nfrom greenroom import workflow\n"
        "@workflow\ndef stuck():\n    open('began', 'w').close()\n    time.sleep(600)\n"
    )
    began = tmp_path / "began"
    with started(str(path), "--port", "0", "--json", cwd=tmp_path) as process:
        server = Server(json.loads(first_line(process))["address"])
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(server.post, "/invoke", {"inputs": {}})
            while not began.exists():
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=30)
            assert call.result().status == 503
    assert process.returncode == 0
    assert "Calls that still ran are left unfinished." in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_changed_files_are_served_without_a_restart(app: Path) -> None:
    with started(str(app), "--port", "0", "--reload", "--no-access-log") as process:
        server = Server(first_line(process).split()[-1])
        assert process.stderr is not None
        assert told(server, {"messages": HELLO})["content"] == "Hello!"
        app.write_text(APP.replace("Hello!", "Hello!!"))
        assert process.stderr.readline() == "app.py changed: the workflows are loaded anew.\n"
        assert told(server, {"messages": HELLO})["content"] == "Hello!!"
        app.write_text(APP + "\nthis is no Python")
        assert "SyntaxError" in process.stderr.readline()
        assert told(server, {"messages": HELLO})["content"] == "Hello!!"
        # A workflow that is new has routes of its own.
        app.write_text(APP.replace("def shout", "def whisper"))
        assert "loaded anew" in process.stderr.readline()
        assert told(server, {"inputs": {"text": "a"}}, "/whisper/invoke") == "A"
        assert server.post("/shout/invoke", {"inputs": {"text": "a"}}).status == 404
        process.send_signal(signal.SIGINT)
        _, err = rest(process)
    assert (process.returncode, err) == (0, "")


@pytest.mark.slow
def test_calls_that_take_too_long_are_504(app: Path) -> None:
    slow = APP.replace('return {"role"', 'import time; time.sleep(1)\n    return {"role"')
    app.write_text(slow)
    with started(f"{app}:support", "--port", "0", "--timeout", "0.1") as process:
        server = Server(first_line(process).split()[-1])
        reply = server.post("/invoke", {"messages": HELLO})
        assert (reply.status, reply.json["status"]["type"]) == (504, "Timeout")
