"""Requests of the Responses API as messages and settings of chat completions."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.responses_wire import WireError, chat_tools, flat_tools, read_request

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


def test_instructions_come_before_what_was_said_before() -> None:
    request = read_request({"input": "and now?", "instructions": "Be kind."})
    before = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hi."}]
    assert request.messages(before) == [
        {"role": "system", "content": "Be kind."},
        *before,
        {"role": "user", "content": "and now?"},
    ]


def test_settings_have_the_names_of_chat_completions() -> None:
    form = {"type": "json_schema", "name": "place", "schema": SCHEMA, "strict": True}
    request = read_request(
        {
            "input": "x",
            "temperature": 0.2,
            "max_output_tokens": 50,
            "tool_choice": {"type": "function", "name": "look"},
            "text": {"format": form, "verbosity": "low"},
            "reasoning": {"effort": "low"},
            "include": ["message.output_text.logprobs"],
            "user": None,
            "truncation": "disabled",
        }
    )
    assert request.settings() == {
        "temperature": 0.2,
        "max_completion_tokens": 50,
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "place", "schema": SCHEMA, "strict": True},
        },
        "verbosity": "low",
        "reasoning_effort": "low",
        "logprobs": True,
    }


def test_tools_are_nested_and_flat_again() -> None:
    flat = {"type": "function", "name": "look", "parameters": SCHEMA, "strict": True}
    nested = chat_tools([flat | {"description": None}])
    assert nested == [
        {"type": "function", "function": {"name": "look", "parameters": SCHEMA, "strict": True}}
    ]
    assert flat_tools(nested) == [flat | {"description": None}]


def test_allowed_tools_are_named_as_functions() -> None:
    choice = {
        "type": "allowed_tools",
        "mode": "required",
        "tools": [{"type": "function", "name": "look"}],
    }
    request = read_request({"input": "x", "tool_choice": choice})
    assert request.settings()["tool_choice"] == {
        "type": "allowed_tools",
        "allowed_tools": {
            "mode": "required",
            "tools": [{"type": "function", "function": {"name": "look"}}],
        },
    }


def read_wholly(body: Any) -> None:
    request = read_request(body)
    request.messages()
    request.chat_tools()
    request.settings()


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": 5}, "input"),
        ({"input": "x", "stream": "yes"}, "stream"),
        ({"input": "x", "text": []}, "text"),
        ({"input": "x", "text": {"format": {"type": "xml"}}}, "text.format"),
        ({"input": "x", "text": {"format": "json"}}, "text.format"),
        ({"input": "x", "tools": {}}, "tools"),
        ({"input": "x", "tools": [5]}, "tools[0]"),
        ({"input": "x", "tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"input": "x", "tools": [{"type": "function"}]}, "tools[0].name"),
        (
            {"input": "x", "tools": [{"type": "function", "name": "a", "parameters": 5}]},
            "tools[0].parameters",
        ),
        ({"input": "x", "tool_choice": 5}, "tool_choice"),
        ({"input": "x", "tool_choice": {"type": "mcp"}}, "tool_choice"),
        ({"input": "x", "background": True}, "background"),
        ({"input": "x", "conversation": "conv_1"}, "conversation"),
        ({"input": "x", "prompt": {"id": "p"}}, "prompt"),
        ({"input": "x", "instructions": ["x"]}, "instructions"),
    ],
)
def test_what_is_no_request_is_refused_with_its_place(body: Any, param: str) -> None:
    with pytest.raises(WireError) as refused:
        read_wholly(body)
    assert refused.value.param == param
