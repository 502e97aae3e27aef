"""Calling workflows over real HTTP: what is sent, what is read, what is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

import anyio
import pytest

from greenroom.errors import InputError
from greenroom.models.retries import RetryPolicy
from greenroom.workflows import Call, CallError, Event, Profile, WorkflowUnavailable
from greenroom.workflows.call.client import WorkflowClient
from greenroom.workflows.call.wires import OpenAIWire, PlainWire
from tests.workflows.stub_workflow import (
    Stub,
    envelope,
    hangs,
    hangs_up,
    in_turn,
    running_stub,
    says,
    sse,
    streams,
    writes,
)

pytestmark = pytest.mark.anyio

MESSAGES: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]
HELLO: dict[str, Any] = {"role": "assistant", "content": "hello"}
CALL = Call(inputs={"messages": MESSAGES})


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GREENROOM_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def stub() -> AsyncGenerator[Stub]:
    async with running_stub() as server:
        yield server


class Waits:
    """Sleeps without waiting, and remembers how long."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client_of(
    stub: Stub, interface: Any = "invoke", *, waits: Waits | None = None, **options: Any
) -> WorkflowClient:
    parameters = options.pop("parameters", {})
    profile = Profile(
        name="bot",
        is_chat=options.pop("is_chat", True),
        address=stub.address,
        interface=interface,
        parameters=parameters,
    )
    policy = RetryPolicy(sleep=waits or Waits(), draw=lambda: 0.0)
    return WorkflowClient(profile, retry=policy, **options)


async def events_of(client: WorkflowClient, call: Call = CALL) -> list[Event]:
    return [event async for event in client.stream(call)]


# The envelope -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "outputs",
    [
        HELLO,
        [HELLO, HELLO],
        {"messages": [HELLO]},
        "hello",
        None,
        {"data": {"outputs": 1}, "status": "ok"},
        [1, 2.5, {"a": None}],
    ],
)
async def test_outputs_come_back_unchanged(stub: Stub, outputs: Any) -> None:
    stub.routes["POST /invoke"] = says(envelope(outputs))
    async with client_of(stub) as client:
        assert (await client.call(CALL)).outputs == outputs
        assert (await events_of(client))[-1].data.outputs == outputs


async def test_what_is_sent_in_an_envelope(stub: Stub) -> None:
    stub.routes["POST /invoke"] = says(envelope(HELLO))
    tool = {"type": "function", "function": {"name": "look_up"}}
    async with client_of(stub, parameters={"tone": "kind", "top": 1}) as client:
        await client.call(CALL)
        call = Call(
            inputs={"messages": MESSAGES, "customer": "Bob"},
            parameters={"top": 2},
            session_id="s1",
            tools=[tool],
            traceparent="00-1-2-01",
        )
        await client.call(call)
        await events_of(client)
    plain, full, streamed = stub.bodies
    assert plain == {"data": {"inputs": {"messages": MESSAGES}}, "flags": {"stream": False}}
    # Agenta takes parameters instead of the defaults, not on top of them: so all are sent.
    assert full == {
        "data": {
            "inputs": {"messages": MESSAGES, "customer": "Bob"},
            "parameters": {"tone": "kind", "top": 2},
            "tools": [tool],
        },
        "session_id": "s1",
        "flags": {"stream": False},
    }
    assert streamed["flags"] == {"stream": True}
    headers = stub.asked[1].headers
    assert (headers["x-ag-session-id"], headers["traceparent"]) == ("s1", "00-1-2-01")
    # Agenta would run a workflow that cannot stream, and only then answer 406.
    assert {asked.headers["Accept"] for asked in stub.asked} == {"*/*"}


