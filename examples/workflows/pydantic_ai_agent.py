"""A pydantic-ai agent with a tool of its own: a chat workflow, and an agent to measure.

pip install 'pydantic-ai-slim[openai]'
export OPENAI_API_KEY=...          # and OPENAI_BASE_URL for a server of your own
greenroom serve pydantic_ai_agent.py
greenroom run --agent-strategy pydantic_ai_agent.py --model gpt-4o --user-model gpt-4o
"""

from __future__ import annotations

import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

from greenroom import from_pydantic_ai

agent = Agent(
    OpenAIChatModel(os.environ.get("MODEL", "gpt-4o-mini")),
    name="pydantic-ai-agent",
    instructions="You help the customers of a shop. Look orders up before you speak about them.",
)


@agent.tool_plain
def order_status(order_id: str) -> str:
    """Look up where an order is."""
    return f"Order {order_id} is on its way and arrives on Friday."


clerk = from_pydantic_ai(agent, description="Helps with orders.")
