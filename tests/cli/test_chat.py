"""`greenroom chat`: a conversation in a script, at a terminal, and with Ctrl-C."""

from __future__ import annotations

import builtins
import io
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from greenroom.store import open_store
from greenroom.workflows import load_workflows
from greenroom.workflows.serve import create_app, running_app
from tests.cli.running import Greenroom, Result
from tests.conftest import ROOT

APP = '''
import asyncio
from pathlib import Path
from greenroom import chat_workflow, workflow

@chat_workflow(parameters={"tone": "kind", "loud": False})
def bot(messages, parameters, session_id, customer: str = "you"):
    """Answers."""
    said = messages[-1]["content"]
    if said == "fail":
        raise LookupError("no such thing")
    text = f"{parameters['tone']}: {said}, {customer} ({len(messages)})"
    return {"role": "assistant", "content": text.upper() if parameters["loud"] else text}

@chat_workflow
async def agent(messages):
    yield "Let me see. "
    yield {"type": "tool_call", "id": "c1", "name": "look_up", "input": {"id": 7}}
    yield {"type": "tool_result", "id": "c1", "output": {"found": True}}
    yield "\\x1b[31mIt is :smile: [b]"
    yield "there."

@chat_workflow
def historian(messages):
    answer = {"role": "assistant", "content": f"{len(messages)} so far"}
    return {"messages": [*messages, answer]}

@chat_workflow
async def slow(messages):
    yield "thinking"
    if messages[-1]["content"] == "slow":
        await asyncio.sleep(60)
    yield f" done ({len(messages)})"

@workflow
def capital(country: str) -> str:
    return f"the capital of {country}"

@workflow
def add(a: int, b: int) -> dict:
    return {"sum": a + b}

@workflow
def now() -> str:
    return "noon"
'''

Type = Callable[..., Result]


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.py"
    path.write_text(APP)
    return path


@pytest.fixture
def piped(greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch) -> Type:
    """A command with lines on its standard input."""

    def run(lines: str, *arguments: object) -> Result:
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        return greenroom("chat", *arguments)

    return run


@pytest.fixture
def typed(greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch) -> Type:
    """A command at a terminal where these lines are typed; a class of exception is raised."""

    def run(lines: list[Any], *arguments: object) -> Result:
        left = iter([*lines, EOFError])

        def read(prompt: str) -> str:
            line = next(left)
            print(prompt, end="")
            if not isinstance(line, str):
                raise line
            print(line)
            return line

        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        monkeypatch.setattr(sys, "stdin", Terminal())
        monkeypatch.setattr(builtins, "input", read)
        return greenroom("chat", *arguments)

    return run


# In a script --------------------------------------------------------------------------------------


def test_messages_are_said_in_turn(greenroom: Greenroom, app: Path) -> None:
    result = greenroom("chat", f"{app}:bot", "-m", "hi", "--message", "bye")
    assert (result.status, result.out, result.err) == (
        0,
        "kind: hi, you (1)\nkind: bye, you (3)\n",
        "",
    )


def test_lines_of_the_standard_input_are_said_in_turn(piped: Type, app: Path) -> None:
    result = piped("hi\n\nbye", f"{app}:bot", "--input", "customer=Bob", "--param", "loud=true")
    assert result.out == "KIND: HI, BOB (1)\nKIND: BYE, BOB (3)\n"
    assert piped("", f"{app}:bot").out == ""


def test_json_has_the_conversation_and_the_answers(greenroom: Greenroom, app: Path) -> None:
    facts = greenroom("chat", f"{app}:bot", "-m", "hi", "--session", "s1", "--json").json
    answer = {"role": "assistant", "content": "kind: hi, you (1)"}
    assert facts["session_id"] == "s1"
    assert facts["messages"] == [{"role": "user", "content": "hi"}, answer]
    (told,) = facts["answers"]
    assert (told["outputs"], told["cost"]) == (answer, None)


def test_tool_calls_are_shown_beside_what_is_said(greenroom: Greenroom, app: Path) -> None:
    for address in (f"{app}:agent", None):
        if address is None:
            with running_app(create_app(*load_workflows(f"{app}:agent"))) as running:
                result = greenroom("chat", running, "-m", "hi")
        else:
            result = greenroom("chat", address, "-m", "hi")
        # What could do things to the terminal is left out.
        assert result.out == "Let me see. \n[31mIt is :smile: [b]there.\n"
        assert result.err == '→ look_up {"id": 7}\n← {"found": true}\n'


def test_a_workflow_that_answers_with_the_whole_history(greenroom: Greenroom, app: Path) -> None:
    result = greenroom("chat", f"{app}:historian", "-m", "a", "-m", "b")
    assert result.out == "1 so far\n3 so far\n"
    facts = greenroom("chat", f"{app}:historian", "-m", "a", "-m", "b", "--json").json
    assert [message["role"] for message in facts["messages"]] == ["user", "assistant"] * 2


