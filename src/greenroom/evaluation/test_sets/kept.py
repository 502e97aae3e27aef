"""What was sent and answered, as a row of a test set: the raw output is expected from now on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from greenroom.analysis.roles import EVALUATORS_COLUMN, EXPECTED_COLUMNS, column_roles
from greenroom.errors import InputError, UnknownName
from greenroom.store import Store
from greenroom.trajectories import SpokenStep, write_conversation


def kept_row(inputs: Mapping[str, Any], outputs: Any, columns: Sequence[str]) -> dict[str, Any]:
    """The row for a test set with these columns.

    An input that is named like an expected output is an InputError: the row would be read as if
    the workflow never got it.
    """
    roles = column_roles(columns)
    expected = roles.expected or EXPECTED_COLUMNS[0]
    seen = column_roles([*inputs, *(() if expected in inputs else (expected,))], expected=expected)
    hidden = [name for name in inputs if name not in seen.inputs]
    if hidden:
        what = "evaluators of a row" if hidden[0] == EVALUATORS_COLUMN else "an expected output"
        raise InputError(
            f"The input '{hidden[0]}' cannot be kept in a test set: a column of that name holds "
            f"{what}."
        )
    return {**inputs, expected: outputs}


def known_columns(store: Store, test_set: str) -> list[str]:
    """The columns of a test set; none if there is no such test set yet."""
    try:
        return [column.name for column in store.test_sets.find(test_set).columns]
    except UnknownName:
        return []


def spoken_row(
    messages: Sequence[dict[str, Any]], columns: Sequence[str], turn: int | None = None
) -> dict[str, Any]:
    """A conversation as a row: what was said up to a turn, and what was answered there.

    Turns count from 1; by default it is the last one with an answer. Several messages of an
    answer, such as calls of tools and a reply, are kept as a list.
    """
    starts = [place for place, one in enumerate(messages) if one.get("role") == "user"]
    answers: list[tuple[int, list[dict[str, Any]]]] = []
    for number, place in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(messages)
        if end > place + 1:
            answers.append((place + 1, list(messages[place + 1 : end])))
    if turn is not None and not 1 <= turn <= len(answers):
        raise InputError(f"There is no turn {turn}: {len(answers)} have an answer.")
    if not answers:
        raise InputError("Nothing was answered, so there is nothing to keep.")
    end, said = answers[-1 if turn is None else turn - 1]
    return kept_row(
        {"messages": list(messages[:end])}, said[0] if len(said) == 1 else said, columns
    )


def spoken_messages(opening: str, steps: Sequence[SpokenStep]) -> list[dict[str, Any]]:
    """The messages of an episode, without the policy."""
    return write_conversation("", opening, steps)[1:]
