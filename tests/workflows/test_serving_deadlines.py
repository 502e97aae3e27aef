"""Calls that take too long end in every form of answer; streams that are silent stay open."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import anyio
import pytest
from openai import APIStatusError, OpenAI

from greenroom import chat_workflow
from greenroom.workflows import Call, open_target
from greenroom.workflows.serve.deadlines import LeftBehind, OutOfTime, in_time
from tests.workflows.serving import HELLO, Server, serving

LONG = 30.0
ended = threading.Event()
"""Lets threads go at the end, which nothing else can stop."""


@chat_workflow
async def sleeper(messages: Any) -> Any:
    if messages[-1]["content"] == "hello":
        await anyio.sleep(LONG)
    return {"role": "assistant", "content": "awake"}


@chat_workflow
async def trailing(messages: Any) -> AsyncIterator[str]:
    yield "Well"
    await anyio.sleep(LONG)


@chat_workflow
def blocked(messages: Any) -> Any:
    ended.wait(LONG)
    return {"role": "assistant", "content": "too late"}


@chat_workflow
def blocking_stream(messages: Any) -> Iterator[str]:
    yield "Well"
    ended.wait(LONG)
    yield "too late"


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    with serving(sleeper, trailing, blocked, blocking_stream, timeout=0.2) as running:
        yield running
        ended.set()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sleeper", "blocked"])
def test_a_call_that_takes_too_long_is_504_in_every_form(server: Server, name: str) -> None:
    text = f"The workflow '{name}' took longer than 0.2 s."
    plain = server.post(f"/{name}/invoke", {"messages": HELLO})
    assert (plain.status, plain.json["status"]["message"]) == (504, text)
    assert plain.json["status"]["type"] == "Timeout"
    legacy = server.post(f"/{name}/run", {"messages": HELLO})
    assert (legacy.status, legacy.json["detail"]["message"]) == (504, text)
    silent = server.post(f"/{name}/invoke", {"messages": HELLO}, accept="text/event-stream")
    assert silent.status == 504
    vercel = server.post(f"/{name}/invoke", {"messages": HELLO}, x_ag_messages_format="vercel")
    assert (vercel.status, vercel.text) == (504, text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sleeper", "blocked"])
@pytest.mark.parametrize("stream", [False, True])
def test_openais_client_is_told_of_the_timeout(server: Server, name: str, stream: bool) -> None:
    with OpenAI(base_url=f"{server.address}/v1", api_key="any", max_retries=0) as client:
        messages: Any = HELLO
        with pytest.raises(APIStatusError, match="took longer") as late:
            client.chat.completions.create(model=name, messages=messages, stream=stream)
        assert late.value.status_code == 504
        with pytest.raises(APIStatusError, match="took longer") as late:
            client.responses.create(model=name, input="hello", stream=stream)
        assert late.value.status_code == 504


@pytest.mark.slow
@pytest.mark.parametrize("name", ["trailing", "blocking_stream"])
def test_a_stream_that_takes_too_long_ends_with_an_error(server: Server, name: str) -> None:
    text = f"The workflow '{name}' took longer than 0.2 s."
    reply = server.post(f"/{name}/invoke", {"messages": HELLO}, accept="text/event-stream")
    assert [one["type"] for one in reply.events][-2:] == ["error", "done"]
    assert reply.events[-2]["data"] == {"message": text, "type": "Timeout"}
    vercel = server.post(f"/{name}/invoke", {"messages": HELLO}, x_ag_messages_format="vercel")
    assert {"type": "error", "errorText": text} in vercel.events
    body = {"model": "any", "messages": HELLO, "stream": True}
    chunks = server.post(f"/{name}/v1/chat/completions", body)
    assert chunks.events[-1] == "[DONE]"
    assert chunks.events[-2]["error"]["message"] == text
    respond = {"model": "any", "input": "hello", "stream": True}
    typed = server.post(f"/{name}/v1/responses", respond)
    assert json.loads(typed.text.split("data: ")[-1])["type"] == "response.failed"
    # Nothing follows the end, even if the thread goes on.
    assert "too late" not in typed.text


def test_calls_in_time_are_answered(server: Server) -> None:
    quick = [{"role": "user", "content": "quick"}]
    assert server.post("/sleeper/invoke", {"messages": quick}).json["content"] == "awake"


@pytest.mark.slow
def test_a_thread_that_is_left_behind_keeps_its_place() -> None:
    go = threading.Event()

    @chat_workflow
    def stuck(messages: Any) -> Any:
        go.wait(LONG)
        return {"role": "assistant", "content": "free"}

    with serving(stuck, timeout=0.1, max_concurrent_calls=1) as server:
        assert server.post("/invoke", {"messages": HELLO}).status == 504
        assert server.post("/invoke", {"messages": HELLO}).status == 503
        go.set()
        while (reply := server.post("/invoke", {"messages": HELLO})).status == 503:
            pass
        assert reply.json["content"] == "free"


def test_work_that_is_cancelled_from_outside_is_cancelled_within() -> None:
    cancelled: list[str] = []

    async def work() -> None:
        try:
            await anyio.sleep(LONG)
        except asyncio.CancelledError:
            cancelled.append("work")
            raise

    async def main() -> None:
        left: LeftBehind = set()
        with anyio.move_on_after(0.01):
            await in_time(work, LONG, left)
        await asyncio.wait(left)
        with pytest.raises(OutOfTime):
            await in_time(work, 0.01, left)
        await asyncio.wait(left)

    anyio.run(main)
    assert cancelled == ["work", "work"]


@chat_workflow
async def pondering(messages: Any) -> AsyncIterator[str]:
    await anyio.sleep(0.2)
    if messages[-1]["content"] == "fail":
        raise ValueError("no idea")
    yield "Once"
    await anyio.sleep(0.2)
    yield " upon"


@pytest.fixture(scope="module")
def silent_server() -> Generator[Server]:
    with serving(pondering, keep_alive=0.05) as running:
        yield running


@pytest.mark.slow
def test_comments_fill_the_silence_of_a_stream(silent_server: Server) -> None:
    reply = silent_server.post("/invoke", {"messages": HELLO}, accept="text/event-stream")
    before, _, after = reply.text.partition("data: ")
    assert before.startswith(": keep-alive\n\n")
    assert ": keep-alive\n\n" in after
    lines = silent_server.post("/invoke", {"messages": HELLO}, accept="application/x-ndjson")
    assert "keep-alive" not in lines.text


@pytest.mark.slow
def test_a_failure_after_a_comment_is_told_in_the_stream(silent_server: Server) -> None:
    fail = [{"role": "user", "content": "fail"}]
    reply = silent_server.post("/invoke", {"messages": fail}, accept="text/event-stream")
    assert reply.status == 200
    assert '"no idea"' in reply.text
    body = {"model": "any", "input": "fail", "stream": True}
    typed = silent_server.post("/v1/responses", body)
    kinds = [line for line in typed.text.splitlines() if line.startswith("event: ")]
    assert kinds[0] == "event: response.created"
    assert kinds[-1] == "event: response.failed"


@pytest.mark.slow
def test_clients_take_no_notice_of_comments(silent_server: Server) -> None:
    messages: Any = HELLO
    with OpenAI(base_url=f"{silent_server.address}/v1", api_key="any") as client:
        chunks = client.chat.completions.create(model="any", messages=messages, stream=True)
        assert "".join(one.choices[0].delta.content or "" for one in chunks) == "Once upon"
        with client.responses.stream(model="any", input="hello") as stream:
            assert stream.get_final_response().output_text == "Once upon"

    async def ours() -> list[str]:
        target = await open_target(silent_server.address)
        try:
            events = target.stream(Call(inputs={"messages": HELLO}))
            return [event.text async for event in events if event.kind == "delta"]
        finally:
            await target.close()

    assert anyio.run(ours) == ["Once", " upon"]


@pytest.mark.slow
def test_openais_clients_do_not_repeat_a_call_that_takes_too_long() -> None:
    begun: list[str] = []

    @chat_workflow
    async def counted(messages: Any) -> Any:
        begun.append("call")
        await anyio.sleep(LONG)

    messages: Any = HELLO
    with (
        serving(counted, timeout=0.05) as server,
        OpenAI(base_url=f"{server.address}/v1", api_key="any") as client,
    ):
        with pytest.raises(APIStatusError, match="took longer"):
            client.chat.completions.create(model="counted", messages=messages)
        with pytest.raises(APIStatusError, match="took longer"):
            client.responses.create(model="counted", input="hello", stream=True)
    assert len(begun) == 2
