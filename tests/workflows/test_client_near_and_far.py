"""A workflow answers the same in this process and behind an address, whichever way it is called."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom import chat_workflow, workflow
from greenroom.errors import InputError
from greenroom.model_server import running_server
from greenroom.workflows import Answer, Call, CallError, Event, LocalTarget, Target, report_usage
from greenroom.workflows.call.opening import call_workflow, open_target
from greenroom.workflows.serve import create_app, running_app
from tests.domains.small import small_domain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MESSAGES: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]


@chat_workflow(parameters={"tone": "kind", "top": 1})
async def talker(
    messages: list[dict[str, Any]], parameters: dict[str, Any], customer: str = "you"
) -> AsyncGenerator[Any]:
    """Streams, and calls a tool on the way."""
    yield {"type": "tool_call", "id": "c1", "name": "look_up", "input": {"id": 7}}
    yield {"type": "tool_result", "id": "c1", "output": "found"}
    for word in (f"{parameters['tone']} {parameters['top']}: ", messages[-1]["content"]):
        yield word
    report_usage(prompt_tokens=30, completion_tokens=12, cost=0.5)
    yield f", {customer}"


@chat_workflow
def several(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers at once, with two messages and a tool call."""
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    first = {"role": "assistant", "content": None, "tool_calls": [call]}
    return [first, {"role": "assistant", "content": f"{len(messages)} messages"}]


@workflow
def mirror(value: Any) -> Any:
    """Gives back what it gets."""
    return value


@workflow
def letters(text: str) -> Generator[str]:
    """Streams text without chatting."""
    yield from text


@workflow
def rows(count: int) -> Generator[dict[str, int]]:
    """Streams values."""
    for number in range(count):
        yield {"row": number}


@chat_workflow
def failing(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Fails."""
    raise LookupError(f"nothing about {messages[-1]['content']}")


@chat_workflow
async def breaking(messages: list[dict[str, Any]]) -> AsyncIterator[str]:
    """Fails on the way."""
    yield f"about {messages[-1]['content']}"
    raise LookupError("no more")


WORKFLOWS = (talker, several, mirror, letters, rows, failing, breaking)
CALLS = {
    talker: Call(inputs={"messages": MESSAGES, "customer": "Bob"}, parameters={"top": 2}),
    several: Call(inputs={"messages": MESSAGES}),
    mirror: Call(inputs={"value": {"a": [1, None, "é"]}}),
    letters: Call(inputs={"text": "hello"}),
    rows: Call(inputs={"count": 2}),
}


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    with running_app(create_app(*WORKFLOWS)) as running:
        yield running


async def used(target: Target, call: Call) -> tuple[Answer, list[Event]]:
    """An answer at once, and the events of another."""
    try:
        return await target.call(call), [event async for event in target.stream(call)]
    finally:
        await target.close()


@pytest.mark.parametrize("declared", CALLS, ids=lambda one: one.name)
def test_near_and_far_are_the_same(address: str, declared: Any) -> None:
    call = CALLS[declared]
    near, near_events = anyio.run(used, LocalTarget(declared), call)

    async def far() -> tuple[Answer, list[Event], Target]:
        target = await open_target(f"{address}/{declared.name}")
        return *(await used(target, call)), target

    answer, events, target = anyio.run(far)
    assert target.profile.is_chat is declared.is_chat
    assert (answer.outputs, events[-1].data.outputs) == (near.outputs, near.outputs)
    for one in (answer, events[-1].data):
        assert (one.prompt_tokens, one.completion_tokens, one.cost) == (
            near.prompt_tokens,
            near.completion_tokens,
            near.cost,
        )
    if declared is not several:  # whose tool call is told once more, as an event of its own
        told = [(e.kind, e.text, e.data) for e in events if e.kind not in ("end", "usage")]
        expected = [(e.kind, e.text, e.data) for e in near_events if e.kind not in ("end", "usage")]
        assert [_without_is_error(one) for one in told] == expected


def _without_is_error(told: tuple[str, str, Any]) -> tuple[str, str, Any]:
    kind, text, data = told
    if kind == "tool_result":
        return kind, text, {name: value for name, value in data.items() if name != "isError"}
    return told


@pytest.mark.slow
@settings(max_examples=min(50, settings().max_examples))
@given(value=JSON)
def test_any_json_comes_back_as_it_was(address: str, value: Any) -> None:
    call = Call(inputs={"value": value})

    async def far() -> tuple[Answer, list[Event]]:
        return await used(await open_target(f"{address}/mirror"), call)

    answer, events = anyio.run(far)
    assert answer.outputs == value
    assert events[-1].data.outputs == value


def test_ids_of_session_and_trace_come_back(address: str) -> None:
    trace = "0123456789abcdef0123456789abcdef"
    call = Call(
        inputs={"messages": MESSAGES},
        session_id="s-1",
        traceparent=f"00-{trace}-0123456789abcdef-01",
    )

    async def far() -> tuple[Answer, list[Event]]:
        return await used(await open_target(f"{address}/several"), call)

    answer, events = anyio.run(far)
    for one in (answer, events[-1].data):
        assert (one.session_id, one.trace_id) == ("s-1", trace)


@pytest.mark.parametrize(
    ("name", "words"), [("failing", "nothing about hi"), ("breaking", "no more")]
)
def test_failures_are_told_near_and_far(address: str, name: str, words: str) -> None:
    async def far(streamed: bool) -> None:
        target = await open_target(f"{address}/{name}")
        try:
            call = Call(inputs={"messages": MESSAGES})
            if streamed:
                _ = [event async for event in target.stream(call)]
            else:
                await target.call(call)
        finally:
            await target.close()

    for streamed in (False, True):
        with pytest.raises(CallError, match=words) as caught:
            anyio.run(far, streamed)
        assert caught.value.kind == "LookupError"


def test_a_token_that_our_server_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GREENROOM_TOKEN", raising=False)
    with running_app(create_app(several, token="secret-token-1")) as address:
        with pytest.raises(InputError, match=r"needs a token: set GREENROOM_TOKEN\."):
            call_workflow(address, messages="hi")
        monkeypatch.setenv("GREENROOM_TOKEN", "secret-token-1")
        assert call_workflow(address, messages="hi").outputs[1]["content"] == "1 messages"


def test_our_own_server_as_a_model(address: str) -> None:
    answer = call_workflow(f"{address}/v1#several", messages="hi")
    assert answer.outputs["content"] == "1 messages"

    async def streamed() -> list[Event]:
        target = await open_target(f"{address}/v1", model="talker")
        return (await used(target, Call(inputs={"messages": MESSAGES})))[1]

    events = anyio.run(streamed)
    assert "".join(event.text for event in events) == "kind 1: hi, you"
    assert events[-1].data.outputs["content"] == "kind 1: hi, you"
    assert events[-1].data.prompt_tokens == 30


def test_a_model_server_of_others() -> None:
    domain = small_domain()
    with running_server(domain) as server:
        said = domain.tasks("test")[0].instruction
        answer = call_workflow(f"{server.api_base}#oracle", messages=said)
        with pytest.raises(CallError, match="answered 400: This conversation is about none"):
            call_workflow(f"{server.api_base}#oracle", messages="hi")
    assert answer.outputs["role"] == "assistant"
    assert answer.prompt_tokens is not None