async def test_who_and_what_it_took_is_told(stub: Stub) -> None:
    usage = {"input": 30, "output": 12, "total": 42, "cost": 0.5}
    stub.routes["POST /invoke"] = in_turn(
        says(envelope(HELLO, session_id="s2", trace_id="f00", usage=usage)),
        says(envelope(HELLO), x_ag_session_id="s3", x_ag_trace_id="ba7"),
        says(envelope({"message": "hi", "usage": {"prompt_tokens": 1}, "cost": 0.25})),
        says(envelope(HELLO), x_litellm_response_cost="0.125"),
        says(envelope(HELLO), x_litellm_response_cost="dear"),
    )
    async with client_of(stub) as client:
        told = await client.call(CALL)
        assert (told.session_id, told.trace_id) == ("s2", "f00")
        assert (told.prompt_tokens, told.completion_tokens, told.cost) == (30, 12, 0.5)
        assert told.seconds > 0
        told = await client.call(CALL)
        assert (told.session_id, told.trace_id) == ("s3", "ba7")
        assert (told.prompt_tokens, told.completion_tokens, told.cost) == (None, None, None)
        told = await client.call(CALL)
        assert (told.prompt_tokens, told.completion_tokens, told.cost) == (1, None, 0.25)
        assert (await client.call(CALL)).cost == 0.125
        assert (await client.call(CALL)).cost is None


async def test_an_answer_at_once_has_its_messages_for_events(stub: Stub) -> None:
    stub.routes["POST /invoke"] = says(envelope([HELLO, HELLO], usage={"input": 1}))
    async with client_of(stub) as client:
        events = await events_of(client)
    assert [event.kind for event in events] == ["message", "message", "usage", "end"]
    async with client_of(stub, is_chat=False) as client:
        assert [event.kind for event in await events_of(client)] == ["usage", "end"]


async def test_a_stream_is_read_whoever_asked_for_it(stub: Stub) -> None:
    stub.routes["POST /invoke"] = streams(
        sse({"type": "message_delta", "data": {"delta": "hel"}})[:20],
        sse({"type": "message_delta", "data": {"delta": "hel"}})[20:],
        sse({"type": "message_delta", "data": {"delta": "lo"}}),
        sse({"type": "done", "data": {}}),
    )
    async with client_of(stub) as client:
        assert (await client.call(CALL)).outputs == HELLO
        events = await events_of(client)
    assert [event.text for event in events if event.kind == "delta"] == ["hel", "lo"]
    assert events[-1].data.outputs == HELLO


async def test_pieces_arrive_before_the_stream_has_ended(stub: Stub) -> None:
    heard = asyncio.Event()

    async def slowly(request: Any) -> Any:
        from aiohttp import web

        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        await response.write(b'"first"\n')
        await heard.wait()
        await response.write(b'"second"\n')
        return response

    stub.routes["POST /invoke"] = slowly
    async with client_of(stub, is_chat=False) as client:
        texts: list[str] = []
        async for event in client.stream(CALL):
            texts.append(event.text)
            heard.set()
    assert texts == ["first", "second", ""]


async def test_numbers_that_json_has_no_words_for_and_plain_text(stub: Stub) -> None:
    stub.routes["POST /invoke"] = in_turn(
        writes('{"data": {"outputs": [NaN, 1]}}', "application/json"), writes("hello")
    )
    async with client_of(stub) as client:
        outputs = (await client.call(CALL)).outputs
        assert outputs == [None, 1], "as a workflow in this process"
        assert (await client.call(CALL)).outputs == "hello"


# Plain bodies -------------------------------------------------------------------------------------


async def test_a_server_that_takes_no_envelope_gets_the_plain_form(stub: Stub) -> None:
    missing = {"detail": [{"loc": ["body", "messages"], "msg": "Field required"}]}
    stub.routes["POST /invoke"] = in_turn(says(missing, status=422), says(HELLO))
    async with client_of(stub) as client:
        call = Call(inputs={"messages": MESSAGES, "name": "Bob"}, parameters={"tone": "warm"})
        assert (await client.call(call)).outputs == HELLO
        assert (await client.call(call)).outputs == HELLO
    expected = {"messages": MESSAGES, "inputs": {"name": "Bob"}, "parameters": {"tone": "warm"}}
    assert [("data" in body) for body in stub.bodies] == [True, False, False]
    assert stub.bodies[1] == stub.bodies[2] == expected


