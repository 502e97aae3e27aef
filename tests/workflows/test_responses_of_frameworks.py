"""Frameworks that speak the Responses API, tools and streams included."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from itertools import count
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic import SecretStr

from greenroom import chat_workflow
from tests.workflows.serving import Server, serving

numbers = count()


@chat_workflow
def looker(messages: list[dict[str, Any]], tools: Any = None) -> Any:
    if tools and messages[-1]["role"] == "user":
        function = {"name": tools[0]["function"]["name"], "arguments": '{"place": "here"}'}
        call = {"id": f"call-{next(numbers)}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    said = [f"{one['role']}: {one['content']}" for one in messages]
    return {"role": "assistant", "content": ", ".join(said)}


ANSWER = "user: look, assistant: None, tool: found"


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    with serving(looker) as running:
        yield running


@pytest.mark.slow
def test_langchain(server: Server) -> None:
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    @tool
    def look(place: str) -> str:
        """Look around."""
        return "found"

    model: Any = ChatOpenAI(
        base_url=f"{server.address}/v1",
        api_key=SecretStr("any"),
        model="looker",
        use_responses_api=True,
    )
    assert "".join(piece.text for piece in model.stream("hello")) == "user: hello"
    asked, able = HumanMessage("look"), model.bind_tools([look])
    called = able.invoke([asked])
    (call,) = called.tool_calls
    assert (call["name"], call["args"]) == ("look", {"place": "here"})
    result = ToolMessage("found", tool_call_id=call["id"])
    assert able.invoke([asked, called, result]).text == ANSWER
    model.root_client.close()


@pytest.mark.slow
def test_pydantic_ai(server: Server) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async def main(client: AsyncOpenAI) -> tuple[str, str]:
        model = OpenAIResponsesModel("looker", provider=OpenAIProvider(openai_client=client))
        agent = Agent(model)

        @agent.tool_plain
        def look(place: str) -> str:  # pyright: ignore[reportUnusedFunction]
            return "found"

        async with client:
            whole = await agent.run("look")
            async with agent.run_stream("look") as streamed:
                return whole.output, await streamed.get_output()

    client = AsyncOpenAI(base_url=f"{server.address}/v1", api_key="any")
    assert asyncio.run(main(client)) == (ANSWER, ANSWER)
