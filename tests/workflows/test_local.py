"""Calling workflows of this process: functions, generators, errors, usage."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from greenroom import chat_workflow, workflow
from greenroom.messages import Message
from greenroom.workflows import Answer, Call, CallError, Event, LocalTarget, Workflow, report_usage
from greenroom.workflows.calls import Target

HELLO = Call(inputs={"messages": [{"role": "user", "content": "hello"}]}, session_id="s-1")
SAID = {"role": "assistant", "content": "Hello!"}


def giving(output: Any) -> Workflow:
    @chat_workflow
    def reply(messages: Any) -> Any:
        return output

    return reply


def call(one: Workflow, asked: Call = HELLO) -> Answer:
    return anyio.run(LocalTarget(one).call, asked)


def stream(one: Workflow, asked: Call = HELLO) -> list[Event]:
    async def collect() -> list[Event]:
        return [event async for event in LocalTarget(one).stream(asked)]

    return anyio.run(collect)


def told(one: Workflow, asked: Call = HELLO) -> list[tuple[str, Any]]:
    """The events but for the last, in short."""
    return [(event.kind, event.text or event.data) for event in stream(one, asked)[:-1]]


def test_a_local_workflow_is_a_target() -> None:
    target: Target = LocalTarget(giving(SAID), address="app.py:chat")
    assert (target.profile.is_chat, target.profile.address) == (True, "app.py:chat")
    assert target.profile.interface == "local"
    anyio.run(target.close)


def test_answers_are_passed_on_unchanged_with_what_they_took() -> None:
    several = [{"role": "tool", "tool_call_id": "1", "content": "x"}, SAID | {"extra": [1, None]}]
    answer = call(giving(several))
    assert answer.outputs == several
    assert answer.session_id == "s-1"
    assert answer.seconds > 0
    assert (answer.prompt_tokens, answer.cost) == (None, None)


@pytest.mark.parametrize(
    "output", [SAID, [SAID], {"messages": [SAID]}, Message(role="assistant", content="Hello!")]
)
def test_messages_may_come_in_several_shapes(output: Any) -> None:
    assert told(giving(output)) == [("message", SAID)]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("Hello!", "returned a text"),
        (None, "returned nothing"),
        (3, "returned a int"),
        ([], "returned an empty list"),
        (["Hello!"], "returned a list that holds other things"),
        ({"content": "Hello!"}, "returned an object without a role and content"),
    ],
)
def test_what_is_no_message_is_told_with_the_line_to_write(output: Any, words: str) -> None:
    @chat_workflow
    async def wrong(messages: Any) -> Any:
        return output

    with pytest.raises(CallError, match=words) as error:
        call(wrong)
    assert 'Write: return {"role": "assistant", "content": ...}' in str(error.value)
    assert (error.value.status, error.value.kind) == (500, "NotAMessage")


def test_other_workflows_return_what_they_like() -> None:
    @workflow
    def echo(given: Any) -> Any:
        return given

    for output in ("text", 3, None, [], {"a": [1]}, ["Hello!"]):
        asked = Call(inputs={"given": output})
        assert call(echo, asked).outputs == output
        assert [event.kind for event in stream(echo, asked)] == ["end"]


def test_plain_functions_run_beside_the_event_loop() -> None:
    @workflow
    def slow() -> str:
        time.sleep(0.2)
        return threading.current_thread().name

    async def both() -> tuple[int, Answer]:
        ticks = 0
        answer: list[Answer] = []

        async def ask() -> None:
            answer.append(await LocalTarget(slow).call(Call()))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            while not answer:
                ticks += 1
                await anyio.sleep(0.01)
        return ticks, answer[0]

    ticks, answer = anyio.run(both)
    assert ticks > 3
    assert answer.outputs != threading.current_thread().name


def test_a_function_that_gives_an_awaitable_is_awaited() -> None:
    async def later(messages: Any) -> Any:
        return SAID

    @chat_workflow
    def sooner(messages: Any) -> Any:
        return later(messages)

    assert call(sooner).outputs == SAID


def test_what_a_handler_raises_is_told_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "sk-very-secret")

    @workflow
    async def failing() -> None:
        raise ValueError(f"no such shop: {os.environ['SHOP_API_KEY']}")

    @workflow
    def leaving() -> None:
        raise SystemExit(3)

    with pytest.raises(CallError, match=r"no such shop: \[SHOP_API_KEY\]") as error:
        call(failing, Call())
    assert (error.value.status, error.value.kind) == (500, "ValueError")
    with pytest.raises(CallError, match="3") as error:
        call(leaving, Call())
    assert error.value.kind == "SystemExit"


def test_a_handler_may_raise_a_call_error_of_its_own() -> None:
    @workflow
    def busy() -> None:
        raise CallError("try later", status=429, kind="Busy")

    with pytest.raises(CallError, match="try later") as error:
        call(busy, Call())
    assert error.value.status == 429


def test_what_is_no_json_is_told() -> None:
    with pytest.raises(CallError, match="'<lambda>' returned is not JSON: it holds a object"):
        call(workflow(lambda: object()), Call())

    @workflow
    def streamed() -> Iterator[Any]:
        yield object()

    with pytest.raises(CallError, match="'streamed' returned is not JSON"):
        call(streamed, Call())


def test_text_comes_in_pieces_and_becomes_a_message() -> None:
    @chat_workflow
    async def streaming(messages: Any) -> AsyncIterator[str]:
        yield "Hel"
        await anyio.lowlevel.checkpoint()
        yield "lo!"

    assert told(streaming) == [("delta", "Hel"), ("delta", "lo!"), ("message", SAID)]
    assert call(streaming).outputs == SAID
    assert stream(streaming)[-1].data.outputs == SAID


def test_a_plain_generator_streams_as_well() -> None:
    threads: set[int] = set()

    @chat_workflow
    def streaming(messages: Any) -> Iterator[str]:
        threads.add(threading.get_ident())
        yield from ("Hel", "lo!")

    assert told(streaming) == [("delta", "Hel"), ("delta", "lo!"), ("message", SAID)]
    assert threading.get_ident() not in threads


def test_everything_that_a_generator_may_yield() -> None:
    first = {"role": "assistant", "content": "Let me look."}
    asking: dict[str, Any] = {
        "role": "assistant",
        "content": "Hm.",
        "tool_calls": [{"id": "2", "function": {}}],
    }

    @chat_workflow
    def streaming(messages: Any) -> Iterator[Any]:
        yield "Let me "
        yield "look."
        yield {"type": "tool_call", "id": "1", "name": "look", "input": {"at": 1}}
        yield {"type": "tool_result", "id": "1", "output": "nothing", "isError": False}
        yield {"type": "usage", "prompt_tokens": 5, "completion_tokens": 2, "cost": 0.5}
        yield "Hm."
        yield asking  # the end of the text before it
        yield Message(role="assistant", content="Hello!")

    usage = {"prompt_tokens": 5, "completion_tokens": 2, "cost": 0.5}
    assert told(streaming) == [
        ("delta", "Let me "),
        ("delta", "look."),
        ("message", first),
        ("tool_call", {"id": "1", "name": "look", "input": {"at": 1}}),
        ("tool_result", {"id": "1", "output": "nothing", "isError": False}),
        ("usage", usage),
        ("delta", "Hm."),
        ("message", asking),
        ("message", SAID),
    ]
    answer = call(streaming)
    assert answer.outputs == [first, asking, SAID]
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (5, 2, 0.5)


@pytest.mark.parametrize("piece", [3, {"content": "x"}, None, {"type": "other"}])
def test_a_piece_that_is_nothing_of_a_chat_is_told(piece: Any) -> None:
    @chat_workflow
    def streaming(messages: Any) -> Iterator[Any]:
        yield piece

    with pytest.raises(CallError, match="neither text nor a message"):
        call(streaming)


def test_a_generator_that_says_nothing_is_told() -> None:
    @chat_workflow
    def silent(messages: Any) -> Iterator[str]:
        yield from ()

    with pytest.raises(CallError, match="returned an empty list"):
        call(silent)


def test_other_generators_give_a_text_or_a_list() -> None:
    @workflow
    def text() -> Iterator[str]:
        yield from "abc"

    @workflow
    def rows() -> Iterator[Any]:
        yield {"row": 1}
        yield "two"

    assert (call(text, Call()).outputs, call(rows, Call()).outputs) == ("abc", [{"row": 1}, "two"])
    assert told(rows, Call()) == [("message", {"row": 1}), ("delta", "two")]


def test_a_generator_is_closed_when_nobody_listens_any_more() -> None:
    closed: list[str] = []

    @chat_workflow
    async def streaming(messages: Any) -> AsyncIterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            closed.append("async")

    @chat_workflow
    def plain(messages: Any) -> Iterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            closed.append("plain")

    async def leave(one: Workflow) -> None:
        async with aclosing(LocalTarget(one).stream(HELLO)) as events:
            async for _ in events:
                break

    anyio.run(leave, streaming)
    anyio.run(leave, plain)
    assert closed == ["async", "plain"]


def test_an_error_in_the_middle_of_a_stream_is_raised_after_what_came() -> None:
    @chat_workflow
    def breaking(messages: Any) -> Iterator[str]:
        yield "a"
        raise KeyError("gone")

    async def collect() -> list[str]:
        kinds: list[str] = []
        try:
            async for event in LocalTarget(breaking).stream(HELLO):
                kinds.append(event.kind)
        except CallError as error:
            kinds.append(error.kind)
        return kinds

    assert anyio.run(collect) == ["delta", "KeyError"]


def test_usage_is_reported_from_within_and_added_up() -> None:
    @chat_workflow
    def reply(messages: Any) -> Any:
        report_usage(prompt_tokens=3, completion_tokens=1)
        report_usage(prompt_tokens=4, cost=0.25)
        return SAID

    @chat_workflow
    async def streaming(messages: Any) -> AsyncIterator[str]:
        report_usage(prompt_tokens=1)
        yield "a"
        report_usage(prompt_tokens=1)

    answer = call(reply)
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (7, 1, 0.25)
    assert call(streaming).prompt_tokens == 2
    assert reply(messages=[]) == SAID  # outside of a call nothing is counted


def test_usage_of_calls_at_the_same_time_is_kept_apart() -> None:
    @workflow
    async def count(tokens: int) -> int:
        for _ in range(tokens):
            report_usage(prompt_tokens=1)
            await anyio.lowlevel.checkpoint()
        return tokens

    async def both() -> list[Answer]:
        answers: list[Answer] = []

        async def ask(tokens: int) -> None:
            answers.append(await LocalTarget(count).call(Call(inputs={"tokens": tokens})))

        async with anyio.create_task_group() as group:
            for tokens in (2, 5, 3):
                group.start_soon(ask, tokens)
        return answers

    assert all(answer.prompt_tokens == answer.outputs for answer in anyio.run(both))
