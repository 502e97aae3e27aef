"""Options that several commands share, spelt and explained once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain

AgentOptions = Annotated[
    list[str] | None,
    typer.Option("--agent-option", help="An option of the agent.", metavar="NAME=VALUE"),
]
Env = Annotated[
    str, typer.Option("--env", help="The domain: retail, airline, or an installed one.")
]
Data = Annotated[
    str | None,
    typer.Option(
        "--data",
        envvar="GREENROOM_DATA",
        help="A pack directory, or the name of a pulled pack; by default the built-in data.",
        metavar="DIR",
    ),
]
Split = Annotated[str, typer.Option("--task-split", help="The split of the tasks.")]
TaskIds = Annotated[
    str | None,
    typer.Option(
        "--task-ids", help="Only these tasks: 1,2,3 or 1 2 3.", metavar="N,N,... | N N ..."
    ),
]
StartIndex = Annotated[int, typer.Option("--start-index", help="The first task of a range.")]
EndIndex = Annotated[
    int, typer.Option("--end-index", help="The end of the range, not included; -1 for all.")
]
Shuffle = Annotated[
    int, typer.Option("--shuffle", help="1 to shuffle the tasks by the seed.", min=0, max=1)
]
Run = Annotated[str, typer.Argument(help="The name or id of a run.", metavar="RUN")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a pack that is there already.")]

_LIST_OPTIONS = ("--task-ids",)
_SWITCHES_WITH_VALUE = ("--clear-cache",)


class ListOptionsCommand(TyperCommand):
    """A command whose list options take their values in one word or in several."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spelt_out_switches(joined_lists(args)))


def joined_lists(arguments: Sequence[str]) -> list[str]:
    """The words of a command with the values of each list option joined into one.

    >>> joined_lists(["--task-ids", "1", "2", "3", "--json"])
    ['--task-ids', '1,2,3', '--json']
    """
    joined: list[str] = []
    collecting = False
    for word in arguments:
        is_value = re.fullmatch(r"[\d,\s]+", word) is not None
        if collecting and is_value and joined[-1] not in _LIST_OPTIONS:
            joined[-1] += f",{word}"
        else:
            collecting = word in _LIST_OPTIONS or (collecting and is_value)
            joined.append(word)
    return joined


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


def parse_task_ids(text: str | None) -> list[int] | None:
    """The numbers of a list such as "1,2,3"."""
    if text is None:
        return None
    words = [word for word in re.split(r"[,\s]+", text) if word]
    if not words or not all(word.isdecimal() for word in words):
        raise InputError(f"--task-ids takes numbers, such as 1,2,3 or 1 2 3, not '{text}'.")
    return [int(word) for word in words]


def chosen_tasks(
    domain: Domain,
    split: str,
    task_ids: str | None,
    start_index: int = 0,
    end_index: int = -1,
    shuffle_seed: int | None = None,
) -> list[int]:
    """The indices of the tasks that a command's options ask for."""
    from greenroom.domains.tasks import select_tasks

    return select_tasks(
        len(domain.tasks(split)),
        task_ids=parse_task_ids(task_ids),
        start_index=start_index,
        end_index=end_index,
        shuffle_seed=shuffle_seed,
    )


def parse_agent_options(pairs: Sequence[str]) -> dict[str, str]:
    """The options of an agent, from words such as "success=0.8"."""
    options: dict[str, Any] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise InputError(f"--agent-option takes NAME=VALUE, not '{pair}'.")
        options[name] = value
    return options
