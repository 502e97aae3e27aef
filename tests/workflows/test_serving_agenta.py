"""Agenta's routes: /inspect, /invoke in all its forms, /run and /test."""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from greenroom import chat_workflow, workflow
from greenroom.errors import InputError
from greenroom.workflows import CallError, report_usage
from greenroom.workflows.serve import create_app
from tests.workflows.serving import HELLO, Server, serving, told


class Settings(BaseModel):
    tone: str = "kind"


@chat_workflow(name="Support bot", parameters=Settings)
async def support(
    messages: list[dict[str, Any]],
    parameters: Settings,
    session_id: str,
    customer: str = "Bob",
    tools: Any = None,
) -> dict[str, Any]:
    """Answers customers."""
    words = [parameters.tone, customer, messages[-1]["content"], str(len(tools or []))]
    return {"role": "assistant", "content": " ".join(words)}


@chat_workflow
async def words(messages: list[dict[str, Any]]) -> AsyncIterator[Any]:
    report_usage(prompt_tokens=4, completion_tokens=2, cost=0.01)
    yield "Hel"
    yield "lo!"
    yield {"type": "tool_call", "id": "1", "name": "look", "input": {}}
    yield {"type": "tool_result", "id": "1", "output": "x"}
    yield {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "2", "function": {"name": "ask", "arguments": '{"a": 1}'}}],
    }


@workflow
def shout(text: str) -> str:
    return text.upper()


@workflow
def numbers(count: int) -> Iterator[Any]:
    for number in range(count):
        yield {"number": number}


@workflow
def broken(how: str) -> Any:
    match how:
        case "raise":
            raise ValueError("no such order")
        case "busy":
            raise CallError("come back later", status=503, kind="Busy")
        case "odd":
            raise CallError("strange", status=12)
        case "nan":
            return [math.nan, math.inf]
        case "object":
            return object()
        case "surrogate":
            return "\ud800"
        case "large":
            return 2**70
        case "deep":
            value: Any = "bottom"
            for _ in range(150):
                value = [value]
            return value
        case _:
            raise SystemExit


@chat_workflow
def half(messages: Any) -> Iterator[str]:
    yield "Well"
    raise KeyError("gone")


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    with serving(support, words, shout, numbers, broken, half) as running:
        yield running


@pytest.fixture(scope="module")
def alone() -> Generator[Server]:
    with serving(shout) as running:
        yield running


SAID = {"role": "assistant", "content": "kind Bob hello 0"}
ENVELOPE = {"data": {"inputs": {"messages": HELLO}}}


@pytest.mark.parametrize("path", ["/inspect", "/Support-bot/inspect"])
def test_inspect_tells_flags_at_both_places(server: Server, path: str) -> None:
    answers = [server.get(path), server.post(path, {}), server.post(path, b"")]
    answers.append(server.post(path, {"revision": {"uri": "agenta:builtin:chat:v0"}}))
    for reply in answers:
        assert reply.status == 200
        assert reply.json == answers[0].json
    found = answers[0].json
    assert found["flags"] == found["request"]["flags"] == {"is_chat": True}
    assert found["version"] == answers[0].headers["x-ag-version"] == "2025.07.14"
    revision = found["revision"]
    assert (revision["name"], revision["slug"]) == ("Support bot", "Support-bot")
    assert revision["data"]["parameters"] == {"tone": "kind"}
    schemas = revision["data"]["schemas"]
    assert schemas["inputs"]["properties"]["messages"] == {
        "type": "array",
        "x-ag-type-ref": "messages",
    }
    assert schemas["outputs"] == {"type": "object", "x-ag-type-ref": "message"}


def test_without_flags_there_is_no_key_for_them(alone: Server) -> None:
    found = alone.get("/inspect").json
    assert "flags" not in found
    assert "flags" not in found["request"]


def test_one_workflow_answers_at_the_root_only(alone: Server) -> None:
    assert told(alone, {"inputs": {"text": "a"}}) == "A"
    assert alone.get("/shout/inspect").status == 404


def test_several_answer_under_their_names_and_the_first_at_the_root(server: Server) -> None:
    assert told(server, {"messages": HELLO}) == SAID
    assert told(server, {"messages": HELLO}, "/Support-bot/invoke") == SAID
    assert told(server, {"inputs": {"text": "a"}}, "/shout/invoke") == "A"
    assert server.get("/other/inspect").status == 404
    assert server.get("/invoke").status == 405


