from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation.evaluators.scoring import called, chat_score, said

MODES = ("strict", "unordered", "subset", "superset")
ARGUMENTS = ("exact", "partial", "ignore")
LOOK: dict[str, Any] = {"name": "look", "arguments": {"id": 1}}
SEND: dict[str, Any] = {"name": "send", "arguments": {"to": "a", "what": {"x": 1, "y": [2]}}}


def made(*calls: dict[str, Any]) -> dict[str, Any]:
    return said(
        None, tool_calls=[called(call["name"], json.dumps(call["arguments"])) for call in calls]
    )


def passed(mode: str, arguments: str, actual: list[Any], expected: list[Any]) -> bool:
    found = chat_score(
        f"tool_calls:mode={mode},arguments={arguments}", made(*actual), expected=expected
    )
    assert found.passed is not None
    assert found.score == float(found.passed)
    return found.passed


@pytest.mark.parametrize(
    ("actual", "expected", "modes"),
    [
        ([LOOK, SEND], [LOOK, SEND], MODES),
        ([SEND, LOOK], [LOOK, SEND], ("unordered", "subset", "superset")),
        ([LOOK], [LOOK, SEND], ("subset",)),
        ([LOOK, SEND], [SEND], ("superset",)),
        ([LOOK, LOOK], [LOOK], ("superset",)),
        ([LOOK], [LOOK, LOOK], ("subset",)),
        ([LOOK], [SEND], ()),
        ([], [], MODES),
        ([], [LOOK], ("subset",)),
        ([LOOK], [], ("superset",)),
    ],
)
def test_modes(actual: list[Any], expected: list[Any], modes: tuple[str, ...]) -> None:
    for mode in MODES:
        assert passed(mode, "exact", actual, expected) is (mode in modes), mode


@pytest.mark.parametrize(
    ("arguments", "modes"),
    [
        ({"to": "a", "what": {"x": 1, "y": [2]}}, ARGUMENTS),
        ({"what": {"y": [2.0], "x": 1}, "to": "a"}, ARGUMENTS),
        ({"to": "a"}, ("partial", "ignore")),
        ({"what": {"x": 1}}, ("partial", "ignore")),
        ({}, ("partial", "ignore")),
        ({"to": "b"}, ("ignore",)),
        ({"to": "a", "cc": "c"}, ("ignore",)),
        ({"what": {"y": []}}, ("ignore",)),
    ],
)
def test_arguments(arguments: dict[str, Any], modes: tuple[str, ...]) -> None:
    expected = [{"name": "send", "arguments": arguments}]
    for mode in ARGUMENTS:
        assert passed("strict", mode, [SEND], expected) is (mode in modes), mode


@pytest.mark.parametrize(
    "expected",
    [
        [LOOK],
        LOOK,
        json.dumps([LOOK]),
        [{"name": "look", "args": {"id": 1}}],
        [called("look", '{"id": 1}')],
        {"tool_calls": [called("look", {"id": 1})]},
        made(LOOK),
        [said("I look."), made(LOOK), {"role": "tool", "content": "x", "tool_call_id": "1"}],
        json.dumps(made(LOOK)),
    ],
)
def test_expected_calls_are_read_from_any_shape(expected: Any) -> None:
    found = chat_score("tool_calls", [made(LOOK), said("Done.")], expected=expected)
    assert found.passed is True
    assert (found.compared, found.against) == ([LOOK], [LOOK])


def test_calls_are_told_by_settings() -> None:
    evaluator = {"name": "tool_calls", "settings": {"calls": [LOOK], "mode": "superset"}}
    assert chat_score(evaluator, made(SEND, LOOK)).passed is True
    text = 'tool_calls={"calls": [{"name": "look"}], "arguments": "ignore"}'
    assert chat_score(text, made(LOOK)).passed is True


