from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.evaluation.evaluators.paths import NotThere, parse_path, path_text, pick
from tests.evaluation.evaluators.scoring import chat_score, said, score

ORDER = {"id": "W1", "items": [{"name": "Lamp", "price": 10}], "a.b": {"c": [1, 2]}, "gone": None}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("id", "W1"),
        ("$.id", "W1"),
        ("items[0].name", "Lamp"),
        ("items[-1].price", 10),
        ('["a.b"].c[1]', 2),
        ('$["a.b"]["c"]', [1, 2]),
        ("gone", None),
        ("$", ORDER),
        ("", ORDER),
    ],
)
def test_paths_lead_somewhere(path: str, found: Any) -> None:
    assert pick(ORDER, parse_path(path)) == found


@pytest.mark.parametrize("path", ["nope", "items[3]", "items.name", "id.x", "id[0]", "items[0].x"])
def test_paths_that_lead_nowhere(path: str) -> None:
    with pytest.raises(NotThere, match="there is no"):
        pick(ORDER, parse_path(path))


@pytest.mark.parametrize("path", ["a..b", "a[", "a[x]", "[]", ".a"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match="is no path"):
        parse_path(path)


@given(st.lists(st.text(min_size=1) | st.integers(-5, 5)).map(tuple))
def test_a_path_is_read_as_it_is_shown(path: tuple[str | int, ...]) -> None:
    assert parse_path(path_text(path)) == path


@pytest.mark.parametrize(
    ("evaluator", "expected", "passed"),
    [
        ("field_match:field=items[0].name", "Lamp", True),
        ("field_match:field=items[0].name", "lamp", False),
        ("field_match:field=items[0].name,ignore_case=true", "lamp", True),
        ("field_match:field=items[0].price", "10", True),
        ("field_match:field=items[0].price", 10.0, True),
        ("field_match:field=items[0].name", {"items": [{"name": "Lamp"}]}, True),
        ("field_match:field=items[0].name,expected_field=product", {"product": "Lamp"}, True),
        ('field_match={"field": "[\\"a.b\\"]"}', {"c": [1, 2]}, True),
        ("field_match:field=missing", "x", False),
    ],
)
def test_a_field_is_compared(evaluator: str, expected: Any, passed: bool) -> None:
    assert score(evaluator, outputs=ORDER, expected=expected).passed is passed
    assert chat_score(evaluator, said(json.dumps(ORDER)), expected=expected).passed is passed


def test_an_expected_field_that_is_missing_is_not_scored() -> None:
    found = score("field_match:field=id,expected_field=nope", outputs=ORDER, expected={"id": "W1"})
    assert (found.score, found.reason) == (None, "the expected output: there is no nope")


@pytest.mark.parametrize(
    ("settings", "outputs", "expected", "value"),
    [
        ({}, {"a": 1, "b": 2}, {"b": 2, "a": 1.0}, 1.0),
        ({}, {"a": 1, "b": 3}, {"a": 1, "b": 2}, 0.5),
        ({}, {"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 1, "b": 2}, 0.5),
        ({"ignore_extra_keys": True}, {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2}, 1.0),
        ({}, {"a": 1}, {"a": 1, "b": 2}, 0.5),
        ({}, {"a": {"b": 1}}, {"a": 1}, 0.0),
        ({}, [1, 2, 3, 4], [1, 2, 3, 5], 0.75),
        ({}, {}, {}, 1.0),
        ({}, {}, [], 0.0),
        ({"schema_only": True}, {"a": 1, "b": "x"}, {"a": 2, "b": "y"}, 1.0),
        ({"schema_only": True}, {"a": 1, "b": "x"}, {"a": "2", "b": "y"}, 0.5),
        ({}, "no JSON", {"a": 1}, 0.0),
        ({}, '{"a": 1}', '{"a": 1}', 1.0),
    ],
)
def test_the_share_of_equal_leaves(
    settings: dict[str, Any], outputs: Any, expected: Any, value: float
) -> None:
    evaluator = {"name": "json_diff", "settings": settings}
    found = score(evaluator, outputs=outputs, expected=expected)
    assert found.score == value
    assert found.passed is (value == 1.0)
    spoken = outputs if isinstance(outputs, str) else json.dumps(outputs)
    assert chat_score(evaluator, said(spoken), expected=expected).score == value


def test_what_differs_is_named() -> None:
    found = score(
        "json_diff:threshold=0.4",
        outputs={"a": [1, 2, 3, 4], "b c": 0},
        expected={"a": [1, 0, 0, 0], "b c": 0},
    )
    assert (found.passed, found.reason) == (True, "3 of 5 differ: a[1], a[2], a[3]")
    assert found.compared == {"a": [1, 2, 3, 4], "b c": 0}


def test_an_expected_text_is_no_json() -> None:
    found = score("json_diff", outputs={"a": 1}, expected="Paris")
    assert (found.score, found.reason) == (None, "the expected output is not JSON")


json_values: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=6,
)


@given(json_values, json_values, st.booleans(), st.booleans())
def test_the_share_is_a_share(one: Any, other: Any, extra: bool, schema: bool) -> None:
    settings = {"ignore_extra_keys": extra, "schema_only": schema}
    evaluator = {"name": "json_diff", "settings": settings}
    wrapped = {"value": one}, {"value": other}
    value = score(evaluator, outputs=wrapped[0], expected=wrapped[1]).score
    assert value is not None
    assert 0 <= value <= 1
    assert score(evaluator, outputs=wrapped[0], expected=wrapped[0]).score == 1.0
    back = score(evaluator, outputs=wrapped[1], expected=wrapped[0]).score
    if not extra:
        assert back == value
        assert (value == 1.0) or one != other or schema
    if schema:
        strict = score("json_diff", outputs=wrapped[0], expected=wrapped[1]).score
        if not extra:
            assert strict is not None
            assert strict <= value


@pytest.mark.parametrize(
    ("outputs", "keys", "passed"),
    [
        ('The order: {"id": 1}. Bye', "", True),
        ('```json\n{"id": 1}\n```', "id", True),
        ('{broken {"id": 1}', "id", True),
        ('{"id": 1} or {"name": 2}', "name", True),
        ('{"id": 1}', "id,name", False),
        ("as path_text in [1]", "", False),
        ("[1, 2]", "", True),
        ("42", "", False),
        ("no", "", False),
        ("{" * 5000, "", False),
        ({"id": 1}, "id", True),
    ],
)
def test_json_in_words(outputs: Any, keys: str, passed: bool) -> None:
    evaluator = f"contains_json:keys={keys}" if keys else "contains_json"
    found = score(evaluator, outputs=outputs)
    assert (found.passed, found.compared) == (passed, outputs)
