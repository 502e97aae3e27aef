"""An agent of OpenAI's Agents SDK, with a tool of its own: a chat workflow, and one to measure.

pip install openai-agents
export OPENAI_API_KEY=...          # and OPENAI_BASE_URL for a server of your own
greenroom serve openai_agents_agent.py
greenroom run --agent-strategy openai_agents_agent.py --model gpt-4o --user-model gpt-4o
"""

from __future__ import annotations

import os

from agents import Agent, function_tool, set_default_openai_api
from greenroom import from_openai_agents

if "OPENAI_BASE_URL" in os.environ:  # most servers speak chat completions, not the Responses API
    set_default_openai_api("chat_completions")


@function_tool
def order_status(order_id: str) -> str:
    """Look up where an order is."""
    return f"Order {order_id} is on its way and arrives on Friday."


clerk = from_openai_agents(
    Agent(
        name="openai-agents-agent",
        model=os.environ.get("MODEL", "gpt-4o-mini"),
        instructions="You help the customers of a shop. Look orders up before you speak of them.",
        tools=[order_status],
    ),
    description="Helps with orders.",
)
