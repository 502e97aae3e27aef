"""What a test set's columns are for: inputs of the workflow, and the output that is expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenroom.errors import UnknownName
from greenroom.store import chat_of

EXPECTED_COLUMNS = (
    "expected",
    "correct_answer",
    "expected_output",
    "expected_answer",
    "ground_truth",
    "reference_answer",
)
"""Names of the column with the expected output; the first that a test set has is taken."""

EVALUATORS_COLUMN = "evaluators"
"""The column with a row's own evaluators."""


@dataclass(frozen=True)
class Roles:
    """The columns of a test set by what they are for."""

    expected: str | None
    inputs: tuple[str, ...]


def column_roles(
    columns: Sequence[str],
    *,
    expected: str | None = None,
    inputs: Sequence[str] | None = None,
    others: Sequence[str] = (),
) -> Roles:
    """The roles of columns: as they are told, and by their names where they are not.

    Columns that are named like an expected output are never inputs unless they are told to be: the
    workflow must not see the answer. The same holds for `others`, which evaluators look at.
    """
    for name in (*(inputs or ()), *others, *([] if expected is None else [expected])):
        if name not in columns:
            raise UnknownName("column", name, columns)
    answers = [name for name in columns if _plain(name) in EXPECTED_COLUMNS]
    if expected is None and answers:
        expected = min(answers, key=lambda name: EXPECTED_COLUMNS.index(_plain(name)))
    if inputs is None:
        kept = (expected, *answers, *others, EVALUATORS_COLUMN)
        inputs = [name for name in columns if name not in kept]
    return Roles(expected, tuple(inputs))


def row_inputs(row: Mapping[str, Any], roles: Roles) -> dict[str, Any]:
    """The inputs of a row. A chat that a text encodes becomes messages; the rest is as it is."""
    found: dict[str, Any] = {}
    for name in roles.inputs:
        if name in row:
            chat = chat_of(row[name])
            found[name] = row[name] if chat is None else chat
    return found


def row_expected(row: Mapping[str, Any], roles: Roles) -> Any | None:
    """The expected output of a row, as it is; None where there is none or the cell is empty."""
    value = row.get(roles.expected) if roles.expected is not None else None
    return None if value == "" else value


def _plain(name: str) -> str:
    return "_".join(name.strip().lower().replace("-", " ").split())
