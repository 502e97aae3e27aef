"""What users of other tools lack, as far as evaluators go: each line with ours beside it."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.evaluation import evaluator_names
from tests.evaluation.evaluators.scoring import called, chat_score, said, score

PARIS = said("Paris")


def test_a_text_equals_the_message_that_says_it() -> None:
    assert chat_score("exact_match", PARIS, expected="Paris").passed is True


def test_a_message_is_not_searched_as_its_dumped_json() -> None:
    assert chat_score("contains:values=assistant", PARIS).passed is False
    assert chat_score("contains:values=role", PARIS).passed is False
    assert chat_score("regex:pattern=content", PARIS).passed is False


@pytest.mark.parametrize(
    "name",
    ["exact_match", "contains", "starts_with", "ends_with", "levenshtein", "similarity"],
)
def test_a_list_of_messages_is_evaluated(name: str) -> None:
    several = [said("One moment."), said(None, tool_calls=[called("look")]), PARIS]
    found = chat_score(name, several, expected="Paris")
    assert (found.passed, found.compared) == (True, "Paris")


def test_the_flag_makes_the_difference_and_nothing_else_does() -> None:
    for outputs in (PARIS, [PARIS], {"messages": [PARIS]}):
        assert chat_score("exact_match", outputs, expected="Paris").passed is True
        assert score("exact_match", outputs=outputs, expected="Paris").passed is False


def test_tool_calls_are_evaluated() -> None:
    outputs = said(None, tool_calls=[called("cancel_order", '{"order_id": "#W1"}')])
    expected = [{"name": "cancel_order", "arguments": {"order_id": "#W1"}}]
    assert chat_score("tool_calls", outputs, expected=expected).passed is True
    wrong = [{"name": "cancel_order", "arguments": {"order_id": "#W2"}}]
    assert chat_score("tool_calls", outputs, expected=wrong).passed is False
    assert chat_score("tool_calls:arguments=ignore", outputs, expected=wrong).passed is True


@pytest.mark.parametrize(
    ("evaluator", "outputs", "expected", "compared", "against"),
    [
        ("exact_match", PARIS, said("Rome"), "Paris", "Rome"),
        ("contains", PARIS, "Rome", "Paris", ["Rome"]),
        ("regex:pattern=Ro", PARIS, None, "Paris", "Ro"),
        ("levenshtein", PARIS, "Rome", "Paris", "Rome"),
        ("field_match:field=a", said('{"a": 1}'), {"a": 2}, 1, 2),
        ("json_diff", said('{"a": 1}'), {"a": 2}, {"a": 1}, {"a": 2}),
        ("conversation_length:max=0", PARIS, None, 1, {"max": 0}),
        ("role_order:roles=user", PARIS, None, ["assistant"], ["user"]),
        ("tool_calls", PARIS, [], [], []),
        ("refusal:wanted=true", PARIS, None, "Paris", "a refusal"),
    ],
)
def test_what_was_compared_with_what_is_always_there(
    evaluator: str, outputs: Any, expected: Any, compared: Any, against: Any
) -> None:
    found = chat_score(evaluator, outputs, expected=expected)
    assert (found.compared, found.against) == (compared, against)
    assert found.reason


def test_the_evaluators_that_people_expect_are_there() -> None:
    assert {
        "exact_match",
        "contains",
        "contains_json",
        "starts_with",
        "ends_with",
        "regex",
        "field_match",
        "json_diff",
        "levenshtein",
        "similarity",
        "semantic_similarity",
        "llm_judge",
        "webhook",
        "python",
    } <= set(evaluator_names())
