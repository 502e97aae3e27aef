"""dspy's ReAct with a tool of its own: a chat workflow, and an agent to measure.

pip install dspy
export OPENAI_API_KEY=...          # and OPENAI_API_BASE for a server of your own
greenroom serve dspy_agent.py
greenroom run --agent-strategy dspy_agent.py --model gpt-4o --user-model gpt-4o
"""
# dspy carries no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import os

import dspy

from greenroom import from_dspy

# With dspy's cache, all repeats of an evaluation would be the same.
dspy.configure(lm=dspy.LM(f"openai/{os.environ.get('MODEL', 'gpt-4o-mini')}", cache=False))


class Answer(dspy.Signature):
    """Help the customers of a shop. Look orders up before you speak about them."""

    conversation: str = dspy.InputField()
    reply: str = dspy.OutputField(desc="what the user is told")


def order_status(order_id: str) -> str:
    """Look up where an order is."""
    return f"Order {order_id} is on its way and arrives on Friday."


clerk = from_dspy(
    dspy.ReAct(Answer, tools=[order_status]), name="dspy-agent", description="Helps with orders."
)
