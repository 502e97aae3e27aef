"""`greenroom inspect`: what a workflow is, for people and for scripts."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from greenroom import chat_workflow
from greenroom.workflows import load_workflows
from greenroom.workflows.serve import create_app, running_app
from tests.cli.running import Greenroom
from tests.workflows.legacy_apps import old_agenta_app, old_completion_app

APP = '''
from greenroom import chat_workflow, workflow

@chat_workflow(parameters={"tone": "kind"})
def bot(messages, customer: str = "you"):
    """Answers [kindly] :smile:"""
    return {"role": "assistant", "content": "hi"}

@workflow
def capital(country: str) -> str:
    return country
'''


class Settings(BaseModel):
    tone: str = "kind"


@chat_workflow
def support(messages: list[dict[str, Any]], order: int, parameters: Settings) -> dict[str, Any]:
    """Helps with orders."""
    text = f"{parameters.tone}: {messages[-1]['content']} #{order}"
    return {"role": "assistant", "content": text}


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GREENROOM_TOKEN", raising=False)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.py"
    path.write_text(APP)
    return path


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    with running_app(create_app(support)) as running:
        yield running


def test_a_workflow_behind_an_address(greenroom: Greenroom, address: str) -> None:
    shown = greenroom("inspect", address)
    assert shown.status == 0, shown.err
    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    assert lines[:8] == [
        "support: a chat workflow",
        "Helps with orders.",
        "Decided by the flag request.flags.is_chat = true in /inspect",
        "Inputs messages (messages, required), order (integer, required)",
        "Tools not taken: no input 'tools' is declared",
        'Parameters tone (string) = "kind"',
        "Outputs message",
        f"Called by POST {address}/invoke",
    ]
    assert lines[-1] == f"greenroom chat {address}"


def test_the_line_for_the_shell_works(greenroom: Greenroom, address: str) -> None:
    line = greenroom("inspect", address, "--json").json["try"][0]
    done = subprocess.run(shlex.split(line), capture_output=True, check=True)
    assert orjson.loads(done.stdout)["data"]["outputs"]["content"] == "kind: Hello #0"


def test_the_line_for_the_shell_holds_no_token(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_TOKEN", "secret-token-1")
    with running_app(create_app(support, token="secret-token-1")) as address:
        shown = greenroom("inspect", address)
        assert '-H "Authorization: Bearer $GREENROOM_TOKEN"' in shown.out
        assert "secret-token-1" not in shown.out
        (line,) = [line for line in shown.out.splitlines() if "curl" in line]
        done = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert orjson.loads(done.stdout)["status"]["code"] == 200


def test_json_has_all_that_is_known(greenroom: Greenroom, address: str) -> None:
    facts = greenroom("inspect", f"{address}/invoke", "--json").json
    assert (facts["name"], facts["is_chat"], facts["interface"]) == ("support", True, "invoke")
    assert facts["address"] == address
    assert facts["flags"] == {"is_chat": True}
    assert facts["parameters"] == {"tone": "kind"}
    assert facts["schemas"]["inputs"]["properties"]["order"]["type"] == "integer"


def test_the_workflows_of_a_file(greenroom: Greenroom, app: Path) -> None:
    shown = greenroom("inspect", app)
    assert "bot: a chat workflow\nAnswers [kindly] :smile:\n" in shown.out
    assert "capital: not a chat workflow\n" in shown.out
    assert f"  greenroom chat {app}:capital\n" in shown.out
    assert [one["name"] for one in greenroom("inspect", app, "--json").json] == ["bot", "capital"]
    facts = greenroom("inspect", f"{app}:capital", "--json").json
    assert (facts["is_chat"], facts["interface"]) == (False, "local")


def test_old_apps(greenroom: Greenroom) -> None:
    with running_app(old_agenta_app({"is_chat": True})) as address:
        facts = greenroom("inspect", address, "--json").json
        assert facts["is_chat"]
        done = subprocess.run(shlex.split(facts["try"][0]), capture_output=True, check=True)
        assert orjson.loads(done.stdout)["data"]["content"] == "kind: Hello, you"
    with running_app(old_completion_app()) as address:
        shown = greenroom("inspect", address)
        assert "Capitals: not a chat workflow" in shown.out
        assert (
            "Decided by  default: there is no flag, and the inputs have no list of messages"
            in shown.out
        )
        assert f"Called by   POST {address}/run" in shown.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["http://127.0.0.1:1"], "Nothing listens at 127.0.0.1:1"),
        (["ftp://x"], "is not the address of a workflow"),
        (["nowhere.py"], "There is no file nowhere.py"),
        (["nowhere.py", "--model", "x"], "A model is named for an address"),
        (["nowhere:bot"], "There is no module 'nowhere'"),
    ],
)
def test_what_cannot_be_found_is_told(
    greenroom: Greenroom, arguments: list[str], words: str
) -> None:
    result = greenroom("inspect", *arguments)
    assert result.status == 2
    assert words in result.err


TOOLED = """
from greenroom import chat_workflow, workflow
from greenroom.workflows import Call

@chat_workflow
def tooled(messages, tools=None, order: int = 7):
    return {"role": "assistant", "content": "hi"}

@chat_workflow
def whole(messages, call: Call):
    return {"role": "assistant", "content": "hi"}

@workflow
def free(messages):
    return "hi"
"""


def test_required_inputs_defaults_and_tools_are_told(greenroom: Greenroom, tmp_path: Path) -> None:
    path = tmp_path / "tooled.py"
    path.write_text(TOOLED)
    lines = [" ".join(line.split()) for line in greenroom("inspect", path).out.splitlines()]
    assert "Inputs messages (messages, required), order (integer) = 7, tools (array) = []" in lines
    assert "Decided by the schema of the inputs, which has a list of messages" in lines
    facts = {one["name"]: one for one in greenroom("inspect", path, "--json").json}
    assert {name: one["takes_tools"] for name, one in facts.items()} == {
        "tooled": True,
        "whole": None,
        "free": False,
    }
    assert facts["tooled"]["required_inputs"] == ["messages"]
    with running_app(create_app(*load_workflows(str(path)))) as address:
        for name, near in facts.items():
            far = greenroom("inspect", f"{address}/{name}", "--json").json
            told = ("is_chat", "takes_tools", "required_inputs")
            assert {one: far[one] for one in told} == {one: near[one] for one in told}
