from __future__ import annotations

import io
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from rich.console import Console

from greenroom.domains.tasks import STOP
from greenroom.users import UserContext
from greenroom.users.human import HumanUser, strategy

pytestmark = pytest.mark.anyio


class Terminal:
    """What a person types, and what they see."""

    def __init__(self, lines: Iterable[str], past: Sequence[dict[str, Any]] = ()) -> None:
        self._lines = iter(lines)
        self._seen = io.StringIO()
        self.threads: set[int] = set()
        self.user = HumanUser(self._read, console=Console(file=self._seen, width=80), past=past)

    def _read(self, prompt: str) -> str:
        self.threads.add(threading.get_ident())
        line = next(self._lines, None)
        if line is None:
            raise EOFError
        return line

    @property
    def seen(self) -> str:
        return self._seen.getvalue()


async def test_a_person_sees_the_instruction_once_and_every_message() -> None:
    terminal = Terminal([" Hello ", "Number 7"])
    assert await terminal.user.open("You want a lamp.") == "Hello"
    assert await terminal.user.reply("Which [red]one[/red]?") == "Number 7"
    assert terminal.seen.count("You want a lamp.") == 1
    assert terminal.seen.count("Which [red]one[/red]?") == 1
    assert threading.get_ident() not in terminal.threads


async def test_a_person_sees_what_was_said_before_the_task() -> None:
    past: list[dict[str, Any]] = [
        {"role": "assistant", "content": "Note the [/b] meeting."},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "user", "content": "It is noted."},
    ]
    terminal = Terminal(["It is over."], past)
    assert await terminal.user.open("x") == "It is over."
    assert terminal.seen.index("You: Note the [/b] meeting.") < terminal.seen.index("It is noted.")


async def test_an_empty_line_is_asked_for_again() -> None:
    terminal = Terminal(["", "  ", "Hello"])
    assert await terminal.user.open("x") == "Hello"
    assert terminal.seen.count("Nothing to send") == 2


@pytest.mark.parametrize("lines", [[], ["/stop"], [" /STOP "], ["", "/stop"]])
async def test_the_end_of_input_or_a_command_stops(lines: list[str]) -> None:
    assert await Terminal(lines).user.reply("Anything else?") == STOP


async def test_an_agent_cannot_steer_the_terminal() -> None:
    terminal = Terminal(["ok"])
    await terminal.user.reply("a\x1b]0;title\x07b\nc")
    assert "\x1b" not in terminal.seen
    assert "\x07" not in terminal.seen


def test_the_strategy_says_that_a_person_takes_part() -> None:
    assert strategy.interactive
    assert not strategy.needs_model
    assert isinstance(strategy.create(UserContext()), HumanUser)
