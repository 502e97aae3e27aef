"""The same agent in each framework: it has the model, the tools and the policy of its episode."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

from greenroom import (
    from_callable,
    from_dspy,
    from_langgraph,
    from_openai_agents,
    from_pydantic_ai,
)
from greenroom.agents.frameworks import FrameworkAgent

Function = Callable[..., Any]


def create_agent(*given: Any, **named: Any) -> Any:
    """A graph of LangChain, whose types are known in part only."""
    return import_module("langchain.agents").create_agent(*given, **named)


def langgraph(*own_tools: Function, response_format: Any = None) -> FrameworkAgent:
    def graph(model: Any, tools: Any, instructions: str) -> Any:
        return create_agent(
            model,
            [*own_tools, *tools],
            system_prompt=instructions,
            response_format=response_format,
        )

    return from_langgraph(graph)


def openai_agents(*own_tools: Function, response_format: Any = None) -> FrameworkAgent:
    from agents import Agent, function_tool

    tools: Any = [function_tool(one) for one in own_tools]
    return from_openai_agents(Agent(name="clerk", tools=tools, output_type=response_format))


def pydantic_ai(*own_tools: Function, response_format: Any = None) -> FrameworkAgent:
    from pydantic_ai import Agent

    agent: Any = Agent(name="clerk", tools=list(own_tools), output_type=response_format or str)
    return from_pydantic_ai(agent)


def dspy(*own_tools: Function) -> FrameworkAgent:
    package = import_module("dspy")
    return from_dspy(package.ReAct("conversation -> reply", tools=list(own_tools)), name="clerk")


def awaiting() -> FrameworkAgent:
    from openai import AsyncOpenAI

    async def clerk(messages: list[Any], tools: Any, model: Any) -> str:
        by_name = {tool.name: tool for tool in tools}
        schemas: Any = [tool.schema for tool in tools]
        async with AsyncOpenAI(base_url=model.base_url, api_key=model.api_key) as client:
            while True:
                asked = client.chat.completions
                answer = await asked.create(model=model.name, messages=messages, tools=schemas)
                said: Any = answer.choices[0].message
                messages.append(said.model_dump(exclude_none=True))
                if not said.tool_calls:
                    return said.content or ""
                for call in said.tool_calls:
                    tool, arguments = by_name[call.function.name], call.function.arguments
                    seen = await tool(**json.loads(arguments))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": seen})

    return from_callable(clerk)


def blocking() -> FrameworkAgent:
    from openai import OpenAI

    def clerk(messages: list[Any], tools: Any, model: Any) -> str:
        by_name = {tool.name: tool for tool in tools}
        schemas: Any = [tool.schema for tool in tools]
        with OpenAI(base_url=model.base_url, api_key=model.api_key) as client:
            while True:
                asked = client.chat.completions
                answer = asked.create(model=model.name, messages=messages, tools=schemas)
                said: Any = answer.choices[0].message
                messages.append(said.model_dump(exclude_none=True))
                if not said.tool_calls:
                    return said.content or ""
                for call in said.tool_calls:
                    tool, arguments = by_name[call.function.name], call.function.arguments
                    seen = tool(**json.loads(arguments))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": seen})

    return from_callable(clerk)
