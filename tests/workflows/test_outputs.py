"""Whatever a handler returns: as JSON, or told that it is none."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from greenroom.messages import Message
from greenroom.workflows.declare.outputs import NotJson, json_value

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


class Colour(Enum):
    RED = "red"


class Word(StrEnum):
    YES = "yes"


class Number(IntEnum):
    ONE = 1


class Model(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    when: datetime = datetime(2026, 1, 2, tzinfo=UTC)
    share: float = math.nan
    other: str = Field(default="x", alias="otherName")


@dataclass
class Point:
    x: int
    inner: Any = None


@given(JSON)
def test_json_comes_back_as_it_was(value: Any) -> None:
    assert json_value(value) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        ([math.inf, -math.inf, 1.5], [None, None, 1.5]),
        ((1, (2,)), [1, [2]]),
        ({3}, [3]),
        (
            {1: "a", None: "b", 1.5: "d"},
            {"1": "a", "null": "b", "1.5": "d"},
        ),
        ({Word.YES: 1}, {"yes": 1}),
        ([Colour.RED, Word.YES, Number.ONE], ["red", "yes", 1]),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
        (Decimal("1.50"), "1.50"),
        (Path("a/b"), "a/b"),
        (b"text", "text"),
        (OrderedDict([("a", 1)]), {"a": 1}),
        (Point(1, [Point(2)]), {"x": 1, "inner": [{"x": 2, "inner": None}]}),
        (
            [np.float64(1.5), np.int32(2), np.array([1, 2]), np.float64("nan")],
            [1.5, 2, [1, 2], None],
        ),
        (
            {"a": [Model()]},
            {"a": [{"when": "2026-01-02T00:00:00Z", "share": None, "otherName": "x"}]},
        ),
    ],
)
def test_what_is_nearly_json_becomes_json(value: Any, expected: Any) -> None:
    found = json_value(value)
    assert found == expected
    assert type(found) is type(expected)


def test_a_message_leaves_out_what_it_does_not_say() -> None:
    assert json_value([Message(role="assistant", content="hi")]) == [
        {"role": "assistant", "content": "hi"}
    ]
    call = {"id": "1", "function": {"name": "look", "arguments": "{}"}}
    asking = Message.model_validate({"role": "assistant", "tool_calls": [call]})
    assert json_value(asking) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [call | {"type": "function"}],
    }


def test_what_is_no_json_is_refused_in_words() -> None:
    itself: list[Any] = []
    itself.append(itself)
    for value, words in (
        (object(), "holds a object"),
        ({"a": lambda: 1}, "holds a function"),
        (b"\xff", "holds a bytes"),
        (itself, "contains itself"),
        ((x for x in "ab"), "holds a generator. To stream, yield"),
    ):
        with pytest.raises(NotJson, match=words):
            json_value(value)