async def test_where_neither_form_is_taken_the_first_complaint_is_told(stub: Stub) -> None:
    stub.routes["POST /invoke"] = in_turn(
        says({"detail": "not like this"}, status=400), says({"detail": "nor like that"}, status=422)
    )
    async with client_of(stub) as client:
        with pytest.raises(CallError, match="not like this") as caught:
            await client.call(CALL)
    assert caught.value.status == 400
    assert len(stub.asked) == 2


async def test_a_workflow_that_has_run_is_not_called_in_another_form(stub: Stub) -> None:
    failed = {"status": {"code": 422, "message": "no such order", "type": "Refused"}}
    stub.routes["POST /invoke"] = in_turn(
        says(failed, status=422), says(envelope(HELLO)), says({"detail": "no"}, status=422)
    )
    async with client_of(stub) as client:
        with pytest.raises(CallError, match="answered 422: no such order") as caught:
            await client.call(CALL)
        assert caught.value.kind == "Refused"
        await client.call(CALL)  # now the envelope is known to be the right form
        with pytest.raises(CallError, match="answered 422: no"):
            await client.call(CALL)
    assert len(stub.asked) == 3


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (
            {"messages", "inputs", "ag_config"},
            {"messages": MESSAGES, "inputs": {"name": "Bob"}, "ag_config": {"tone": "warm"}},
        ),
        (
            {"messages", "name"},
            {"messages": MESSAGES, "name": "Bob", "parameters": {"tone": "warm"}},
        ),
        (
            {"inputs", "parameters"},
            {"inputs": {"messages": MESSAGES, "name": "Bob"}, "parameters": {"tone": "warm"}},
        ),
    ],
)
async def test_inputs_lie_where_the_server_looks_for_them(
    stub: Stub, fields: set[str], body: dict[str, Any]
) -> None:
    stub.routes["POST /test"] = says({"version": "3.0", "data": HELLO, "trace_id": "f00"})
    wire = PlainWire(f"{stub.address}/test", frozenset(fields))
    async with client_of(stub, "test", wire=wire) as client:
        call = Call(inputs={"messages": MESSAGES, "name": "Bob"}, parameters={"tone": "warm"})
        told = await client.call(call)
    assert (told.outputs, told.trace_id) == (HELLO, "f00")
    assert stub.bodies == [body]


async def test_an_old_app_gets_a_configuration_even_if_it_is_empty(stub: Stub) -> None:
    stub.routes["POST /test"] = says({"version": "3.0", "data": "hello"})
    wire = PlainWire(f"{stub.address}/test", frozenset({"messages", "ag_config"}))
    async with client_of(stub, "test", wire=wire) as client:
        assert (await client.call(CALL)).outputs == "hello"
    assert stub.bodies == [{"messages": MESSAGES, "ag_config": {}}]


# OpenAI's protocol --------------------------------------------------------------------------------


def completion(message: Any = HELLO, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **fields}


def model_of(stub: Stub) -> WorkflowClient:
    profile = Profile(
        name="tiny", is_chat=True, address=f"{stub.address}/v1#tiny", interface="openai"
    )
    return WorkflowClient(profile)


