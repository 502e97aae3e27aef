"""The `greenroom` command: its groups, and what becomes of errors."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Annotated, cast

import typer
from typer.exceptions import TyperException

from greenroom import __version__
from greenroom.cli import (
    agents,
    chat,
    compare,
    conformance,
    data,
    errors,
    evals,
    evaluators,
    fastworkflow,
    generate,
    identify,
    inspect,
    model_server,
    models,
    replay,
    run,
    runs,
    serve,
    store,
    tasks,
    testset,
)
from greenroom.cli import eval as evaluation
from greenroom.errors import GreenroomError

DEBUG_VARIABLE = "GREENROOM_DEBUG"

app = typer.Typer(
    name="greenroom",
    help="Rehearse conversational workflows with simulated users, and measure them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (
    run,
    compare,
    errors,
    identify,
    serve,
    inspect,
    chat,
    evaluation,
    replay,
    conformance,
    generate,
    model_server,
):
    module.register(app)
for name, group in (
    ("runs", runs.app),
    ("tasks", tasks.app),
    ("agents", agents.app),
    ("models", models.app),
    ("fastworkflow", fastworkflow.app),
    ("data", data.app),
    ("store", store.app),
    ("testset", testset.app),
    ("evaluators", evaluators.app),
    ("evals", evals.app),
):
    app.add_typer(group, name=name)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"greenroom {__version__}")
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
    sys.exit(run_command(arguments))


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
        traceback.print_exception(error)
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
    typer.echo(f"error: {message}", err=True)
    if hint:
        typer.echo(hint, err=True)