def test_what_does_not_chat_gets_an_input_per_line(
    piped: Type, greenroom: Greenroom, app: Path
) -> None:
    assert piped("France\nPeru\n", f"{app}:capital").out == (
        "the capital of France\nthe capital of Peru\n"
    )
    assert piped('{"a": 1, "b": 2}\n', f"{app}:add").out == '{"sum": 3}\n'
    assert piped("2\n", f"{app}:add", "--input", "a=40").out == '{"sum": 42}\n'
    assert piped("", f"{app}:add", "--input", "a=1", "--input", "b=2").out == '{"sum": 3}\n'
    assert piped("", f"{app}:now").out == "noon\n"
    facts = greenroom("chat", f"{app}:capital", "-m", "Peru", "--json").json
    assert (facts["messages"], facts["answers"][0]["outputs"]) == ([], "the capital of Peru")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{app}:bot", "-m", "fail"], "no such thing"),
        (["{app}:add", "-m", "1"], "'add' needs a, b: write them as one JSON object"),
        (["{app}:add", "-m", "x", "--input", "a=1"], "b takes JSON (integer), not 'x'"),
        (["{app}:add", "--input", "a"], "--input takes NAME=VALUE, not 'a'"),
        (["{app}:bot", "--param", "=1"], "--parameter takes NAME=VALUE, not '=1'"),
        (["{app}", "-m", "hi"], "There are several workflows in"),
        (["http://127.0.0.1:1", "-m", "hi"], "Nothing listens at 127.0.0.1:1"),
    ],
)
def test_what_goes_wrong_in_a_script_ends_it(
    piped: Type, app: Path, arguments: list[str], words: str
) -> None:
    result = piped("", *(word.replace("{app}", str(app)) for word in arguments))
    assert result.status == 2
    assert words in result.err
    assert "Traceback" not in result.err


def test_inputs_that_are_missing_are_named(piped: Type, app: Path) -> None:
    result = piped("", f"{app}:add", "--input", "a=1")
    assert (result.status, "'add' needs b: see --input." in result.err) == (2, True)


# At a terminal ------------------------------------------------------------------------------------


def test_a_conversation_at_a_terminal(typed: Type, app: Path) -> None:
    result = typed(["hi", "", "//bye", "/reset", "again", "/quit", "never"], f"{app}:bot")
    assert result.status == 0
    said = [line for line in result.out.splitlines() if line.startswith("kind: ")]
    assert said == ["kind: hi, you (1)", "kind: /bye, you (3)", "kind: again, you (1)"]
    assert "never" not in result.out
    assert "/help shows what can be typed" in result.err


def test_a_failure_or_a_slip_does_not_end_the_conversation(typed: Type, app: Path) -> None:
    result = typed(["hi", "fail", "/dance", KeyboardInterrupt, "/help", "bye"], f"{app}:bot")
    assert result.status == 0
    assert "error: no such thing\n" in result.err
    assert "There is no /dance. /help lists what there is." in result.err
    assert "Ctrl-D or /quit ends." in result.err
    assert "/save TESTSET" in result.err
    # The turn that failed is not in the history.
    assert "kind: bye, you (3)" in result.out


def test_what_does_not_chat_is_asked_for_its_inputs(typed: Type, app: Path) -> None:
    result = typed(["1", "2", "x", "y", '{"a": 3, "b": 4}'], f"{app}:add")
    assert result.status == 0
    assert "add does not chat: each call gets its inputs" in result.err
    assert result.out.count('{"sum": ') == 2
    assert "a: 1\nb: 2\n" in result.out
    assert "error: a takes JSON (integer), not 'x'." in result.err
    assert "noon" in typed([""], f"{app}:now").out


def test_a_conversation_is_kept_in_a_test_set(typed: Type, app: Path) -> None:
    result = typed(
        ["/save shop", "hi", "/save", "bye", "/save shop", "/save shop"],
        f"{app}:bot",
        "--input",
        "customer=Bob",
    )
    assert "There is nothing to keep yet" in result.err
    assert "Name a test set" in result.err
    assert "Kept as row 1 of shop@1." in result.err
    assert "Kept as row 2 of shop@2." in result.err
    store = open_store()
    first, second = store.test_sets.rows(store.test_sets.find("shop"))
    assert first == second
    assert [message["content"] for message in first["messages"]] == [
        "hi",
        "kind: hi, Bob (1)",
        "bye",
    ]
    assert first["customer"] == "Bob"
    assert first["expected"] == {"role": "assistant", "content": "kind: bye, Bob (3)"}


def test_rows_are_kept_under_the_name_that_the_test_set_has(typed: Type, app: Path) -> None:
    store = open_store()
    store.test_sets.add("capitals", [{"country": "Peru", "correct_answer": "Lima"}])
    typed(["France", "/save capitals"], f"{app}:capital")
    assert list(store.test_sets.rows(store.test_sets.find("capitals")))[1] == {
        "country": "France",
        "correct_answer": "the capital of France",
    }


