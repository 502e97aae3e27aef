"""Items of an input as chat messages."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.responses_wire import WireError, messages_of_items

CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": text}


def test_a_text_is_a_message_of_the_user() -> None:
    assert messages_of_items("hello") == [said("hello")]


def test_messages_with_and_without_a_type_are_messages() -> None:
    parts = [{"type": "input_text", "text": "he"}, {"type": "input_text", "text": "llo"}]
    written: Any = [{"type": "output_text", "text": "Hi", "annotations": []}]
    items: Any = [
        said("be kind", "developer"),
        {"type": "message", "role": "user", "content": parts},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": written},
    ]
    assert messages_of_items(items) == [
        said("be kind", "developer"),
        said("hello"),
        said("Hi", "assistant"),
    ]


def test_images_and_files_are_parts() -> None:
    parts = [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"},
        {"type": "input_file", "file_data": "data:,x", "filename": "x.txt"},
    ]
    (message,) = messages_of_items([{"role": "user", "content": parts}])
    assert message["content"] == [
        {"type": "text", "text": "see"},
        {
            "type": "image_url",
            "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"},
        },
        {"type": "file", "file": {"file_data": "data:,x", "filename": "x.txt"}},
    ]


def test_calls_and_the_text_beside_them_are_one_assistant_message() -> None:
    other = CALL | {"call_id": "c2"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "found"}
    items: Any = [
        said("look"),
        {"type": "reasoning", "id": "rs_1", "summary": []},
        said("I will.", "assistant"),
        CALL,
        other,
        result,
        result | {"call_id": "c2", "output": [{"type": "input_text", "text": "none"}]},
        CALL | {"call_id": "c3"},
    ]
    assert messages_of_items(items) == [
        said("look"),
        said("I will.", "assistant") | {"tool_calls": [CHAT_CALL, CHAT_CALL | {"id": "c2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "tool", "tool_call_id": "c2", "content": "none"},
        {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL | {"id": "c3"}]},
    ]


def test_a_reference_stands_for_its_item() -> None:
    items: Any = [said("look"), {"type": "item_reference", "id": "fc_1"}, {"id": "fc_2"}]
    known = {"fc_1": CALL, "fc_2": CALL | {"call_id": "c2"}}
    assert messages_of_items(items, find=known.get)[1]["tool_calls"] == [
        CHAT_CALL,
        CHAT_CALL | {"id": "c2"},
    ]
    with pytest.raises(WireError, match="Item with id 'fc_1' not found") as missing:
        messages_of_items(items, find=lambda _: None)
    assert missing.value.param == "input[1]"


def test_text_after_a_call_joins_its_message() -> None:
    found = messages_of_items([CALL, said("One moment.", "assistant")])
    assert found == [said("One moment.", "assistant") | {"tool_calls": [CHAT_CALL]}]


REFUSED: list[tuple[Any, str]] = [
    (5, "input"),
    ({"role": "user"}, "input"),
    ([5], "input[0]"),
    ([{}], "input[0].type"),
    ([{"role": "tool", "content": "x"}], "input[0].role"),
    ([{"role": ["user"], "content": "x"}], "input[0].role"),
    ([{"role": "user"}], "input[0].content"),
    ([{"role": "user", "content": 5}], "input[0].content"),
    ([{"role": "user", "content": [5]}], "input[0].content[0]"),
    ([{"role": "user", "content": [{"type": "video"}]}], "input[0].content[0].type"),
    ([{"role": "user", "content": [{"type": "input_text"}]}], "input[0].content[0].text"),
    (
        [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}],
        "input[0].content[0]",
    ),
    ([{"type": "web_search_call"}], "input[0].type"),
    ([{"type": 5}], "input[0].type"),
    ([{"type": "item_reference", "id": "x"}], "input[0]"),
    ([CALL | {"arguments": {}}], "input[0].arguments"),
    ([{"type": "function_call_output", "call_id": "c"}], "input[0].output"),
]


@pytest.mark.parametrize(("items", "param"), REFUSED)
def test_what_is_no_item_is_refused_with_its_place(items: Any, param: str) -> None:
    with pytest.raises(WireError) as refused:
        messages_of_items(items)
    assert refused.value.param == param
