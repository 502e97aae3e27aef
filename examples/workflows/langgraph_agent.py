"""A LangGraph agent with a tool of its own, as a chat workflow.

pip install langgraph langchain-openai
export OPENAI_API_KEY=...          # and OPENAI_BASE_URL for a server of your own
greenroom serve langgraph_agent.py
"""
# LangGraph's types are known in part only.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, SystemMessage
from langchain_core.messages.utils import convert_to_openai_messages
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from greenroom import chat_workflow, report_usage

INSTRUCTIONS = "You help the customers of a shop. Look orders up before you speak about them."


@tool
def order_status(order_id: str) -> str:
    """Look up where an order is."""
    return f"Order {order_id} is on its way and arrives on Friday."


class State(MessagesState):
    """The conversation, and the tools that the caller brought along."""

    tools: list[dict[str, Any]]


# With a custom address, ChatOpenAI requests token counts only if it is told to.
model = ChatOpenAI(model=os.environ.get("MODEL", "gpt-4o-mini"), stream_usage=True)


async def ask(state: State) -> dict[str, Any]:
    """The node that asks the model."""
    # One call at a time, so that a message never mixes our tools and the caller's.
    able = model.bind_tools([order_status, *state["tools"]], parallel_tool_calls=False)
    said = await able.ainvoke([SystemMessage(INSTRUCTIONS), *state["messages"]])
    return {"messages": [said]}


def whose_turn(state: State) -> str:
    """Run our own tool here; leave the caller's tools to the caller."""
    last = state["messages"][-1]
    calls = last.tool_calls if isinstance(last, AIMessage) else []
    return "tools" if any(call["name"] == order_status.name for call in calls) else END


builder = StateGraph(State)
builder.add_node("ask", ask)
builder.add_node("tools", ToolNode([order_status]))
builder.add_edge(START, "ask")
builder.add_conditional_edges("ask", whose_turn, ["tools", END])
builder.add_edge("tools", "ask")
graph = builder.compile()


@chat_workflow(name="langgraph-agent")
async def converse(
    messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None
) -> AsyncGenerator[Any]:
    """Helps with orders."""
    # LangChain reads messages in OpenAI's form. The graph needs no checkpointer: every call brings
    # the whole conversation.
    begun: Any = {"messages": messages, "tools": tools or []}
    pieces: Any = graph.astream(begun, stream_mode=["messages", "updates"])
    async for mode, piece in pieces:
        if mode == "messages":  # words, while the model writes them
            chunk = piece[0]
            if isinstance(chunk, AIMessageChunk) and chunk.text:
                yield str(chunk.text)
            continue
        for update in piece.values():  # what a node has done: whole messages
            for message in update["messages"]:
                # Tool calls and results are part of the answer: they are shown, evaluated and sent
                # back with the next call.
                yield convert_to_openai_messages(message)
                used = message.usage_metadata if isinstance(message, AIMessage) else None
                if used is not None:
                    report_usage(
                        prompt_tokens=used["input_tokens"],
                        completion_tokens=used["output_tokens"],
                    )