class Terminal:
    """The command in a process of its own, at a real terminal."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-c", "from greenroom.cli import main; main()", *arguments]
        self._end, inner = pty.openpty()
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=inner, stdout=inner, stderr=inner)
        os.close(inner)
        self.seen = ""

    def expect(self, words: str) -> None:
        """Wait until the words appear, behind what was expected before."""
        self.insist(lambda: None, words)

    def insist(self, action: Callable[[], None], words: str) -> None:
        """Do something until the words appear: what comes in the wrong moment goes unheard."""
        until = time.monotonic() + 40
        action()
        while words not in self.seen:
            assert time.monotonic() < until, f"{words!r} is not in {self.seen!r}"
            ready, _, _ = select.select([self._end], [], [], 1.0)
            if ready:
                self.seen += os.read(self._end, 65536).decode()
            else:
                action()
        self.seen = self.seen.partition(words)[2]

    def interrupt(self) -> None:
        os.kill(self.process.pid, signal.SIGINT)

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def end(self) -> int:
        """Press Ctrl-D until the program has ended: its status."""
        for _ in range(40):
            self.type("\x04")
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(1)
        raise AssertionError(f"it does not end: {self.seen!r}")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._end)


@pytest.mark.slow
@pytest.mark.parametrize("served", [False, True])
def test_ctrl_c_stops_an_answer_and_ctrl_d_the_program(app: Path, served: bool) -> None:
    def talk(address: str) -> None:
        terminal = Terminal("chat", address)
        try:
            terminal.expect("you: ")
            terminal.type("slow\n")
            terminal.expect("thinking")
            terminal.insist(terminal.interrupt, "Cancelled")
            terminal.expect("you: ")
            terminal.type("quick\n")
            terminal.expect("slow")  # the workflow's name
            terminal.expect("thinking done (1)")
            terminal.expect("you: ")
            terminal.insist(terminal.interrupt, "Ctrl-D or /quit ends.")
            terminal.expect("you: ")
            assert terminal.end() == 0
        finally:
            terminal.close()

    if served:
        with running_app(create_app(*load_workflows(f"{app}:slow"))) as address:
            talk(address)
    else:
        talk(f"{app}:slow")


MESSAGES_ONLY = """
from greenroom import chat_workflow, workflow

@workflow(flags={"is_chat": False})
def counts(messages: list) -> str:
    return f"{len(messages)}: {messages[-1]['content']}"

@workflow
def lonely(messages: list) -> str:
    return f"{len(messages)}: {messages[-1]['content']}"

@chat_workflow
def bot(messages: list) -> dict:
    return {"role": "assistant", "content": f"{len(messages)}: {messages[-1]['content']}"}

@workflow
def capital(country: str) -> str:
    return country
"""


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("counts", [], ["1: hi", "1: ho"]),
        ("counts", ["--as", "chat"], ["1: hi", "3: ho"]),
        ("lonely", [], ["1: hi", "3: ho"]),
        ("bot", [], ["1: hi", "3: ho"]),
        ("bot", ["--as", "completion"], ["1: hi", "1: ho"]),
    ],
)
def test_a_text_becomes_messages_and_as_says_how_it_is_treated(
    greenroom: Greenroom, tmp_path: Path, far: bool, name: str, options: list[str], said: list[str]
) -> None:
    path = tmp_path / "only.py"
    path.write_text(MESSAGES_ONLY)
    with running_app(create_app(*load_workflows(str(path)))) as address:
        workflow = f"{address}/{name}" if far else f"{path}:{name}"
        found = greenroom("chat", workflow, "-m", "hi", "-m", "ho", *options)
    assert (found.status, found.out.splitlines()) == (0, said), found.err


def test_what_takes_no_messages_cannot_be_treated_as_chat(
    greenroom: Greenroom, tmp_path: Path
) -> None:
    path = tmp_path / "only.py"
    path.write_text(MESSAGES_ONLY)
    found = greenroom("chat", f"{path}:capital", "-m", "hi", "--as", "chat")
    assert found.status == 2
    assert "takes no messages, so it cannot be treated as chat" in found.err


def test_a_name_that_is_not_declared_is_noted(greenroom: Greenroom, app: Path) -> None:
    said = ("chat", f"{app}:bot", "--message", "hi")
    shown = greenroom(*said, "--input", "custmer=Bob", "--parameter", "tune=rude")
    assert shown.status == 0
    assert "note: Unknown name in --input 'custmer'. Did you mean 'customer'?" in shown.err
    assert "note: Unknown name in --parameter 'tune'. Did you mean 'tone'?" in shown.err
    assert "note" not in greenroom(*said, "--input", "customer=Bob").err
