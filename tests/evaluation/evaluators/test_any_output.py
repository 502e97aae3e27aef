"""Whatever a workflow returns and whatever a row expects: a score or none, and never a crash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.util.raw_json import raw_text, raw_value
from tests.evaluation.evaluators.scoring import score

EVALUATORS = [
    "contains",
    "contains:values=a,mode=any,field=a",
    "contains_json:keys=a",
    "conversation_length:max=3",
    "ends_with",
    "exact_match",
    "exact_match:field=a[0]",
    "field_match:field=content",
    "json_diff",
    "json_diff:ignore_extra_keys=true,schema_only=true",
    "last_message",
    "last_message:role=user",
    "levenshtein",
    "refusal",
    "regex",
    "role_order",
    "similarity:method=token_set",
    "starts_with",
    "tool_calls",
    "tool_calls:mode=superset,arguments=partial",
]

words = st.sampled_from(["a", "Paris", "assistant", "", "[", "(", '{"a": [1]}', "\ud800", "\0"])
keys = st.sampled_from(
    [
        "role",
        "content",
        "tool_calls",
        "messages",
        "function",
        "name",
        "arguments",
        "id",
        "a",
        "type",
    ]
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=8,
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": values},
    optional={"tool_calls": values, "tool_call_id": values, "refusal": values},
)
anything = values | messages | st.lists(messages, max_size=3) | messages.map(json.dumps)


@pytest.mark.parametrize("evaluator", EVALUATORS)
@settings(max_examples=min(40, settings().max_examples))
@given(
    outputs=anything,
    expected=anything,
    is_chat=st.booleans(),
    inputs=st.dictionaries(keys, anything, max_size=2),
    conversation=st.none() | st.lists(messages, max_size=3),
)
def test_any_output_has_a_score_or_none(
    evaluator: str,
    outputs: Any,
    expected: Any,
    is_chat: bool,
    inputs: dict[str, Any],
    conversation: list[dict[str, Any]] | None,
) -> None:
    found = score(
        evaluator,
        outputs=outputs,
        expected=expected,
        is_chat=is_chat,
        inputs=inputs,
        conversation=conversation,
    )
    assert not found.broken, found.reason
    assert (found.score is None) == (found.passed is None)
    assert found.score is None or 0 <= found.score <= 1
    assert found.reason
    kept = found.record().model_dump(mode="json")
    assert raw_value(raw_text(kept)) == kept