def test_an_envelope_is_answered_with_an_envelope(server: Server) -> None:
    body = {
        "data": {
            "inputs": {"messages": HELLO, "customer": "Ann"},
            "parameters": {"tone": "warm"},
            "tools": [{"type": "function"}],
        },
        "session_id": "s-1",
        "references": {"application": {"id": "x"}},
        "flags": {"stream": False},
    }
    reply = server.post("/invoke", body)
    found = reply.json
    assert found["data"] == {"outputs": {"role": "assistant", "content": "warm Ann hello 1"}}
    assert found["status"] == {"code": 200, "message": "Success"}
    assert found["session_id"] == reply.headers["x-ag-session-id"] == "s-1"
    assert re.fullmatch("[0-9a-f]{32}", found["trace_id"])
    assert found["trace_id"] == reply.headers["x-ag-trace-id"]
    assert found["span_id"] == reply.headers["x-ag-span-id"]
    assert reply.headers["traceparent"] == f"00-{found['trace_id']}-{found['span_id']}-01"


@pytest.mark.parametrize(
    "body",
    [
        {"messages": HELLO},
        {"messages": HELLO, "inputs": {"customer": "Bob"}, "parameters": {"tone": "kind"}},
        {"inputs": {"messages": HELLO}, "parameters": {}},
        {"inputs": {"messages": HELLO}, "parameters": None, "session_id": None},
    ],
)
def test_plain_and_flat_bodies_are_answered_with_the_bare_output(server: Server, body: Any) -> None:
    assert told(server, body) == SAID


def test_a_body_with_nothing_is_an_envelope(server: Server) -> None:
    with serving(workflow(lambda: 3)) as nothing:
        assert told(nothing, {})["data"]["outputs"] == 3
        assert told(nothing, {"data": None})["data"]["outputs"] == 3
        assert told(nothing, b"")["data"]["outputs"] == 3
        assert told(nothing, {"inputs": {}}) == 3


def test_a_session_is_echoed_or_new(server: Server) -> None:
    ids = {server.post("/invoke", ENVELOPE).json["session_id"] for _ in range(3)}
    assert len(ids) == 3
    assert told(server, ENVELOPE, x_ag_session_id="s-2")["session_id"] == "s-2"
    assert (
        told(server, ENVELOPE | {"session_id": "s-3"}, x_ag_session_id="s-2")["session_id"] == "s-3"
    )


@pytest.mark.parametrize("session", ["a b", "a\r\nx: y", "", "é", "x" * 257])
def test_a_session_that_is_no_header_is_refused(server: Server, session: str) -> None:
    reply = server.post("/invoke", ENVELOPE | {"session_id": session})
    assert reply.status == 422
    assert reply.json["detail"][0]["loc"] == ["body", "session_id"]


def test_an_incoming_traceparent_is_honoured(server: Server) -> None:
    trace, parent = "a" * 32, "b" * 16
    reply = server.post("/invoke", ENVELOPE, traceparent=f"00-{trace}-{parent}-00")
    assert reply.json["trace_id"] == trace
    assert reply.json["span_id"] != parent
    assert reply.headers["traceparent"] == f"00-{trace}-{reply.json['span_id']}-00"
    wrong = server.post("/invoke", ENVELOPE, traceparent=f"00-{'0' * 32}-{parent}-00")
    assert wrong.json["trace_id"] != "0" * 32


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({"messages": HELLO, "parameters": {"tone": 3}}, [["body", "parameters", "tone"]]),
        ({"data": {"inputs": {"messages": 3}}}, [["body", "data", "inputs", "messages"]]),
        ({"messages": [3]}, [["body", "inputs", "messages", 0]]),
        ({"messages": "hi"}, [["body", "messages"]]),
        ({"data": 3}, [["body", "data"]]),
        ({"data": {"inputs": []}}, [["body", "data", "inputs"]]),
        ({"messages": HELLO, "tools": [1]}, [["body", "tools", 0]]),
        ({"inputs": {"messages": HELLO}, "parameters": []}, [["body", "parameters"]]),
        ({"data": {"inputs": {"messages": HELLO}}, "session_id": 3}, [["body", "session_id"]]),
        (
            {"data": {"inputs": {"messages": HELLO}}, "flags": {"stream": 3}},
            [["body", "flags", "stream"]],
        ),
        ({}, [["body", "data", "inputs", "messages"]]),
        (
            {"inputs": {"messages": HELLO, "customer": 3}, "parameters": {"tone": 3}},
            [["body", "parameters", "tone"], ["body", "inputs", "customer"]],
        ),
        ([], [["body"]]),
        (b"{", [["body"]]),
    ],
)
def test_what_is_wrong_is_told_place_by_place(server: Server, body: Any, places: Any) -> None:
    reply = server.post("/invoke", body)
    assert reply.status == 422
    assert [one["loc"] for one in reply.json["detail"]] == places
    assert all(one["msg"] and one["type"] for one in reply.json["detail"])