async def test_a_model_is_called_as_a_workflow(stub: Stub) -> None:
    message = {**HELLO, "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}
    usage = {"prompt_tokens": 30, "completion_tokens": 12, "cost": 0.5}
    stub.routes["POST /v1/chat/completions"] = says(completion(message, usage=usage))
    tool = {"type": "function", "function": {"name": "f"}}
    call = Call(
        inputs={"messages": MESSAGES}, parameters={"temperature": 0.5, "model": "x"}, tools=[tool]
    )
    async with model_of(stub) as client:
        told = await client.call(call)
    assert told.outputs == message
    assert (told.prompt_tokens, told.completion_tokens, told.cost) == (30, 12, 0.5)
    assert stub.bodies == [
        {"model": "tiny", "messages": MESSAGES, "temperature": 0.5, "tools": [tool]}
    ]


async def test_a_model_is_streamed(stub: Stub) -> None:
    def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    stub.routes["POST /v1/chat/completions"] = streams(
        sse(chunk(role="assistant", content="hel"), chunk(content="lo"), chunk("stop")),
        sse({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 12}}),
        b"data: [DONE]\n\n",
    )
    async with model_of(stub) as client:
        events = await events_of(client)
    assert [event.kind for event in events] == ["delta", "delta", "message", "usage", "end"]
    assert events[-1].data.outputs == HELLO
    assert events[-1].data.prompt_tokens == 30
    assert stub.bodies[0]["stream"] is True
    assert stub.bodies[0]["stream_options"] == {"include_usage": True}


async def test_what_a_model_does_not_take_is_told_before_it_is_asked(stub: Stub) -> None:
    async with model_of(stub) as client:
        with pytest.raises(InputError, match="tiny takes messages, not country"):
            await client.call(Call(inputs={"messages": MESSAGES, "country": "France"}))
        with pytest.raises(InputError, match="tiny takes messages, and there are none"):
            await client.call(Call())
    assert stub.asked == []


async def test_a_completion_without_a_message_is_no_answer(stub: Stub) -> None:
    stub.routes["POST /v1/chat/completions"] = in_turn(
        says({"choices": []}), says({"choices": ["?"]}), says([])
    )
    async with model_of(stub) as client:
        for _ in range(3):
            with pytest.raises(CallError, match="gave no answer: its answer holds no message"):
                await client.call(CALL)


async def test_openais_key_goes_to_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from greenroom.workflows.call.connection import token_variable

    assert token_variable("https://api.openai.com/v1") == "OPENAI_API_KEY"
    assert token_variable("https://api.openai.com.evil.example/v1") == "GREENROOM_TOKEN"
    assert OpenAIWire("https://api.openai.com/v1", "m").url == (
        "https://api.openai.com/v1/chat/completions"
    )


# What is tried again ------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_server_is_asked_again_when_it_wants_to_be(stub: Stub, status: int) -> None:
    stub.routes["POST /invoke"] = in_turn(
        says({"detail": "busy"}, status=status, Retry_After="7"),
        says({"detail": "busy"}, status=status),
        says(envelope(HELLO)),
    )
    waits = Waits()
    async with client_of(stub, waits=waits) as client:
        assert (await client.call(CALL)).outputs == HELLO
    assert waits.seconds == [7.0, 0.0]
    assert len(stub.asked) == 3


async def test_a_server_that_stays_busy_is_given_up(stub: Stub) -> None:
    stub.routes["POST /invoke"] = says({"detail": "busy"}, status=503)
    async with client_of(stub) as client:
        with pytest.raises(WorkflowUnavailable, match="answered 503: busy") as caught:
            await client.call(CALL)
    assert caught.value.status == 503
    assert len(stub.asked) == 4


@pytest.mark.parametrize("status", [500, 502, 504, 404, 409])
async def test_what_may_have_run_is_not_called_again(stub: Stub, status: int) -> None:
    stub.routes["POST /invoke"] = says({"detail": "oh"}, status=status)
    waits = Waits()
    async with client_of(stub, waits=waits) as client:
        with pytest.raises(CallError, match=f"answered {status}: oh") as caught:
            await client.call(CALL)
    assert isinstance(caught.value, WorkflowUnavailable) is (status in (502, 504))
    assert (len(stub.asked), waits.seconds) == (1, [])


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_lost_connection_is_not_called_again(stub: Stub, streamed: bool) -> None:
    stub.routes["POST /invoke"] = in_turn(hangs_up, says(envelope(HELLO)))
    async with client_of(stub) as client:
        with pytest.raises(WorkflowUnavailable, match="was lost"):
            await (events_of(client) if streamed else client.call(CALL))
        assert len(stub.asked) == 1
        assert (await client.call(CALL)).outputs == HELLO


