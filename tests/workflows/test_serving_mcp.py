"""Workflows as MCP tools, called by the official client and by hostile ones."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import anyio
import pytest

from greenroom import chat_workflow, workflow
from greenroom.errors import InputError
from greenroom.workflows import Call
from greenroom.workflows.serve import create_app, running_app
from tests.agents.mcp_clients import MODERN, connected, post, request, text_of

MODES = ["auto", "legacy", MODERN]


@chat_workflow
async def echo(messages: list[Any]) -> dict[str, Any]:
    """Says the same again."""
    return {"role": "assistant", "content": messages[-1]["content"]}


@workflow
def shout(text: str, times: int = 1) -> str:
    """Shouts."""
    return text.upper() * times


@workflow
async def measure(text: str) -> dict[str, int]:
    return {"length": len(text)}


@workflow
async def broken(text: str) -> str:
    raise RuntimeError(f"out of order: {text}")


@chat_workflow
async def slowly(messages: list[Any]) -> AsyncGenerator[str]:
    for piece in ("One", " two", " three"):
        yield piece


@chat_workflow
async def named(messages: list[Any], call: Call) -> dict[str, Any]:
    return {"role": "assistant", "content": f"{call.session_id} {call.new_session}"}


APP = create_app(echo, shout, measure, broken, slowly, named)


def run(play: Callable[[Any], Coroutine[Any, Any, Any]], mode: str = "auto") -> Any:
    async def running() -> Any:
        async with connected(APP, mode) as client:
            return await play(client)

    return anyio.run(running)


def posted(body: Any, app: Any = APP, **options: Any) -> tuple[int, Any]:
    async def posting() -> tuple[int, Any]:
        return await post(app, body, **options)

    return anyio.run(posting)


def called(name: str, arguments: Any) -> Any:
    return run(lambda client: client.call_tool(name, arguments))


@pytest.mark.parametrize("mode", MODES)
def test_every_workflow_is_a_tool_with_its_own_schema(mode: str) -> None:
    tools = {one.name: one for one in run(lambda client: client.list_tools(), mode).tools}
    assert list(tools) == ["echo", "shout", "measure", "broken", "slowly", "named"]
    assert tools["shout"].description == "Shouts."
    assert tools["shout"].input_schema == shout.schemas.inputs
    chat = tools["echo"].input_schema
    assert set(chat["properties"]) == {"messages", "text", "session_id"}
    assert chat["required"] == []


@pytest.mark.parametrize("mode", MODES)
def test_outputs_come_as_text_and_as_structured_content(mode: str) -> None:
    async def play(client: Any) -> list[Any]:
        return [
            await client.call_tool("shout", {"text": "hey", "times": 2}),
            await client.call_tool("measure", {"text": "four"}),
        ]

    shouted, measured = run(play, mode)
    assert text_of(shouted) == "HEYHEY"
    assert shouted.structured_content == {"outputs": "HEYHEY"}
    assert text_of(measured) == '{"length":4}'
    assert measured.structured_content == {"length": 4}


@pytest.mark.parametrize(
    "arguments", [{"text": "hello"}, {"messages": [{"role": "user", "content": "hello"}]}]
)
def test_a_chat_workflow_takes_a_text_or_messages(arguments: dict[str, Any]) -> None:
    result = called("echo", arguments)
    assert text_of(result) == "hello"
    assert result.structured_content == {"role": "assistant", "content": "hello"}


def test_a_conversation_is_known_by_its_session_id() -> None:
    assert text_of(called("named", {"text": "hello", "session_id": "mine"})) == "mine False"
    assert text_of(called("named", {"text": "hello"})).endswith(" True")


@pytest.mark.parametrize("mode", MODES)
def test_pieces_are_told_as_progress_to_those_who_ask(mode: str) -> None:
    told: list[str | None] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async def play(client: Any) -> Any:
        return await client.call_tool("slowly", {"text": "count"}, progress_callback=tell)

    assert text_of(run(play, mode)) == "One two three"
    assert [one for one in told if one] == ["One", " two", " three"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("shout", {}, "text"),
        ("shout", {"text": "a", "times": "many"}, "times"),
        ("echo", {"text": "a", "messages": []}, "not both"),
        ("echo", {"messages": "hello"}, "messages"),
        ("echo", {"text": ["a"]}, ""),
        ("echo", {"text": "a", "session_id": "x" * 300}, "session id"),
        ("broken", {"text": "a"}, "out of order"),
    ],
)
def test_what_goes_wrong_is_told_in_words(name: str, arguments: Any, words: str) -> None:
    result = called(name, arguments)
    assert result.is_error == (name != "echo" or words != "")
    assert words in text_of(result)


def test_an_unknown_tool_is_an_error_of_the_protocol() -> None:
    _, answer = posted(request("tools/call", {"name": "fly", "arguments": {}}))
    assert answer["error"]["message"] == "There is no tool 'fly'."


def test_errors_hide_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value")
    assert "very-secret-value" not in text_of(called("broken", {"text": "very-secret-value"}))


def test_the_token_the_host_and_the_origin_are_checked() -> None:
    listing = request("tools/list")
    assert posted(listing, host="evil.example")[0] == 403
    assert posted(listing, origin="http://evil.example")[0] == 403
    secured = create_app(echo, token="right")
    assert posted(listing, secured)[0] == 401
    assert posted(listing, secured, authorization="Bearer wrong")[0] == 401
    assert posted(listing, secured, authorization="Bearer right")[0] == 200


def test_bodies_are_limited_and_only_posted() -> None:
    small = create_app(echo, max_body=1000)
    status, answer = posted(
        request("tools/call", {"name": "echo", "arguments": {"text": "x" * 2000}}), small
    )
    assert status == 413
    assert "1,000 bytes" in answer["error"]["message"]
    assert posted(b"", method="GET")[0] == 405


def test_a_server_that_is_busy_says_so() -> None:
    async def play() -> None:
        started, end = anyio.Event(), anyio.Event()

        @workflow
        async def waits() -> str:
            started.set()
            await end.wait()
            return "done"

        app = create_app(waits, max_concurrent_calls=1)
        async with connected(app) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "waits")
            await started.wait()
            results.append(await client.call_tool("waits"))
            end.set()

    results: list[Any] = []
    anyio.run(play)
    (busy,) = results
    assert busy.is_error
    assert "which is the limit" in text_of(busy)


def test_without_the_package_the_route_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "mcp_types.version", None)
    status, answer = posted(request("tools/list"))
    assert status == 501
    assert "pip install 'greenroom[mcp]'" in answer["error"]["message"]


@pytest.mark.slow
def test_a_client_that_leaves_cancels_its_call() -> None:
    from aiohttp import ClientSession, ClientTimeout

    cancelled = threading.Event()

    @workflow
    async def for_ever() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()
        return ""

    async def play(address: str) -> None:
        body = request("tools/call", {"name": "for_ever", "arguments": {}})
        headers = {"Accept": "application/json, text/event-stream"}
        async with ClientSession(timeout=ClientTimeout(total=0.5), headers=headers) as client:
            with pytest.raises(TimeoutError):
                await client.post(f"{address}/mcp", json=body)

    with running_app(create_app(for_ever)) as address:
        anyio.run(play, address)
        assert cancelled.wait(20)


def test_two_workflows_cannot_be_the_same_tool() -> None:
    other, tilde = workflow(name="a-b")(str.upper), workflow(name="a~b")(str.upper)
    with pytest.raises(InputError, match="'a-b' and 'a~b' are both called 'a-b' as tools of MCP"):
        create_app(other, tilde)
