from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.alignment import Write, align
from greenroom.analysis.arguments import argument_differences, target_of
from greenroom.store.trajectory_records import ActionRecord, StepRecord
from tests.analysis.episodes import EXCHANGE, steps, writes


@pytest.mark.parametrize(
    ("expected", "actual", "names"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 1.0}, ["a"]),
        ({"a": []}, {"a": {}}, []),
        ({"a": 1}, {"a": "1"}, ["a"]),
        ({"a": 1, "b": 2}, {"c": 3, "a": 1}, ["b", "c"]),
        ({"f": [{"n": 1, "d": 2}]}, {"f": [{"d": 3, "n": 1}]}, ["f[0].d"]),
        ({"f": [{"n": 1}]}, {"f": [{"n": 1, "d": 3}]}, ["f[0].d"]),
        ({"f": [1, 2]}, {"f": [1]}, ["f"]),
        ({"f": [1, 2]}, {"f": [2, 1]}, ["f[0]", "f[1]"]),
        ({"item_ids": ["a", "b"]}, {"item_ids": ["b", "a"]}, []),
        ({"item_ids": ["a", "a"]}, {"item_ids": ["a"]}, ["item_ids"]),
        ({"item_ids": "a"}, {"item_ids": ["a"]}, ["item_ids"]),
        ({"item_ids": ["a"]}, {}, ["item_ids"]),
        ({"a.b": 1}, {"a.b": 2}, ["a.b"]),
    ],
)
def test_arguments_that_differ(
    expected: dict[str, Any], actual: dict[str, Any], names: list[str]
) -> None:
    assert [one.name for one in argument_differences(expected, actual)] == names


def test_items_go_with_what_they_become() -> None:
    swapped = {"item_ids": ["2", "1"], "new_item_ids": ["4", "3"]}
    assert argument_differences(EXCHANGE, EXCHANGE | swapped) == []
    crossed = {"item_ids": ["2", "1"], "new_item_ids": ["3", "4"]}
    found = argument_differences(EXCHANGE, EXCHANGE | crossed)
    assert [one.name for one in found] == ["new_item_ids"]


@pytest.mark.parametrize(
    ("kwargs", "target"),
    [
        ({"user_id": "mia", "order_id": "#W1"}, "#W1"),
        ({"user_id": "mia", "amount": 5}, "mia"),
        ({"user_id": "mia", "ticket_id": "t"}, "t"),
        ({"payment_id": "p", "lamp": "hall"}, None),
        ({"order_id": ["#W1"]}, None),
    ],
)
def test_what_a_call_is_about(kwargs: dict[str, Any], target: str | None) -> None:
    found = target_of(kwargs)
    assert (found.value if found else None) == target


@given(st.lists(writes, max_size=6), st.data())
def test_the_same_writes_are_aligned_whole(needed: list[ActionRecord], data: st.DataObject) -> None:
    wanted = [Write(one.name, one.kwargs) for one in needed]
    found = align(wanted, data.draw(st.permutations(wanted)))
    assert [pair.relation for pair in found.pairs] == ["same"] * len(wanted)
    assert found.extra == ()


@given(st.lists(writes, max_size=5), st.lists(steps, max_size=6))
def test_every_write_is_accounted_for_once(
    needed: list[ActionRecord], made: list[StepRecord]
) -> None:
    done = [
        Write(one.action.name, one.action.kwargs, "no" if one.observation != "{}" else None)
        for one in made
    ]
    found = align([Write(one.name, one.kwargs) for one in needed], done)
    assert len(found.pairs) == len(needed)
    used = [pair.actual for pair in found.pairs if pair.actual and pair.actual.refusal is None]
    assert len(used) + len(found.extra) == sum(one.refusal is None for one in done)
