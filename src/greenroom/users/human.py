"""A person at the terminal who plays the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from greenroom.domains.tasks import STOP
from greenroom.users.commands import CALL_COMMAND, TOOLS_COMMAND, is_command, read_command
from greenroom.users.strategies import Exchanges, UserStrategy
from greenroom.util.terminal import console, printable

if TYPE_CHECKING:
    from rich.console import Console

    from greenroom.domains.environment import UserCall, UserTools
    from greenroom.models import ChatMessage

STOP_COMMAND: Final = "/stop"
PROMPT: Final = "You: "


class HumanUser:
    """Shows the instruction once and each message of the agent, and asks for the answers.

    Reading blocks a separate thread, so a cancellation takes effect with the next line. An empty
    line is asked for again; the end of the input or /stop ends the conversation. In a domain where
    users act, /tools lists their tools and /call NAME key=value ... calls one.
    """

    def __init__(
        self,
        read: Callable[[str], str] = input,
        *,
        console: Console | None = None,
        past: Sequence[ChatMessage] = (),
    ) -> None:
        self._read = read
        self._past = past
        self._given_console = console
        self._tools: UserTools | None = None

    def equip(self, tools: UserTools) -> None:
        self._tools = tools

    async def open(self, instruction: str) -> str:
        self._show("You are the customer", instruction, "cyan")
        self._hint(f"Write to the agent. {STOP_COMMAND} or the end of input ends the conversation.")
        if self._tools is not None and self._tools.infos:
            self._hint(
                f"You can act: {TOOLS_COMMAND} lists your tools, {CALL_COMMAND} NAME key=value ... "
                "calls one."
            )
        self._show_past()
        return await self._ask()

    async def reply(self, content: str) -> str:
        self._show("Agent", content, "green")
        return await self._ask()

    def take_over(self, instruction: str, opening: str, exchanges: Exchanges) -> None:
        """Show what was said so far; the agent speaks next."""
        self._show("You are the customer", instruction, "cyan")
        self._show_past()
        past = [] if self._tools is None else list(self._tools.past)
        for call in past[0] if past else ():
            self._show_call(call)
        if opening:
            self._hint(f"{PROMPT}{printable(opening)}")
        for number, (said, reply) in enumerate(exchanges, start=1):
            self._show("Agent", said, "green")
            for call in past[number] if number < len(past) else ():
                self._show_call(call)
            self._hint(f"{PROMPT}{printable(reply)}")

    async def _ask(self) -> str:
        while True:
            try:
                typed = (await to_thread.run_sync(self._read, PROMPT)).strip()
            except EOFError:
                return STOP
            if typed.lower() == STOP_COMMAND:
                return STOP
            if self._tools is not None and is_command(typed):
                await self._act(self._tools, typed)
                continue
            if typed:
                return typed
            self._hint(f"Nothing to send. Write something, or {STOP_COMMAND} to end.")

    async def _act(self, tools: UserTools, typed: str) -> None:
        """List the tools, or call one and show what comes of it."""
        command = read_command(tools, typed)
        if isinstance(command, str):
            self._hint(printable(command))
        else:
            observation = await tools.call(command.name, command.kwargs)
            self._show(command.name, observation, "magenta")

    def _show_past(self) -> None:
        """Show what was said before the conversation began."""
        for message in self._past:
            words = message.get("content")
            if message["role"] == "user":
                self._show("Agent", str(words), "green")
            elif message["role"] == "assistant" and words:
                self._hint(f"{PROMPT}{printable(str(words))}")

    def _show_call(self, call: UserCall) -> None:
        given = " ".join(f"{key}={value}" for key, value in call.action.kwargs.items())
        self._hint(printable(f"{PROMPT}{CALL_COMMAND} {call.action.name} {given}".rstrip()))
        self._show(call.action.name, call.observation, "magenta")

    def _show(self, title: str, text: str, style: str) -> None:
        from rich.panel import Panel
        from rich.text import Text

        heading = Text(printable(title))
        panel = Panel(Text(printable(text)), title=heading, title_align="left", border_style=style)
        self._console().print(panel)

    def _hint(self, text: str) -> None:
        self._console().print(text, style="dim", markup=False)

    def _console(self) -> Console:
        return self._given_console or console()


strategy = UserStrategy(
    "human",
    lambda context: HumanUser(past=context.past),
    "a person at the terminal",
    interactive=True,
)
