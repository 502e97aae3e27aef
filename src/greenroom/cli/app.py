"""The `greenroom` command: its commands, imported when they are called, and its errors."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_group

from greenroom import __version__
from greenroom.errors import GreenroomError, redacted
from greenroom.util.terminal import echo

DEBUG_VARIABLE = "GREENROOM_DEBUG"

COMMANDS: Mapping[str, str] = {
    "run": "Let an agent play tasks and report how many it solves, and how reliably.",
    "resume": "Go on with a run that was interrupted: only what has no result yet is played.",
    "compare": "Compare runs or evaluations with the first, task by task or row by row.",
    "spread": "Say how much of a result varies with the task, the user and chance.",
    "trend": "Find tasks that are solved more or less often than in the runs before.",
    "plan": "Say how many tasks and trials find a difference between two runs, and what they cost.",
    "errors": "Break failures down by kind, and explain each with its evidence.",
    "audit": "Find what simulated users did wrong, without a model: which failures may be theirs.",
    "identify": "Have a model judge the failures of a run: whose fault, and "
    "what the agent did wrong.",
    "judges": "Check judges by labelled cases, list what was found, and make cases to label.",
    "worker": "Work on what is under way in a store, together with others, until it is done.",
    "serve": "Serve workflows over HTTP until Ctrl-C.",
    "mcp": "Give an MCP client the tools and the policy of a domain, to play a task by hand.",
    "inspect": "Show what a workflow is: whether it chats and what told so, "
    "what it takes, how to call it.",
    "chat": "Talk to a workflow: answers come as they are written, and tool calls are shown.",
    "playground": "Open the pages where people talk to workflows and look at runs, until Ctrl-C.",
    "eval": "Evaluate a workflow over a test set: call it with every row, and score what it says.",
    "replay": "Play recorded episodes again, whole or from a turn on.",
    "regrade": "Grade the episodes of a run again without playing: other tasks, another basis, "
    "a new judge.",
    "conformance": "Play traces recorded from Tau Bench or tau2-bench and compare everything.",
    "generate": "Make a fresh world with tasks, to measure on data that no model has seen.",
    "model-server": "Serve scripted agents and users as a language model that "
    "speaks OpenAI's protocol.",
    "runs": "List, show, export, prune and delete runs.",
    "tasks": "List, show and check tasks.",
    "agents": "List the agents that can play.",
    "models": "Fetch and list models that run on this machine.",
    "fastworkflow": "Train the intent models of FastWorkflow workflows, and list them.",
    "data": "Fetch, import and list packs: the data of domains.",
    "store": "Look at the store of runs, and back it up.",
    "testset": "Import, show, export and change test sets; every change makes a version.",
    "evaluators": "List the evaluators that score outputs.",
    "evals": "List, show, resume, export and delete evaluations.",
    "judgings": "List and show judgings, and look after those under way.",
    "regradings": "List and show regradings, and look after those under way.",
    "notes": "List, export and import what people noted, and measure how far they agree.",
}
"""Each command with its summary: the first line of its own help."""

_MODULES = {"resume": "run"}
"""The module of a command, where it is not called after it."""


class LazyGroup(TyperGroup):
    """A group whose commands are imported when they are called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {
            name: TyperCommand(name, help=summary) for name, summary in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        return name, load_command(str(name)), rest


def load_command(name: str) -> TyperCommand | TyperGroup:
    """The command of that name, with everything below it."""
    module = import_module(f"greenroom.cli.{_MODULES.get(name, name.replace('-', '_'))}")
    found = get_group(module.app)
    found.name = name
    # A module has a group of commands, or the command itself.
    return cast("TyperCommand | TyperGroup", found.commands.get(name, found))


app = typer.Typer(
    name="greenroom",
    cls=LazyGroup,
    help="Rehearse conversational workflows with simulated users, and measure them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        echo(f"greenroom {__version__}")
        raise typer.Exit


@app.callback()
def root(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options that stand before the command."""
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; every error becomes a line or two and an exit status."""
    end_process(run_command(arguments))


def end_process(status: int) -> NoReturn:
    """Exit, without waiting for a local model whose answer nobody waits for."""
    if local := sys.modules.get("greenroom.models.local"):
        local.exit_at_once(status)
    sys.exit(status)


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Run a command: its exit status, 2 for what a person can mend."""
    try:
        status = app(args=arguments, prog_name="greenroom", standalone_mode=False)
    except TyperException as error:
        if error.format_message():  # there is none where the help was shown instead
            _complain(error.format_message(), hint=_usage_hint(error))
        return 2
    except BrokenPipeError:
        # Whoever read our output has closed it: nothing is left to say, and to nobody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return report_error(error)
    return status if isinstance(status, int) else 0


def report_error(error: Exception) -> int:
    """Tell a person what went wrong: the exit status, 2 for what they can mend."""
    if os.environ.get(DEBUG_VARIABLE):
        echo(redacted("".join(traceback.format_exception(error))), err=True)
    for cause in _causes(error):
        if isinstance(cause, GreenroomError):
            _complain(str(cause))
            return 2
        if isinstance(cause, OSError):
            where = f"{cause.filename}: " if cause.filename else ""
            _complain(f"{where}{cause.strerror or cause}.")
            return 2
    _complain(
        f"Unexpected {type(error).__name__}: {error}",
        hint="This is a bug. 'greenroom --debug ...' shows where it comes from.",
    )
    return 1


def _causes(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        for inner in group.exceptions:
            yield from _causes(inner)
    else:
        yield error


def _usage_hint(error: TyperException) -> str | None:
    context = getattr(error, "ctx", None)
    return f"Try '{context.command_path} --help'." if context is not None else None


def _complain(message: str, *, hint: str | None = None) -> None:
    echo(f"error: {redacted(message)}", err=True)
    if hint:
        echo(hint, err=True)
