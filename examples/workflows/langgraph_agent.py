"""A LangGraph agent with a tool of its own: a chat workflow, and an agent to measure.

pip install langchain langchain-openai langgraph
export OPENAI_API_KEY=...          # and OPENAI_BASE_URL for a server of your own
greenroom serve langgraph_agent.py
greenroom run --agent-strategy langgraph_agent.py --model gpt-4o --user-model gpt-4o
"""
# LangChain's types are known in part only.
# pyright: reportUnknownVariableType=false

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI

from greenroom import from_langgraph

INSTRUCTIONS = "You help the customers of a shop. Look orders up before you speak about them."
# With a custom address, ChatOpenAI requests token counts only if it is told to.
MODEL = ChatOpenAI(model=os.environ.get("MODEL", "gpt-4o-mini"), stream_usage=True)


@tool
def order_status(order_id: str) -> str:
    """Look up where an order is."""
    return f"Order {order_id} is on its way and arrives on Friday."


@from_langgraph
def langgraph_agent(
    model: Any = MODEL, tools: Sequence[BaseTool] = (), instructions: str = INSTRUCTIONS
) -> Any:
    """Helps with orders."""
    return create_agent(model, [order_status, *tools], system_prompt=instructions)
