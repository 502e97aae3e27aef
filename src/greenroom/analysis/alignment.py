"""Which write of an agent stands for which write of the ground truth.

Each write that was wanted is paired with at most one that was made, so that the pairs cost as
little as possible together:

    the same call                                  nothing
    the same call, but refused                     a little
    the same tool on the same target               more, by how many arguments differ
    another tool on the same target                more still, by how unlike the two calls are
    the same tool on another target                much, by how many arguments differ
    no pair                                        so much that any of these is better, unless the
                                                   write was refused and little of it is right

The order in which an agent writes plays no part: its writes are put into an order of their own
first. A write that was refused changed nothing, so leaving it without a pair costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, Literal

from greenroom.analysis.arguments import (
    ArgumentDifference,
    RecordNamed,
    argument_differences,
    target_of,
)
from greenroom.canonical import canonical_text

Relation = Literal["same", "arguments", "tool", "none"]
"""How a write that was made stands to the one that was wanted: the same call, other arguments,
another tool, or nothing to do with it."""

_REFUSED = 0.1
_OTHER_ARGUMENTS = 1.0
_OTHER_TOOL = 2.0
_UNLIKE_TOOL = 2.9
_OTHER_TARGET = 3.5
_MISSING = _EXTRA = 3.0
_FREE = -1


@dataclass(frozen=True)
class Write:
    """A call of a tool that changes the database."""

    name: str
    kwargs: dict[str, Any]
    refusal: str | None = None
    """What came back, where it changed nothing."""
    invalid: str | None = None
    """Why the call was not a valid one, if so."""

    @cached_property
    def text(self) -> str:
        """What equal calls have in common."""
        return f"{self.name} {canonical_text(self.kwargs)}"


@dataclass(frozen=True)
class Pair:
    """A write that was wanted, with the one that was made for it, if any."""

    expected: Write
    actual: Write | None
    relation: Relation
    arguments: tuple[ArgumentDifference, ...] = ()


@dataclass(frozen=True)
class Alignment:
    """The writes of the ground truth in their order, and what was written beside them."""

    pairs: tuple[Pair, ...]
    extra: tuple[Write, ...]
    """Writes that changed something and stand for none that was wanted."""


def align(expected: Sequence[Write], actual: Sequence[Write]) -> Alignment:
    """Pair the writes that were wanted with those that were made."""
    made = sorted(actual, key=lambda write: (write.text, write.refusal or "", write.invalid or ""))
    calls = {(wanted.name, target_of(wanted.kwargs)) for wanted in expected}
    compared = [[_compare(wanted, write, calls) for write in made] for wanted in expected]
    chosen = _assign(
        # A pair spares the cost of an extra write too, if the write changed something.
        [
            [_cost(cell, write) - _extra_cost(write) for cell, write in zip(row, made, strict=True)]
            for row in compared
        ]
    )
    pairs = tuple(
        compared[row][column] if column is not None else Pair(wanted, None, "none")
        for row, (wanted, column) in enumerate(zip(expected, chosen, strict=True))
    )
    taken = set(chosen)
    extra = (write for place, write in enumerate(made) if place not in taken)
    return Alignment(pairs, tuple(write for write in extra if write.refusal is None))


def _compare(
    expected: Write, actual: Write, calls: Collection[tuple[str, RecordNamed | None]]
) -> Pair:
    if expected.name != actual.name:
        target = target_of(expected.kwargs)
        in_place = target is not None and target == target_of(actual.kwargs)
        # A tool that has its own work to do on the target was not taken for another.
        in_place = in_place and (actual.name, target) not in calls
        return Pair(expected, actual, "tool" if in_place else "none")
    differences = tuple(argument_differences(expected.kwargs, actual.kwargs))
    return Pair(expected, actual, "arguments" if differences else "same", differences)


def _cost(pair: Pair, write: Write) -> float:
    refused = _REFUSED if write.refusal is not None else 0.0
    if pair.relation == "same":
        return refused
    if pair.relation == "tool":
        likeness = _likeness(pair.expected, write)
        return _OTHER_TOOL + _UNLIKE_TOOL * (1 - likeness) + refused
    if pair.relation == "arguments":
        same_target = target_of(pair.expected.kwargs) == target_of(write.kwargs)
        fraction = 1 - 1 / (1 + len(pair.arguments))
        return (_OTHER_ARGUMENTS if same_target else _OTHER_TARGET) + fraction + refused
    return inf


def _likeness(one: Write, other: Write) -> float:
    """How alike the arguments of two tools on the same target are, from 0 to 1."""
    target = target_of(one.kwargs)
    about = {target.argument} if target is not None else set[str]()
    names = (one.kwargs.keys() | other.kwargs.keys()) - about
    if not names:
        return 0.0
    common = (one.kwargs.keys() & other.kwargs.keys()) - about
    differing = {difference.root for difference in argument_differences(one.kwargs, other.kwargs)}
    # Tools that ask for the same things are easily mixed up, whatever was passed to them.
    return (0.7 * len(common) + 0.3 * len(common - differing)) / len(names)


def _extra_cost(write: Write) -> float:
    return _EXTRA if write.refusal is None else 0.0


def _assign(costs: Sequence[Sequence[float]]) -> list[int | None]:
    """The column of each row, all different, with the least cost in all; None costs _MISSING."""
    columns = len(costs[0]) if costs else 0
    # Each row has a column of its own to fall back on.
    table = [[*row, *([_MISSING] * len(costs))] for row in costs]
    return [column if column < columns else None for column in least_assignment(table)]


def least_assignment(costs: Sequence[Sequence[float]]) -> list[int]:
    """The column of each row, all different, with the least cost in all.

    There are at least as many columns as rows. Costs may be infinite, as long as every row can have
    a column at a finite one. Of equally good columns the first free one is taken.

    Rows come in one by one. A new row takes the cheapest path to a free column, along which rows
    that came before may move to another one. Prices of rows and columns keep all costs on the way
    from being negative, so that Dijkstra's algorithm finds the path.
    """
    width = len(costs[0]) if costs else 0
    row_price, column_price = [0.0] * len(costs), [0.0] * width
    column_of, row_of = [_FREE] * len(costs), [_FREE] * width
    for newcomer in range(len(costs)):
        distance, before = [inf] * width, [newcomer] * width
        ahead = list(range(width))
        passed: list[int] = []
        row, reached = newcomer, 0.0
        while True:
            for column in ahead:
                step = costs[row][column] - row_price[row] - column_price[column]
                if reached + step < distance[column]:
                    distance[column], before[column] = reached + step, row
            reached, _, column = min((distance[one], row_of[one] != _FREE, one) for one in ahead)
            if row_of[column] == _FREE:
                break
            ahead.remove(column)
            passed.append(column)
            row = row_of[column]
        row_price[newcomer] += reached
        for one in passed:
            row_price[row_of[one]] += reached - distance[one]
            column_price[one] -= reached - distance[one]
        while column != _FREE:
            row = before[column]
            row_of[column], column_of[row], column = row, column, column_of[row]
    return column_of