async def test_where_nothing_listens_it_is_tried_again(stub: Stub) -> None:
    waits = Waits()
    closed = Stub(address="http://127.0.0.1:1")
    async with client_of(closed, waits=waits) as client:
        with pytest.raises(WorkflowUnavailable, match=r"Nothing listens at 127\.0\.0\.1:1"):
            await client.call(CALL)
    assert len(waits.seconds) == 3


async def test_an_answer_that_does_not_come_in_time(stub: Stub) -> None:
    stub.routes["POST /invoke"] = hangs
    async with client_of(stub, timeout=0.05) as client:
        with pytest.raises(WorkflowUnavailable, match=r"did not answer within 0\.05 seconds"):
            await client.call(CALL)
        with pytest.raises(WorkflowUnavailable, match="did not answer"):
            await events_of(client)
    assert len(stub.asked) == 2


# What goes wrong ----------------------------------------------------------------------------------


async def test_a_failure_of_the_workflow_is_told_in_its_words(stub: Stub) -> None:
    status = {"code": 500, "message": "no such order", "type": "KeyError"}
    stub.routes["POST /invoke"] = in_turn(
        says({"status": status}, status=500), says({"status": status})
    )
    async with client_of(stub) as client:
        for words in ("answered 500: no such order", "gave no answer: no such order"):
            with pytest.raises(CallError, match=words) as caught:
                await client.call(CALL)
            assert (caught.value.status, caught.value.kind) == (500, "KeyError")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"detail": [{"loc": ["body", "x"], "msg": "is missing"}]}, "body.x: is missing"),
        ({"detail": {"message": "boom", "stacktrace": ["..."]}}, "boom"),
        ({"error": {"message": "bad model", "code": "model_not_found"}}, "bad model"),
        ({"error": "plain words"}, "plain words"),
        (["a list"], "a list"),
    ],
)
async def test_every_shape_of_complaint_is_understood(stub: Stub, body: Any, words: str) -> None:
    stub.routes["POST /invoke"] = says(body, status=409)
    async with client_of(stub) as client:
        with pytest.raises(CallError, match=f"answered 409: .*{words}"):
            await client.call(CALL)


async def test_a_stream_that_ends_too_early(stub: Stub) -> None:
    stub.routes["POST /invoke"] = in_turn(
        streams(sse({"type": "text-delta", "delta": "hel"})),
        streams(sse({"type": "message_delta", "data": {"delta": "hel"}}), cut=True),
        streams(b'data: {"type": "mess'),
    )
    async with client_of(stub) as client:
        for words in ("broke off", "was lost", "not JSON"):
            with pytest.raises(WorkflowUnavailable, match=words):
                await events_of(client)


async def test_a_failure_within_a_stream(stub: Stub) -> None:
    failure = {"type": "error", "data": {"message": "out of paper", "type": "PrinterError"}}
    stub.routes["POST /invoke"] = streams(sse({"type": "message_delta"}, failure))
    async with client_of(stub) as client:
        with pytest.raises(CallError, match="gave no answer: out of paper") as caught:
            await client.call(CALL)
    assert caught.value.kind == "PrinterError"


async def test_an_answer_that_is_no_json(stub: Stub) -> None:
    stub.routes["POST /invoke"] = writes('{"data": {"outp', "application/json")
    async with client_of(stub) as client:
        with pytest.raises(WorkflowUnavailable, match="not JSON, or incomplete"):
            await client.call(CALL)


async def test_a_redirect_is_not_followed(stub: Stub) -> None:
    stub.routes["POST /invoke"] = says({}, status=307, Location="https://elsewhere.example/invoke")
    async with client_of(stub, token="secret-token-1") as client:
        with pytest.raises(CallError, match=r"redirects to https://elsewhere\.example/invoke"):
            await client.call(CALL)
    assert len(stub.asked) == 1


