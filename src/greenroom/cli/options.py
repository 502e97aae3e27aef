"""Options that are no part of a configuration and that several commands share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.benchmark.config import RunConfig
    from greenroom.domains.domain import Domain

Run = Annotated[str, typer.Argument(help="The name or id of a run.", metavar="RUN")]
JUnit = Annotated[
    Path | None, typer.Option("--junit", help="Write the results as JUnit XML.", metavar="FILE")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Also write the report to a file; its ending says the form: .html, .md, .json, .csv, "
        "...",
        metavar="FILE",
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="Show the figures by tag, kind or tool (runs), or by a column (evaluations). May be "
        "given several times.",
        metavar="WHAT",
    ),
]
Host = Annotated[
    str, typer.Option("--host", help="Where to listen; beyond this machine it needs a token.")
]
Port = Annotated[int, typer.Option("--port", help="0 takes any that is free.", min=0, max=65535)]
ReadyJson = Annotated[
    bool, typer.Option("--json", help="Print one line of JSON when it is ready, for scripts.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a pack that is there already.")]

_SWITCHES_WITH_VALUE = ("--clear-cache",)


ClearCache = Annotated[
    str | None,
    typer.Option(
        "--clear-cache",
        help="true: forget all kept answers first. false: keep answers and use them, as --cache "
        "does.",
        metavar="[true|false]",
    ),
]


def cached_fields(fields: Mapping[str, Any], clear_cache: str | None) -> dict[str, Any]:
    """The fields of a run, changed as `--clear-cache` says."""
    from greenroom.models import clear_answers

    if clear_cache not in (None, "true", "false"):
        raise InputError(f"--clear-cache takes true or false, not '{clear_cache}'.")
    if clear_cache == "true":
        clear_answers()
    return {**fields, "cache": True} if clear_cache == "false" else dict(fields)


class RepeatedListsCommand(TyperCommand):
    """A command of which a list option that is given again adds to its values.

    Names may follow such an option, so it takes its values in one word.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        from greenroom.options import each_list_once

        return super().parse_args(ctx, each_list_once(args))


class ListOptionsCommand(TyperCommand):
    """A command whose list options take their values in one word or in several."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self.tidied(args))

    def tidied(self, args: Sequence[str]) -> list[str]:
        """The words as the parser takes them."""
        from greenroom.options import joined_lists

        return spelt_out_switches(joined_lists(args))


def spelt_out_switches(arguments: Sequence[str]) -> list[str]:
    """The words of a command in which a switch that may have a value always has one.

    >>> spelt_out_switches(["--clear-cache", "--json"])
    ['--clear-cache', 'true', '--json']
    >>> spelt_out_switches(["--clear-cache", "false"])
    ['--clear-cache', 'false']
    """
    spelt: list[str] = []
    for place, word in enumerate(arguments):
        spelt.append(word)
        following = arguments[place + 1 : place + 2]
        if word in _SWITCHES_WITH_VALUE and following not in (["true"], ["false"]):
            spelt.append("true")
    return spelt


def chosen_tasks(domain: Domain, config: RunConfig) -> list[int]:
    """The indices of the tasks that a command's options ask for."""
    from greenroom.domains.tasks import select_tasks, task_places

    tasks = domain.tasks(config.task_split)
    return select_tasks(
        len(tasks),
        task_ids=task_places(tasks, config.task_ids or ()),
        start_index=config.start_index,
        end_index=config.end_index,
    )