def test_calls_of_all_messages_count() -> None:
    outputs = [made(LOOK), {"role": "tool", "content": "x", "tool_call_id": "1"}, made(SEND)]
    assert chat_score("tool_calls", outputs, expected=[LOOK, SEND]).passed is True
    whole = [*outputs, said("Done.")]
    assert chat_score("tool_calls", said("x"), conversation=whole, expected=[LOOK, SEND]).passed
    old = said(None, function_call={"name": "look", "arguments": '{"id": 1}'})
    assert chat_score("tool_calls", old, expected=[LOOK]).passed is True


def test_an_answer_in_words_where_no_call_is_expected() -> None:
    found = chat_score("tool_calls", said("Paris"), expected=said("Paris"))
    assert (found.passed, found.compared, found.against) == (True, [], [])


@pytest.mark.parametrize("expected", ["Paris", None, 3, [3], [{"arguments": {}}]])
def test_where_no_calls_are_named_there_is_no_score(expected: Any) -> None:
    found = chat_score("tool_calls", made(LOOK), expected=expected)
    assert (found.score, found.passed, found.broken) == (None, None, False)
    assert found.compared == [LOOK]


def test_arguments_that_are_no_json_equal_nothing() -> None:
    outputs = said(None, tool_calls=[called("look", "{id: 1")])
    found = chat_score("tool_calls", outputs, expected=[LOOK])
    assert (found.passed, found.compared) == (
        False,
        [{"name": "look", "arguments": "{id: 1"}],
    )
    assert chat_score("tool_calls:arguments=ignore", outputs, expected=[LOOK]).passed is True


def test_what_is_amiss_is_named() -> None:
    found = chat_score("tool_calls", made(SEND), expected=[LOOK])
    assert found.reason == "not made: look; not expected: send"
    assert chat_score("tool_calls", made(SEND, LOOK), expected=[LOOK, SEND]).reason == (
        "another order"
    )


def test_one_call_may_fit_several_expected_ones() -> None:
    wide: dict[str, Any] = {"name": "send", "arguments": {}}
    narrow = {"name": "send", "arguments": {"to": "a"}}
    both: list[Any] = [SEND, {"name": "send", "arguments": {"to": "b"}}]
    assert passed("unordered", "partial", both, [wide, narrow]) is True
    assert passed("unordered", "partial", both, [narrow, wide]) is True
    assert passed("unordered", "partial", list(reversed(both)), [wide, narrow]) is True
    assert passed("unordered", "partial", both, [narrow, narrow]) is False


def call(name: str, arguments: dict[str, int]) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


names = st.sampled_from("ab")
arguments = st.dictionaries(st.sampled_from("xy"), st.integers(0, 1))
calls = st.lists(st.builds(call, names, arguments), max_size=4)


@given(calls, calls)
def test_strict_implies_unordered_implies_subset_and_superset(
    actual: list[Any], expected: list[Any]
) -> None:
    for arguments in ARGUMENTS:
        found = {mode: passed(mode, arguments, actual, expected) for mode in MODES}
        assert not found["strict"] or found["unordered"]
        assert found["unordered"] == (found["subset"] and found["superset"])


@given(calls, calls)
def test_exact_implies_partial_implies_ignored(actual: list[Any], expected: list[Any]) -> None:
    for mode in MODES:
        exact, partial, ignored = (passed(mode, a, actual, expected) for a in ARGUMENTS)
        assert not exact or partial
        assert not partial or ignored


@given(calls, calls)
def test_with_exact_arguments_it_is_counting(actual: list[Any], expected: list[Any]) -> None:
    there, needed = (Counter(json.dumps(c, sort_keys=True) for c in s) for s in (actual, expected))
    assert passed("subset", "exact", actual, expected) is (there <= needed)
    assert passed("superset", "exact", actual, expected) is (there >= needed)
    assert passed("unordered", "exact", actual, expected) is (there == needed)
    assert passed("strict", "exact", actual, expected) is (actual == expected)
