"""The Vercel AI SDK's `useChat`, with its own transport: it ends, and shows readable errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import anyio
import pytest

from greenroom import chat_workflow
from tests.workflows.node_chat import chat
from tests.workflows.serving import Server, serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.network,
    pytest.mark.timeout(180),  # the first has to install it
    pytest.mark.xdist_group("node"),
]


@chat_workflow
def searcher(messages: list[dict[str, Any]]) -> Iterator[Any]:
    """Runs its own tools in two rounds."""
    yield "Let me look. "
    for place in ("here", "there"):
        yield {"type": "tool_call", "id": f"{len(messages)}-{place}", "name": "look", "input": {}}
        yield {"type": "tool_result", "id": f"{len(messages)}-{place}", "output": place}
    if messages[-1]["content"] != "silently":
        yield "Found after " + " ".join(message["role"] for message in messages)


@chat_workflow
def asker(messages: list[dict[str, Any]], session_id: str) -> Any:
    """Has the client run a tool."""
    if messages[-1]["role"] == "tool":
        said = f"It is {messages[-1]['content']} in {session_id}."
        return {"role": "assistant", "content": said}
    function = {"name": "clock", "arguments": "{}"}
    call = {"id": f"call-{len(messages)}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@chat_workflow
def failing(messages: Any) -> Any:
    raise ValueError("There is no such order.")


@chat_workflow
async def pondering(messages: Any) -> AsyncIterator[str]:
    await anyio.sleep(0.2)
    yield "Once"
    await anyio.sleep(0.2)
    yield " upon"


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    with serving(searcher, asker, failing) as running:
        yield running


@pytest.mark.parametrize("headers", [{}, {"x-ag-messages-format": "vercel"}])
def test_the_workflows_own_tools_are_not_answered_by_the_client(
    server: Server, headers: dict[str, str]
) -> None:
    found = chat(f"{server.address}/searcher", "first", "silently", "last", headers=headers)
    assert (found["errors"], found["status"], len(found["requests"])) == ([], "ready", 3)
    types = [part["type"] for part in found["messages"][1]["parts"]]
    look, text = "tool-look", "text"
    assert types == ["step-start", text, look, "step-start", look, "step-start", text]
    # History comes back in the order in which it happened.
    round_trip = "user assistant tool assistant tool assistant"
    silent = "user assistant tool assistant tool"
    last = found["messages"][-1]["parts"][-1]["text"]
    assert last == f"Found after {round_trip} {silent} user"


def test_a_tool_of_the_client_leads_to_one_more_request(server: Server) -> None:
    found = chat(
        f"{server.address}/asker", "time?", "and now?", id="c-7", outputs={"clock": "noon"}
    )
    assert (found["errors"], found["status"], len(found["requests"])) == ([], "ready", 4)
    assert [message["role"] for message in found["messages"]] == ["user", "assistant"] * 2
    assert found["messages"][-1]["parts"][-1]["text"] == "It is noon in c-7."


def test_an_error_is_shown_as_its_text(server: Server) -> None:
    found = chat(f"{server.address}/failing", "hello")
    assert found["errors"] == ["There is no such order."]


def test_comments_in_the_silence_of_a_stream_change_nothing() -> None:
    with serving(pondering, keep_alive=0.05) as server:
        found = chat(server.address, "hello")
    assert (found["errors"], found["status"]) == ([], "ready")
    assert found["messages"][-1]["parts"][-1]["text"] == "Once upon"
