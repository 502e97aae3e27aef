"""The flag decides what is compared, and the score always shows it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.messages import text_of
from tests.evaluation.evaluators.scoring import called, chat_score, said, score

PARTS = [{"type": "text", "text": "Par"}, {"type": "image_url"}, {"type": "text", "text": "is"}]
PARIS: list[Any] = [
    said("Paris"),
    [said("Paris")],
    [said("Let me see."), said(None, tool_calls=[called("look")]), said("Paris")],
    [said("Paris"), {"role": "tool", "content": "ok", "tool_call_id": "1"}],
    {"messages": [{"role": "user", "content": "Capital?"}, said("Paris")]},
    said(PARTS),
    "Paris",
]
EXPECTED: list[Any] = [
    "Paris",
    said("Paris"),
    [{"role": "user", "content": "Capital?"}, said("Paris")],
    {"messages": [said("Paris")]},
    json.dumps(said("Paris")),
    json.dumps([said("no"), said("Paris")]),
    said(PARTS),
]


@pytest.mark.parametrize("expected", EXPECTED)
@pytest.mark.parametrize("outputs", PARIS)
def test_of_a_chat_the_last_assistant_text_is_compared(outputs: Any, expected: Any) -> None:
    found = chat_score("exact_match", outputs, expected=expected)
    assert (found.score, found.passed) == (1.0, True)
    assert (found.compared, found.against) == ("Paris", "Paris")


@pytest.mark.parametrize("outputs", PARIS)
def test_the_dumped_message_is_never_looked_at(outputs: Any) -> None:
    found = chat_score("contains:values=assistant", outputs)
    assert (found.score, found.passed, found.compared) == (0.0, False, "Paris")


def test_a_call_without_words_says_nothing() -> None:
    found = chat_score("exact_match", said(None, tool_calls=[called("look")]), expected="Paris")
    assert (found.score, found.compared, found.reason) == (0.0, "", "nothing was said")
    assert chat_score("exact_match", [], expected="Paris").score == 0.0
    silent = [{"role": "tool", "content": "Paris", "tool_call_id": "1"}]
    assert chat_score("exact_match", silent, expected="Paris").compared == ""


@pytest.mark.parametrize("outputs", [{"answer": "Paris"}, 3, None, [said("Paris"), 3]])
def test_a_chat_output_that_holds_no_messages_is_not_scored(outputs: Any) -> None:
    found = chat_score("exact_match", outputs, expected="Paris")
    assert (found.score, found.passed, found.compared) == (None, None, outputs)
    assert "holds no messages" in found.reason


def test_without_the_flag_the_output_is_taken_at_face_value() -> None:
    message = said("Paris")
    found = score("exact_match", outputs=message, expected="Paris")
    assert (found.score, found.compared, found.against) == (0.0, message, "Paris")
    assert score("exact_match", outputs=message, expected=message).score == 1.0
    assert score("exact_match", outputs="Paris", expected=message).score == 0.0


@pytest.mark.parametrize(
    ("outputs", "expected", "equal"),
    [
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, True),
        ({"a": 1}, '{ "a" : 1.0 }', True),
        ('{"a": 1}', {"a": 1}, True),
        ({"a": 1}, "{'a': 1}", False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 0}, {"a": False}, False),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
        (42, "42", True),
        ("42", 42, True),
        ("42", "42.0", False),
        (True, "true", True),
        ("Paris", "paris", False),
    ],
)
def test_json_is_compared_as_json(outputs: Any, expected: Any, equal: bool) -> None:
    found = score("exact_match", outputs=outputs, expected=expected)
    assert found.passed is equal
    assert (found.compared, found.against) == (outputs, expected)


@pytest.mark.parametrize("name", ["contains", "starts_with", "regex", "levenshtein", "similarity"])
def test_json_is_not_dumped_for_evaluators_of_texts(name: str) -> None:
    outputs = {"answer": "Paris"}
    found = score(name, outputs=outputs, expected="answer")
    assert (found.score, found.passed, found.compared) == (None, None, outputs)
    assert "name a field of it" in found.reason
    assert score(f"{name}:field=answer", outputs=outputs, expected="Paris").score == 1.0


def test_numbers_are_texts_too() -> None:
    assert score("contains:values=4", outputs=42).passed is True
    assert score("contains:values=t", outputs=True).score is None


@pytest.mark.parametrize(
    "name", ["exact_match", "contains", "starts_with", "ends_with", "regex", "json_diff"]
)
@pytest.mark.parametrize("is_chat", [True, False])
def test_a_row_that_expects_nothing_is_not_scored(name: str, is_chat: bool) -> None:
    found = score(name, outputs="Paris", is_chat=is_chat)
    assert (found.score, found.passed, found.broken) == (None, None, False)
    assert (found.compared, found.reason) == ("Paris", "the row has no expected output")


def test_an_expected_conversation_without_the_assistant_is_not_scored() -> None:
    asked = [{"role": "user", "content": "Capital?"}]
    assert chat_score("exact_match", said("Paris"), expected=asked).score is None


def text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


parts = st.lists(st.builds(text_part, st.text(max_size=4)))
messages = st.builds(said, st.none() | st.text(max_size=8) | parts)


@given(st.lists(messages, min_size=1, max_size=4))
def test_any_conversation_equals_itself(conversation: list[dict[str, Any]]) -> None:
    last = text_of(conversation[-1]["content"])
    for outputs in (conversation, {"messages": conversation}, conversation[-1]):
        for expected in (conversation, conversation[-1], json.dumps(conversation)):
            found = chat_score("exact_match", outputs, expected=expected)
            assert (found.score, found.compared, found.against) == (1.0, last, last)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s)))
def test_a_score_is_kept_as_it_is(value: Any) -> None:
    found = score("exact_match", outputs=value, expected=value)
    if value is None:
        assert found.score is None
        return
    record = found.record()
    assert (record.score, record.passed) == (1.0, True)
    assert (record.compared, record.against) == (value, value)


LOOK = said(None, tool_calls=[called("get_order", '{"id": 1}', "a")])
SAME = said("", tool_calls=[called("get_order", '{"id":1}', "b")])
OTHER = said(None, tool_calls=[called("delete_account", "{}")])


def test_answers_without_text_are_compared_by_their_calls() -> None:
    """Two different calls are not the same answer because neither has text."""
    for name in ("exact_match", "json_diff"):
        assert chat_score(name, LOOK, expected=SAME).score == 1.0
        assert (chat_score(name, LOOK, expected=OTHER).score or 0.0) < 1.0
    found = chat_score("exact_match", OTHER, expected=LOOK)
    assert found.compared == [{"name": "delete_account", "arguments": {}}]
    assert found.against == [{"name": "get_order", "arguments": {"id": 1}}]
    assert chat_score("exact_match", said("Done."), expected=LOOK).score == 0.0
    old = said(None, function_call={"name": "get_order", "arguments": '{"id": 1}'})
    assert chat_score("exact_match", old, expected=LOOK).score == 1.0
    broken = said(None, tool_calls=["get_order"])
    assert chat_score("exact_match", broken, expected=LOOK).score == 0.0


@pytest.mark.parametrize(
    "name",
    [
        *("similarity", "levenshtein", "contains", "starts_with", "ends_with", "regex"),
        *("last_message", "last_message:match=contains"),
    ],
)
@pytest.mark.parametrize("outputs", [LOOK, OTHER, said("Done.")])
def test_an_expected_answer_without_text_is_nothing_for_evaluators_of_text(
    name: str, outputs: Any
) -> None:
    found = chat_score(name, outputs, expected=OTHER)
    assert (found.score, found.passed) == (None, None)
    assert found.reason == "the expected output has no text, only tool calls: use tool_calls"


@pytest.mark.parametrize("name", ["similarity", "contains", "starts_with", "regex", "refusal"])
def test_an_answer_without_text_lacks_an_expected_text(name: str) -> None:
    wanted = {"name": name, "settings": {"wanted": True}} if name == "refusal" else name
    assert chat_score(wanted, OTHER, expected="Paris").score == 0.0
    assert chat_score("contains_json", OTHER, expected="Paris").score == 0.0


def test_two_refusals_are_compared_by_their_words() -> None:
    one, other = said(None, refusal="I can't."), said(None, refusal="Not today.")
    assert chat_score("exact_match", one, expected=one).score == 1.0
    assert chat_score("exact_match", one, expected=other).score == 0.0


NOTHING = said("")


@pytest.mark.parametrize(
    "name", ["exact_match", "similarity", "levenshtein", "semantic_similarity", "last_message"]
)
def test_a_call_is_not_the_silence_that_was_expected(name: str) -> None:
    found = score(
        name, outputs=said(None, tool_calls=[called("x")]), expected=NOTHING, is_chat=True
    )
    assert (found.score, found.passed) == (0.0, False)
    assert found.reason == "it calls tools, which was not expected"
    assert score(name, outputs=NOTHING, expected=NOTHING, is_chat=True).passed is True


@pytest.mark.parametrize(
    "name", ["contains", "starts_with", "ends_with", "regex", "last_message:match=contains"]
)
@pytest.mark.parametrize("expected", [NOTHING, [NOTHING], json.dumps(NOTHING)])
def test_an_empty_text_is_not_looked_for(name: str, expected: Any) -> None:
    found = score(name, outputs=said("Done."), expected=expected, is_chat=True)
    assert (found.score, found.reason) == (None, "the expected output has no text to look for")