def test_every_part_of_a_wrong_type_is_told(server: Server) -> None:
    body = {"data": {"inputs": [], "tools": [1], "parameters": "x"}, "flags": {"stream": "yes"}}
    assert server.post("/invoke", body).json["detail"] == [
        {"type": "dict_type", "loc": ["body", "data", "inputs"], "msg": "This must be an object."},
        {
            "type": "dict_type",
            "loc": ["body", "data", "parameters"],
            "msg": "This must be an object.",
        },
        {
            "type": "dict_type",
            "loc": ["body", "data", "tools", 0],
            "msg": "This must be an object.",
        },
        {"type": "bool_type", "loc": ["body", "flags", "stream"], "msg": "This must be a boolean."},
    ]
    (problem,) = server.post("/invoke", {"data": 3}).json["detail"]
    assert (problem["type"], problem["loc"]) == ("dict_type", ["body", "data"])


def test_what_a_handler_raises_is_told_without_a_traceback(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    for body in ({"inputs": {"how": "raise"}}, {"data": {"inputs": {"how": "raise"}}}):
        reply = server.post("/broken/invoke", body)
        assert reply.status == 500
        assert reply.json["status"] == {
            "code": 500,
            "message": "no such order",
            "type": "ValueError",
        }
        assert "Traceback" not in reply.text
        assert reply.headers["x-ag-trace-id"] == reply.json["trace_id"]
    assert "The workflow 'broken' failed.\nTraceback" in caplog.text


@pytest.mark.parametrize(
    ("how", "status", "kind"),
    [
        ("busy", 503, "Busy"),
        ("odd", 500, ""),
        ("object", 500, "NotJson"),
        ("exit", 500, "SystemExit"),
    ],
)
def test_other_failures_keep_their_status(server: Server, how: str, status: int, kind: str) -> None:
    reply = server.post("/broken/invoke", {"inputs": {"how": how}})
    assert (reply.status, reply.json["status"]["type"]) == (status, kind)


def test_outputs_that_are_hardly_json_break_nothing(server: Server) -> None:
    assert told(server, {"inputs": {"how": "nan"}}, "/broken/invoke") == [None, None]
    assert told(server, {"inputs": {"how": "surrogate"}}, "/broken/invoke") == "\ud800"
    assert told(server, {"inputs": {"how": "large"}}, "/broken/invoke") == 2**70
    value = told(server, {"inputs": {"how": "deep"}}, "/broken/invoke")
    for _ in range(150):
        (value,) = value
    assert value == "bottom"


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("text/*", "text/event-stream"),
        ("application/x-ndjson", "application/x-ndjson"),
        ("application/jsonl", "application/x-ndjson"),
        ("text/html, text/event-stream;q=0.9, */*;q=0.1", "text/event-stream"),
        ("application/json;q=0.5, application/x-ndjson", "application/x-ndjson"),
        ("TEXT/Event-Stream", "text/event-stream"),
    ],
)
@pytest.mark.parametrize("path", ["/invoke", "/words/invoke"])
def test_the_form_is_what_the_client_accepts(
    server: Server, path: str, accept: str, content_type: str
) -> None:
    headers = {"accept": accept} if accept else {}
    reply = server.post(path, {"messages": HELLO}, **headers)
    assert (reply.status, reply.headers["content-type"]) == (200, content_type)


@pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "image/*", "x", "a;q=z"])
def test_what_cannot_be_had_is_406(server: Server, accept: str) -> None:
    reply = server.post("/invoke", {"messages": HELLO}, accept=accept)
    assert reply.status == 406
    assert set(reply.json) == {"detail", "requested", "supported"}
    assert reply.json["requested"] == accept
    assert "text/event-stream" in reply.json["supported"]


