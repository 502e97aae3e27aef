from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.store import ColumnKind, chat_of, decoded, kind_of
from greenroom.store.columns import ColumnTally

CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "tool_calls": []},
]
MESSAGE: dict[str, Any] = {"role": "assistant", "content": "Paris"}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (CHAT, "chat"),
        (json.dumps(CHAT), "chat"),
        (f"  {json.dumps(CHAT)}\n", "chat"),
        (MESSAGE, "message"),
        (json.dumps(MESSAGE), "message"),
        ([MESSAGE, {"role": "critic", "content": "x"}], "chat"),
        ([MESSAGE, {"role": 1, "content": "x"}], "json"),
        ([MESSAGE, {"role": "", "content": "x"}], "json"),
        ([MESSAGE, "x"], "json"),
        ([], "json"),
        ({"role": "assistant"}, "json"),
        ({"a": 1}, "json"),
        ('{"a": 1}', "json"),
        ("{not JSON", "text"),
        ("[" * 100_000, "text"),
        ("Paris", "text"),
        ("3", "text"),
        (3, "number"),
        (0.5, "number"),
        (True, "boolean"),
        (None, "empty"),
        ("", "empty"),
    ],
)
def test_a_value_is_told_by_its_shape(value: Any, kind: ColumnKind) -> None:
    assert kind_of(value) == kind


def test_a_chat_is_read_as_it_is_or_from_its_text() -> None:
    assert chat_of(CHAT) == CHAT
    assert chat_of(json.dumps(CHAT)) == CHAT
    assert chat_of([]) is None
    assert chat_of("hello") is None


@given(st.one_of(st.text(), st.integers(), st.lists(st.integers())))
def test_what_encodes_nothing_stays_what_it_is(value: Any) -> None:
    assert decoded(value) == value or isinstance(value, str)
    if not isinstance(value, str):
        assert decoded(json.dumps([value])) == [value]


def kinds(*rows: dict[str, Any]) -> dict[str, ColumnKind]:
    tally = ColumnTally()
    for row in rows:
        tally.add(row)
    return {column.name: column.kind for column in tally.records()}


def test_a_column_is_what_all_its_values_are() -> None:
    assert kinds({"a": CHAT, "b": "x"}, {"a": "", "b": 3}, {"c": None, "a": CHAT}) == {
        "a": "chat",
        "b": "mixed",
        "c": "empty",
    }
    assert kinds({"messages": "not a chat"}) == {"messages": "text"}


VALUES: list[Any] = [None, "", "x", 1, True, CHAT, MESSAGE, {"k": 1}]
ROWS = st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from(VALUES)))


@given(ROWS, ROWS)
def test_going_on_from_known_columns_is_like_starting_anew(
    first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> None:
    known = ColumnTally()
    for row in first:
        known.add(row)
    later = ColumnTally(known.records())
    for row in second:
        later.add(row)
    assert {c.name: c.kind for c in later.records()} == kinds(*first, *second)