async def test_no_token_is_told(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENROOM_TOKEN", "secret-token-1")
    stub.routes["POST /invoke"] = in_turn(
        says({"detail": "wrong: secret-token-1"}, status=401),
        says({"detail": "secret-token-1 may not"}, status=403),
        says({"detail": "secret-token-1 is odd"}, status=400),
        says({"detail": "secret-token-1 is odd"}, status=400),
    )
    async with client_of(stub) as client:
        for words in ("set GREENROOM_TOKEN to a valid one", "to a token that may", "is odd"):
            with pytest.raises(CallError, match=words) as caught:
                await client.call(CALL)
            assert "secret-token-1" not in str(caught.value)
    assert stub.asked[0].headers["Authorization"] == "Bearer secret-token-1"


async def test_what_is_no_json_is_told_before_it_is_sent(stub: Stub) -> None:
    async with client_of(stub) as client:
        with pytest.raises(InputError, match="is not JSON"):
            await client.call(Call(inputs={"when": object()}))
        for session_id in ("", "two words", "line\nbreak", "é", "x" * 257):
            with pytest.raises(InputError, match="A session id has 1 to 256 printable"):
                await client.call(Call(session_id=session_id))
    assert stub.asked == []


async def test_a_connection_that_is_not_secure(stub: Stub) -> None:
    secure = Stub(address=stub.address.replace("http://", "https://"))
    waits = Waits()
    async with client_of(secure, waits=waits) as client:
        with pytest.raises(WorkflowUnavailable, match="There is no secure connection to"):
            await client.call(CALL)
    assert (stub.asked, waits.seconds) == ([], [])


# Connections --------------------------------------------------------------------------------------


async def test_connections_are_used_again(stub: Stub) -> None:
    peers: set[Any] = set()

    async def remember(request: Any) -> Any:
        peers.add(request.transport.get_extra_info("peername"))
        return await says(envelope(HELLO))(request)

    stub.routes["POST /invoke"] = remember
    async with client_of(stub) as client:
        for _ in range(20):
            await client.call(CALL)
    assert len(peers) == 1


@pytest.mark.slow
async def test_many_calls_at_once(stub: Stub) -> None:
    stub.routes["POST /invoke"] = says(envelope(HELLO))
    answers: list[Any] = []

    async def one() -> None:
        answers.append((await client.call(CALL)).outputs)

    async with client_of(stub) as client, anyio.create_task_group() as group:
        for _ in range(200):
            group.start_soon(one)
    assert answers == [HELLO] * 200


async def test_large_bodies_go_and_come_and_are_sent_again_whole(stub: Stub) -> None:
    text = "é" * (1 << 20)
    stub.routes["POST /invoke"] = in_turn(
        says({"detail": "busy"}, status=429), says(envelope({"role": "assistant", "content": text}))
    )
    async with client_of(stub) as client:
        call = Call(inputs={"messages": [{"role": "user", "content": text}]})
        assert (await client.call(call)).outputs["content"] == text
    assert [body["data"]["inputs"] for body in stub.bodies] == [call.inputs] * 2


async def test_who_stops_listening_ends_the_call(stub: Stub) -> None:
    left = asyncio.Event()

    async def endless(request: Any) -> Any:
        from aiohttp import web

        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        try:
            while True:
                await response.write(b'"more"\n')
                await asyncio.sleep(0.01)
        except (ConnectionError, asyncio.CancelledError):
            left.set()
            raise

    stub.routes["POST /invoke"] = endless
    async with client_of(stub, is_chat=False) as client:
        async with aclosing(cast("AsyncGenerator[Event]", client.stream(CALL))) as events:
            assert (await anext(events)).text == "more"
        with anyio.fail_after(10):
            await left.wait()