def test_the_body_may_ask_for_a_stream_where_accept_leaves_it_open(server: Server) -> None:
    body = ENVELOPE | {"flags": {"stream": True}}
    either = "text/event-stream, application/json"
    cases = [
        (body, "*/*", "application/x-ndjson"),
        (body, either, "text/event-stream"),
        (body, "application/json", "application/json"),
        (ENVELOPE, either, "text/event-stream"),
        (ENVELOPE | {"flags": {"stream": False}}, either, "application/json"),
        ({"messages": HELLO, "stream": True}, "*/*", "application/x-ndjson"),
    ]
    for asked, accept, content_type in cases:
        reply = server.post("/words/invoke", asked, accept=accept)
        assert reply.headers["content-type"] == content_type, (asked, accept)


def test_a_stream_tells_everything_in_order(server: Server) -> None:
    reply = server.post("/words/invoke", {"messages": HELLO}, accept="text/event-stream")
    said = {"role": "assistant", "content": "Hello!"}
    asking = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "2", "function": {"name": "ask", "arguments": '{"a": 1}'}}],
    }
    assert [(one["type"], one["data"]) for one in reply.events] == [
        ("message_start", {"id": "msg-1"}),
        ("message_delta", {"id": "msg-1", "delta": "Hel"}),
        ("message_delta", {"id": "msg-1", "delta": "lo!"}),
        ("message_end", {"id": "msg-1", "message": said}),
        ("tool_call", {"id": "1", "name": "look", "input": {}}),
        ("tool_result", {"id": "1", "output": "x"}),
        ("message_start", {"id": "msg-2"}),
        ("message_end", {"id": "msg-2", "message": asking}),
        ("tool_call", {"id": "2", "name": "ask", "input": {"a": 1}}),
        ("usage", {"input": 4, "output": 2, "total": 6, "cost": 0.01}),
        (
            "done",
            {
                "stopReason": "stop",
                "outputs": [said, asking],
                "session_id": reply.headers["x-ag-session-id"],
                "trace_id": reply.headers["x-ag-trace-id"],
            },
        ),
    ]
    lines = server.post("/words/invoke", {"messages": HELLO}, accept="application/x-ndjson")
    assert [one["type"] for one in lines.events] == [one["type"] for one in reply.events]
    whole = told(server, {"data": {"inputs": {"messages": HELLO}}}, "/words/invoke")
    assert whole["data"]["outputs"] == [said, asking]
    assert whole["usage"] == {"input": 4, "output": 2, "total": 6, "cost": 0.01}


def test_workflows_that_are_no_chat_stream_as_well(server: Server) -> None:
    rows = server.post("/numbers/invoke", {"inputs": {"count": 2}}, accept="text/event-stream")
    assert [(one["type"], one["data"]) for one in rows.events[:2]] == [
        ("data", {"name": "output", "data": {"number": 0}}),
        ("data", {"name": "output", "data": {"number": 1}}),
    ]
    assert rows.events[-1]["data"]["outputs"] == [{"number": 0}, {"number": 1}]
    text = server.post("/shout/invoke", {"inputs": {"text": "a"}}, accept="text/event-stream")
    assert [one["type"] for one in text.events] == [
        "message_start",
        "message_delta",
        "message_end",
        "done",
    ]
    assert text.events[-1]["data"]["outputs"] == "A"


def test_a_failure_before_the_first_piece_has_a_status_of_its_own(server: Server) -> None:
    body = {"inputs": {"how": "raise"}}
    reply = server.post("/broken/invoke", body, accept="text/event-stream")
    assert (reply.status, reply.headers["content-type"]) == (500, "application/json")
    assert server.post("/words/invoke", {"messages": 3}, accept="text/event-stream").status == 422


def test_a_failure_in_the_middle_ends_the_stream(server: Server) -> None:
    reply = server.post("/half/invoke", {"messages": HELLO}, accept="text/event-stream")
    assert reply.status == 200
    assert [one["type"] for one in reply.events] == [
        "message_start",
        "message_delta",
        "error",
        "done",
    ]
    assert reply.events[2]["data"] == {"message": "'gone'", "type": "KeyError"}
    assert reply.events[3]["data"]["stopReason"] == "error"


