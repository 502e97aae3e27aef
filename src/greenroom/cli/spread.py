"""`greenroom spread`: how much of what an agent achieves depends on the user."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.options import Json
from greenroom.cli.reporting import ReportOptions, show
from greenroom.options import checked

app = typer.Typer()


@app.command()
@takes(ReportOptions, only=("output", "all"))
def spread(
    fields: dict[str, Any],
    names: Annotated[
        list[str],
        typer.Argument(
            help="Runs of one agent with several users, or the name that they have in common.",
            metavar="RUN...",
        ),
    ],
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            help="A run of another agent with one of these users, or the name that its runs have "
            "in common: does the order of the two depend on the user? May be given several times.",
            metavar="RUN",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Say how much of a result varies with the task, the user and chance.

    With another agent's runs it also says how far the order of the two depends on the user.
    """
    from greenroom.reports.user_spread import user_spread
    from greenroom.store import open_store

    report = user_spread(open_store(), names, against or ())
    show(report, checked(ReportOptions, fields), json=json)
