"""`greenroom spread`: how much of what an agent achieves depends on the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json, print_table

if TYPE_CHECKING:
    from greenroom.analysis.figures import Estimate
    from greenroom.analysis.user_spread import RankingSpread
    from greenroom.reports.user_spread import UserSpread

app = typer.Typer()

_PARTS = {
    "task": ("Task", "tasks differ in how hard they are"),
    "user": ("User", "the agent gets on better with some users"),
    "task_and_user": ("Task and user", "some users make some tasks harder"),
    "trial": ("Trial", "what trials have in common whoever the user is"),
    "residual": ("Residual", "the rest: chance"),
}


@app.command()
def spread(
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

    show_spread(user_spread(open_store(), names, against or ()), json=json)


def show_spread(found: UserSpread, *, json: bool) -> None:
    """Print the spread over users."""
    from greenroom.reports.texts import percent, plural

    if json:
        print_json(found.model_dump())
        return
    out, split = console(), found.split
    out.print(
        f"{found.agent} with {plural(split.users, 'user')} over {plural(split.tasks, 'task')}: the "
        f"user makes {percent(split.share_of('user') + split.share_of('task_and_user'))} of the "
        "variance.",
        style="bold",
    )
    headings = ("User", "pass^1", "95 % interval", "Run")
    rows = [
        (one.user, percent(one.pass_1.value, 1), _percents(one.pass_1), one.name)
        for one in found.runs
    ]
    print_table(None, headings, rows, right=("pass^1",))
    headings = ("Part", "Share", "Variance", "95 % interval", "Meaning")
    parts: list[tuple[str, ...]] = []
    for one in split.parts:
        label, meaning = _PARTS[one.part]
        figure = f"{one.variance.value:.4f}"
        parts.append((label, percent(one.share), figure, _interval(one.variance, 4), meaning))
    print_table(None, headings, parts, right=("Share", "Variance"))
    deviation = split.user_deviation
    if not any(one.share for one in split.parts):
        out.print("All results are the same: they do not say what would vary.")
    out.print(
        f"Standard deviation of users: {deviation.value:.3f}; {_interval(deviation, 2)} for users "
        f"like these, of whom {split.users} were seen.",
        soft_wrap=True,
    )
    if split.missing:
        out.print(f"Without a result: {plural(split.missing, 'episode')}.")
    if found.ranking is not None:
        _show_ranking(found.ranking, found.agent, found.against or "")
    for note in found.notes:
        out.print(note, soft_wrap=True)


def _show_ranking(found: RankingSpread, agent: str, against: str) -> None:
    from greenroom.reports.texts import percent

    out = console()
    out.print(f"{agent} against {against}: {found.difference:+.3f} on average.", style="bold")
    rows = [
        (
            one.user,
            f"{one.baseline:.3f}",
            f"{one.value:.3f}",
            f"{one.difference.value:+.3f}",
            _interval(one.difference, 2),
            "the other order" if one.flipped else "",
            "yes" if one.sure else "",
        )
        for one in found.users
    ]
    headings = ("User", against, agent, "Difference", "95 % interval", "Order", "Beyond chance")
    print_table(None, headings, rows, right=(against, agent, "Difference"))
    deviation = found.deviation
    out.print(
        f"With {percent(found.flips)} of users the order is the other one; "
        f"{found.sure_flips} of these are beyond chance. The true difference has a standard "
        f"deviation of {deviation.value:.3f} over users ({_interval(deviation, 2)}).",
        soft_wrap=True,
    )


def _percents(one: Estimate) -> str:
    if one.method == "none":
        return "unknown"
    return f"{100 * one.low:.1f} to {100 * one.high:.1f} %"


def _interval(one: Estimate, digits: int = 3) -> str:
    if one.method == "none":
        return "unknown"
    return f"{one.low:.{digits}f} to {one.high:.{digits}f}"