@pytest.mark.parametrize("path", ["/run", "/test", "/Support-bot/test"])
def test_the_old_routes(server: Server, path: str) -> None:
    body = {"ag_config": {"tone": "warm"}, "inputs": {"customer": "Ann"}, "messages": HELLO}
    found = told(server, body, path)
    assert found["version"] == "3.0"
    assert found["data"] == {"role": "assistant", "content": "warm Ann hello 0"}
    assert found["content_type"] == "application/json"
    assert re.fullmatch("[0-9a-f]{32}", found["trace_id"])


def test_old_bodies_may_have_their_inputs_at_the_root(server: Server) -> None:
    found = told(server, {"ag_config": {}, "text": "a"}, "/shout/run")
    assert (found["data"], found["content_type"]) == ("A", "text/plain")
    assert server.post("/shout/run", {}).json["detail"][0]["loc"] == ["body", "inputs", "text"]
    failed = server.post("/broken/run", {"how": "raise"})
    assert failed.status == 500
    assert failed.json == {"detail": {"message": "no such order", "type": "ValueError"}}


def test_the_server_is_healthy(server: Server) -> None:
    assert server.get("/health").json == {"status": "ok"}


def test_workflows_that_cannot_live_together_are_refused() -> None:
    with pytest.raises(InputError, match="no workflow to serve"):
        create_app()
    with pytest.raises(InputError, match="Two workflows are called 'shout'"):
        create_app(shout, shout)
    health = workflow(name="health")(shout.handler)
    with pytest.raises(InputError, match="cannot be called 'health'"):
        create_app(health, shout)
    assert create_app(health)


def test_no_messages_are_told_before_the_handler_runs() -> None:
    @chat_workflow
    def last(messages: Any) -> Any:
        return messages[-1]

    @chat_workflow
    def greeter(messages: Any = ()) -> Any:
        return {"role": "assistant", "content": f"{len(messages)} so far"}

    with serving(last, greeter) as server:
        for path in ("/invoke", "/run", "/v1/chat/completions", "/last/v1/chat/completions"):
            reply = server.post(path, {"messages": [], "model": "last"})
            assert reply.status == (400 if "v1" in path else 422)
            assert "There must be at least one message." in reply.text
        reply = server.post("/greeter/invoke", {"messages": []})
        assert reply.json["content"] == "0 so far"


def test_a_validator_tells_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "very-secret-key")

    class Order(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def check(cls, number: int) -> int:
            raise ValueError("refused by shop?key=very-secret-key")

    @workflow
    def show(order: Order) -> int:
        return order.number

    with serving(show) as server:
        for path in ("/invoke", "/run"):
            reply = server.post(path, {"inputs": {"order": {"number": 1}}})
            assert reply.status == 422
            assert "refused by shop" in reply.text
            assert "very-secret-key" not in reply.text


SECRETS = {
    "a value": "the shop refused very-secret-key",
    "a key": "the shop refused api_key=sk-proj-0123456789abcdefABCDEF",
    "a bearer token": "the shop refused Authorization: Bearer abcdef0123456789abcdef",
    "an address": "the shop refused https://clerk:hunter2hunter2@shop.example/v1?key=abcdef012345",
}
PARTS = ("very-secret-key", "0123456789abcdef", "hunter2", "abcdef012345")


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("yields", [False, True])
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/invoke", {}),
        ("/invoke", {"accept": "text/event-stream"}),
        ("/invoke", {"accept": "application/x-ndjson"}),
        ("/invoke", {"x_ag_messages_format": "vercel"}),
        ("/run", {}),
        ("/v1/chat/completions", {}),
    ],
)
def test_every_way_to_an_error_hides_secrets(
    path: str,
    headers: dict[str, str],
    yields: bool,
    secret: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "very-secret-key")

    @chat_workflow
    def failing(messages: Any) -> Iterator[str]:
        if yields:
            yield "Well"
        raise ValueError(SECRETS[secret])

    with serving(failing) as server:
        for stream in (False, True):
            reply = server.post(path, {"messages": HELLO, "stream": stream}, **headers)
            assert "the shop refused" in reply.text
            assert not [part for part in PARTS if part in reply.text]
    assert "the shop refused" in caplog.text
    assert not [part for part in PARTS if part in caplog.text]
