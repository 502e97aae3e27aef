"""A person at the terminal who plays the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from greenroom.domains.tasks import STOP
from greenroom.users.strategies import UserStrategy
from greenroom.util.terminal import console, printable

if TYPE_CHECKING:
    from rich.console import Console

STOP_COMMAND: Final = "/stop"
PROMPT: Final = "You: "


class HumanUser:
    """Shows the instruction once and each message of the agent, and asks for the answers.

    Reading blocks a separate thread, so a cancellation takes effect with the next line. An empty
    line is asked for again; the end of the input or /stop ends the conversation.
    """

    def __init__(
        self, read: Callable[[str], str] = input, *, console: Console | None = None
    ) -> None:
        self._read = read
        self._given_console = console

    async def open(self, instruction: str) -> str:
        self._show("You are the customer", instruction, "cyan")
        self._hint(f"Write to the agent. {STOP_COMMAND} or the end of input ends the conversation.")
        return await self._ask()

    async def reply(self, content: str) -> str:
        self._show("Agent", content, "green")
        return await self._ask()

    async def _ask(self) -> str:
        while True:
            try:
                typed = (await to_thread.run_sync(self._read, PROMPT)).strip()
            except EOFError:
                return STOP
            if typed.lower() == STOP_COMMAND:
                return STOP
            if typed:
                return typed
            self._hint(f"Nothing to send. Write something, or {STOP_COMMAND} to end.")

    def _show(self, title: str, text: str, style: str) -> None:
        from rich.panel import Panel
        from rich.text import Text

        panel = Panel(Text(printable(text)), title=title, title_align="left", border_style=style)
        self._console().print(panel)

    def _hint(self, text: str) -> None:
        self._console().print(text, style="dim")

    def _console(self) -> Console:
        return self._given_console or console()


strategy = UserStrategy(
    "human", lambda _: HumanUser(), "a person at the terminal", interactive=True
)
