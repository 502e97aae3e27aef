"""`greenroom chat`: a conversation with a workflow, in the terminal or in a script."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from greenroom.cli.chat_inputs import asked_inputs, line_inputs, missing_inputs, parse_pairs
from greenroom.cli.chat_screen import Screen
from greenroom.cli.inspect import Model, Workflow
from greenroom.cli.options import Json
from greenroom.cli.output import print_json
from greenroom.errors import GreenroomError, InputError

if TYPE_CHECKING:
    from asyncio import Runner

    from greenroom.store import TestSetVersion
    from greenroom.workflows.call.chat_session import ChatSession
    from greenroom.workflows.calls import Event

HELP = """\
/save TESTSET  keep the conversation as a row of a test set
/reset         begin anew, with another session
/help          show this
/quit          end, as Ctrl-D does
Ctrl-C stops an answer. A line that is to begin with a slash begins with two."""


app = typer.Typer()


@app.command()
def chat(
    workflow: Workflow,
    message: Annotated[
        list[str] | None,
        typer.Option("--message", "-m", help="Say this and end; several are said in turn."),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", help="A variable that goes along.", metavar="NAME=VALUE"),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter", "--param", help="A parameter that differs.", metavar="NAME=VALUE"
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="Go on with the session of this id.")
    ] = None,
    model: Model = None,
    treat_as: Annotated[
        Literal["chat", "completion"] | None,
        typer.Option(
            "--as",
            help="completion: a chat workflow gets one message, and its text is shown. chat: the "
            "workflow chats, whatever it says of itself.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Talk to a workflow: answers come as they are written, and tool calls are shown.

    Without a terminal, and without --message, each line of the standard input is said in turn. A
    workflow that does not chat gets one input after the other. /help lists what can be typed.
    """
    import asyncio

    from greenroom.workflows.call.chat_session import ChatSession, new_session
    from greenroom.workflows.call.opening import check_takes_messages, open_target

    with asyncio.Runner() as runner:
        as_completion = treat_as == "completion"
        target = runner.run(open_target(workflow, model=model, as_completion=as_completion))
        try:
            schemas = target.profile.schemas
            if treat_as == "chat":
                check_takes_messages(target.profile)
            conversation = ChatSession(
                target,
                inputs=parse_pairs("--input", inputs or [], schemas.inputs),
                parameters=parse_pairs("--parameter", param or [], schemas.parameters) or None,
                session_id=session or new_session(),
            )
            screen = Screen(target.profile.name, silent=json)
            talk = _Talk(conversation, screen, runner, chats=treat_as == "chat")
            if message is None and sys.stdin.isatty() and not json:
                talk.interactive()
                return
            talk.say_all(message if message is not None else sys.stdin)
            if json:
                print_json(_facts(conversation))
        finally:
            runner.run(target.close())


class _Talk:
    """Takes turns: what is typed goes to the workflow, what it answers to the screen."""

    def __init__(
        self, conversation: ChatSession, screen: Screen, runner: Runner, *, chats: bool
    ) -> None:
        self._conversation = conversation
        self._screen = screen
        self._runner = runner
        profile = conversation.target.profile
        self._profile = replace(profile, is_chat=True) if chats else profile

    def say_all(self, lines: Iterable[str]) -> None:
        """Say line after line; the first failure ends it."""
        for line in lines:
            text = line.rstrip("\r\n")
            if text.strip():
                self._run(self._turn(text))
        if not self._profile.is_chat and not self._conversation.turns:
            missing = self._needed()
            if missing:
                raise InputError(f"'{self._profile.name}' needs {', '.join(missing)}: see --input.")
            self._run(self._conversation.ask({}))

    def interactive(self) -> None:
        """Talk until the person has enough."""
        with suppress(ImportError):
            import_module("readline")  # the arrow keys bring back what was typed
        profile = self._profile
        self._screen.note(
            f"{profile.name} at {profile.address}. /help shows what can be typed, Ctrl-D ends."
            if profile.is_chat
            else f"{profile.name} does not chat: each call gets its inputs and nothing of those "
            "before. /help shows what can be typed, Ctrl-D ends."
        )
        while True:
            try:
                line = input(self._prompt())
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                self._screen.note("Ctrl-D or /quit ends.")
                continue
            if line.startswith("/") and not line.startswith("//"):
                if not self._command(line):
                    return
            elif line.strip() or not self._needed():
                self._answer(line.removeprefix("/"))

    def _answer(self, line: str) -> None:
        try:
            self._run(self._turn(line, asking=True))
        except (KeyboardInterrupt, EOFError):
            self._screen.cancelled()
        except GreenroomError as error:
            self._screen.failed(error)

    def _turn(self, line: str, *, asking: bool = False) -> AsyncGenerator[Event]:
        conversation = self._conversation
        if self._profile.is_chat:
            return conversation.say(line)
        if asking:
            return conversation.ask(asked_inputs(input, self._profile, conversation.inputs, line))
        return conversation.ask(line_inputs(line, self._profile, conversation.inputs))

    def _run(self, events: AsyncGenerator[Event]) -> None:
        async def listen() -> None:
            async with aclosing(events):
                async for event in events:
                    self._screen.show(event)

        self._runner.run(listen())

    def _needed(self) -> list[str]:
        if self._profile.is_chat:
            return ["messages"]
        return list(missing_inputs(self._profile, self._conversation.inputs))

    def _prompt(self) -> str:
        needed = self._needed()
        return "you: " if self._profile.is_chat else f"{needed[0] if needed else 'Enter calls'}: "

    def _command(self, line: str) -> bool:
        """Do what a line with a slash wants; False ends the conversation."""
        name, _, rest = line.partition(" ")
        match name:
            case "/quit" | "/exit":
                return False
            case "/help":
                self._screen.note(HELP)
            case "/reset":
                self._conversation.reset()
                self._screen.note("A new conversation.")
            case "/save":
                self._save(rest.strip())
            case _:
                self._screen.note(f"There is no {name}. /help lists what there is.")
        return True

    def _save(self, test_set: str) -> None:
        if not test_set or not self._conversation.turns:
            what = "Name a test set" if not test_set else "There is nothing to keep yet"
            self._screen.note(f"{what}: /save TESTSET keeps what was sent last, and the answer.")
            return
        try:
            version = _kept(self._conversation, test_set)
        except GreenroomError as error:
            self._screen.failed(error)
        else:
            self._screen.note(f"Kept as row {version.row_count} of {version}.")


def _kept(conversation: ChatSession, test_set: str) -> TestSetVersion:
    """The last turn as a row: what was sent, and what is expected from now on."""
    from greenroom.evaluation.test_sets import add_rows, kept_row, known_columns
    from greenroom.store import open_store

    store = open_store()
    turn = conversation.turns[-1]
    row = kept_row(turn.inputs, turn.answer.outputs, known_columns(store, test_set))
    return add_rows(
        store, test_set, [row], note=f"from a chat with {conversation.target.profile.name}"
    )


def _facts(conversation: ChatSession) -> dict[str, Any]:
    names = ("outputs", "trace_id", "seconds", "prompt_tokens", "completion_tokens", "cost")
    return {
        "session_id": conversation.session_id,
        "messages": conversation.messages,
        "answers": [
            {name: getattr(turn.answer, name) for name in names} for turn in conversation.turns
        ],
    }
