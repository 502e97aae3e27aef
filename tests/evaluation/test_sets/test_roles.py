from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import UnknownName
from greenroom.evaluation.test_sets import (
    EXPECTED_COLUMNS,
    Roles,
    column_roles,
    row_expected,
    row_inputs,
)

CHAT = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("columns", "expected", "inputs"),
    [
        (["messages", "expected"], "expected", ["messages"]),
        (["messages", "correct_answer"], "correct_answer", ["messages"]),
        (["Expected Output", "question"], "Expected Output", ["question"]),
        (["question", "ground-truth"], "ground-truth", ["question"]),
        (["correct_answer", "expected", "q"], "expected", ["q"]),
        (["goal", "persona"], None, ["goal", "persona"]),
    ],
)
def test_the_expected_output_is_found_by_name(
    columns: list[str], expected: str | None, inputs: list[str]
) -> None:
    assert column_roles(columns) == Roles(expected, tuple(inputs))


def test_roles_can_be_told() -> None:
    columns = ["question", "label", "expected"]
    assert column_roles(columns, expected="label") == Roles("label", ("question",))
    assert column_roles(columns, inputs=["expected"]) == Roles("expected", ("expected",))
    with pytest.raises(UnknownName, match=r"Unknown column 'lable'\. Did you mean 'label'"):
        column_roles(columns, expected="lable")
    with pytest.raises(UnknownName, match="Unknown column 'x'"):
        column_roles(columns, inputs=["x"])


@given(st.lists(st.sampled_from([*EXPECTED_COLUMNS, "a", "b", "c"]), unique=True))
def test_a_workflow_never_sees_the_answer_unless_it_is_told_to(columns: list[str]) -> None:
    roles = column_roles(columns)
    assert not set(roles.inputs) & set(EXPECTED_COLUMNS)
    assert set(roles.inputs) == set(columns) - set(EXPECTED_COLUMNS)


def test_chats_become_messages_and_other_texts_stay() -> None:
    roles = Roles(None, ("conversation", "list", "text", "json", "missing"))
    row = {"conversation": json.dumps(CHAT), "list": CHAT, "text": "hi", "json": '{"a": 1}'}
    assert row_inputs(row, roles) == {
        "conversation": CHAT,
        "list": CHAT,
        "text": "hi",
        "json": '{"a": 1}',
    }


def test_an_empty_cell_expects_nothing() -> None:
    roles = Roles("expected", ())
    assert row_expected({"expected": "Paris"}, roles) == "Paris"
    assert row_expected({"expected": '{"a": 1}'}, roles) == '{"a": 1}'
    assert row_expected({"expected": 0}, roles) == 0
    assert row_expected({"expected": ""}, roles) is None
    assert row_expected({}, roles) is None
    assert row_expected({"expected": "Paris"}, Roles(None, ())) is None
