"""The Vercel AI SDK's wire."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

from greenroom import chat_workflow, workflow
from greenroom.workflows import report_usage
from tests.workflows.serving import HELLO, Reply, Server, serving, told

VERCEL = {"x_ag_messages_format": "vercel"}


@chat_workflow
def talker(messages: list[dict[str, Any]]) -> Iterator[Any]:
    yield "Let me "
    yield "look."
    yield {"type": "tool_call", "id": "1", "name": "look", "input": {"at": 1}}
    yield {"type": "tool_result", "id": "1", "output": {"found": 2}}
    yield {"type": "tool_call", "id": "2", "name": "ask", "input": {}}
    yield {"type": "tool_result", "id": "2", "output": "nobody", "isError": True}
    yield {"type": "tool_result", "id": "unknown", "output": "x"}
    yield {"role": "assistant", "content": "Done."}
    report_usage(prompt_tokens=1, completion_tokens=2)


@chat_workflow
def parrot(messages: list[dict[str, Any]]) -> Any:
    return {"role": "assistant", "content": repr(messages)}


@chat_workflow
def failing(messages: Any) -> Iterator[str]:
    yield "Well"
    raise ValueError("no such order")


@workflow
def double(number: int) -> Any:
    return {"twice": number * 2}


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    with serving(talker, parrot, failing, double) as running:
        yield running


def parts(reply: Reply) -> list[Any]:
    assert reply.status == 200, reply.text
    assert reply.headers["content-type"] == "text/event-stream"
    assert reply.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert reply.events[-1] == "[DONE]"
    return reply.events[:-1]


def test_a_stream_of_parts(server: Server) -> None:
    reply = server.post("/invoke", {"messages": HELLO, "session_id": "s-1"}, **VERCEL)
    found = parts(reply)
    assert found[0].pop("messageId").startswith("msg-")
    assert found == [
        {"type": "start", "messageMetadata": {"sessionId": "s-1"}},
        {"type": "start-step"},
        {"type": "text-start", "id": "text-1"},
        {"type": "text-delta", "id": "text-1", "delta": "Let me "},
        {"type": "text-delta", "id": "text-1", "delta": "look."},
        {"type": "text-end", "id": "text-1"},
        {"type": "tool-input-start", "toolCallId": "1", "toolName": "look"},
        {"type": "tool-input-available", "toolCallId": "1", "toolName": "look", "input": {"at": 1}},
        {"type": "tool-output-available", "toolCallId": "1", "output": {"found": 2}},
        {"type": "finish-step"},
        {"type": "start-step"},
        {"type": "tool-input-start", "toolCallId": "2", "toolName": "ask"},
        {"type": "tool-input-available", "toolCallId": "2", "toolName": "ask", "input": {}},
        {"type": "tool-output-error", "toolCallId": "2", "errorText": "nobody"},
        {"type": "finish-step"},
        {"type": "start-step"},
        {"type": "text-start", "id": "text-2"},
        {"type": "text-delta", "id": "text-2", "delta": "Done."},
        {"type": "text-end", "id": "text-2"},
        {"type": "finish-step"},
        {
            "type": "finish",
            "finishReason": "stop",
            "messageMetadata": {
                "traceId": reply.headers["x-ag-trace-id"],
                "usage": {"input": 1, "output": 2, "total": 3},
            },
        },
    ]


def test_json_by_name_is_json(server: Server) -> None:
    found = told(server, {"messages": HELLO}, accept="application/json", **VERCEL)
    assert found[-1] == {"role": "assistant", "content": "Done."}


def test_ui_messages_become_plain_ones(server: Server) -> None:
    messages: list[Any] = [
        {
            "id": "a",
            "role": "user",
            "parts": [{"type": "text", "text": "Hi "}, {"type": "text", "text": "you"}],
        },
        {
            "id": "b",
            "role": "assistant",
            "parts": [
                {"type": "step-start"},
                {
                    "type": "tool-look",
                    "toolCallId": "1",
                    "state": "output-available",
                    "input": {"at": 1},
                    "output": {"found": 2},
                },
                {
                    "type": "dynamic-tool",
                    "toolName": "ask",
                    "toolCallId": "2",
                    "input": {},
                    "errorText": "nobody",
                },
            ],
        },
        {"role": "user", "content": "plain already"},
        {
            "role": "user",
            "parts": [
                {"type": "text", "text": "See:"},
                {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA=="},
                {"type": "file", "mediaType": "text/plain", "url": "data:x", "filename": "a.txt"},
            ],
        },
    ]
    body = {"data": {"inputs": {"messages": messages}}}
    found = told(server, body, "/parrot/invoke", accept="application/json", **VERCEL)
    assert eval(found["data"]["outputs"]["content"]) == [
        {"role": "user", "content": "Hi you"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"at":1}'},
                },
                {"id": "2", "type": "function", "function": {"name": "ask", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": '{"found":2}'},
        {"role": "tool", "tool_call_id": "2", "content": "nobody"},
        {"role": "user", "content": "plain already"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                {"type": "file", "file": {"file_data": "data:x", "filename": "a.txt"}},
            ],
        },
    ]


def test_the_steps_of_a_message_come_back_in_order(server: Server) -> None:
    look: dict[str, Any] = {"type": "tool-look", "toolCallId": "1", "input": {}, "output": "found"}
    parts: list[dict[str, Any]] = [
        {"type": "step-start"},
        {"type": "text", "text": "Let me look."},
        look,
        {"type": "text", "text": "Found."},
        {"type": "step-start"},
        {**look, "toolCallId": "2"},
        {"type": "step-start"},
    ]
    said = {"id": "b", "role": "assistant", "parts": parts}
    body = {"messages": [said, {"role": "user", "parts": [{"type": "text", "text": "Thanks"}]}]}
    found = told(server, body, "/parrot/invoke", accept="application/json")
    plain = eval(found["content"])
    assert [(one["role"], one["content"]) for one in plain] == [
        ("assistant", "Let me look."),
        ("tool", "found"),
        ("assistant", "Found."),
        ("assistant", ""),
        ("tool", "found"),
        ("user", "Thanks"),
    ]
    assert [one.get("tool_call_id") for one in plain] == [None, "1", None, None, "2", None]


def test_an_answer_continues_the_last_message_of_the_client(server: Server) -> None:
    asked = {"id": "a", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}
    called = {"id": "b", "role": "assistant", "parts": [{"type": "text", "text": "Hm"}]}
    (start, *_) = parts(server.post("/invoke", {"id": "chat 1", "messages": [asked, called]}))
    assert start["messageId"] == "b"
    assert start["messageMetadata"] == {"sessionId": "chat%201"}
    (start, *_) = parts(server.post("/invoke", {"messages": [asked]}))
    assert start["messageId"] not in ("a", "b")


def test_what_is_shown_to_people_is_text(server: Server) -> None:
    asked = {"id": "a", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}
    cases: list[tuple[Any, dict[str, str], int, str]] = [
        ({"inputs": {}}, VERCEL, 422, "body.inputs.messages: This input is missing."),
        ({"messages": [asked]}, {"accept": "image/png"}, 406, "There is no answer in a form"),
        ({"messages": [asked]}, VERCEL | {"origin": "http://evil"}, 403, "Pages of other origins"),
    ]
    for body, headers, status, words in cases:
        reply = server.post("/parrot/invoke", body, **headers)
        assert (reply.status, reply.headers["content-type"]) == (
            status,
            "text/plain; charset=utf-8",
        )
        assert reply.text.startswith(words)
    as_json = server.post("/parrot/invoke", {"inputs": {}}, accept="application/json", **VERCEL)
    assert as_json.json["detail"][0]["msg"] == "This input is missing."


@pytest.mark.parametrize(
    "messages", [3, [3], [{"parts": [3]}], [{"parts": 3}], [{"role": 1, "parts": []}]]
)
def test_ui_messages_that_are_none_are_refused(server: Server, messages: Any) -> None:
    assert server.post("/parrot/invoke", {"inputs": {"messages": messages}}, **VERCEL).status == 422


def test_a_failure_is_a_part_as_well(server: Server) -> None:
    found = parts(server.post("/failing/invoke", {"messages": HELLO}, **VERCEL))
    assert [one["type"] for one in found[3:]] == [
        "text-delta",
        "text-end",
        "error",
        "finish-step",
        "finish",
    ]
    assert found[5]["errorText"] == "no such order"


def test_other_outputs_are_data(server: Server) -> None:
    found = parts(server.post("/double/invoke", {"inputs": {"number": 2}}, **VERCEL))
    assert {"type": "data-output", "data": {"twice": 4}} in found
