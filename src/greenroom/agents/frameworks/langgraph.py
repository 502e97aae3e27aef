"""LangGraph: a graph over messages, or a function that builds one from what is offered."""
# LangGraph's types are known in part only.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from greenroom.agents.frameworks.agent import (
    FrameworkAgent,
    Subject,
    about,
    framework_agent,
    label,
)
from greenroom.agents.frameworks.blocking import Threads
from greenroom.agents.frameworks.building import Builder, builder_of
from greenroom.agents.frameworks.offers import ModelAddress, Offer, OfferedTool, need
from greenroom.errors import InputError
from greenroom.messages import text_of
from greenroom.util.json_values import encoded
from greenroom.workflows.declare.outputs import json_value

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.tools import BaseTool

    from greenroom.models import ChatMessage

_GIVEN = ("instructions", "model", "tools")
_NO_LIMIT = 1_000_000
"""Supersteps in a run, whose own limits end an episode."""


def from_langgraph(
    graph: Any, /, *, name: str | None = None, description: str | None = None
) -> FrameworkAgent:
    """A LangGraph agent as a chat workflow and as an agent for runs.

    `graph` is a function that builds a graph over `messages`. It takes what it needs of `model` (a
    chat model), `tools` and `instructions`, by name. Defaults are for calls outside of a run. A
    compiled graph can be called and served; its model and tools are bound, so it cannot play.
    """
    need("langgraph", "langgraph", "from_langgraph")
    if hasattr(graph, "compile") and not hasattr(graph, "astream"):
        graph = graph.compile()
    own = label(name, None if getattr(graph, "name", "") == "LangGraph" else graph)
    if hasattr(graph, "astream"):
        return framework_agent(
            Subject(
                name=own,
                description=description or "",
                open=lambda offer: _GraphConversation(lambda: graph, offer, ""),
                takes_callers_tools=False,
                refuses_runs=(
                    f"'{own}' is a compiled graph: its model and its tools are bound. To let it "
                    "play, give from_langgraph a function that builds it:\n"
                    f"  def {own if own.isidentifier() else 'build'}(model, tools, instructions):"
                ),
            )
        )
    if not callable(graph):
        raise InputError(
            f"from_langgraph takes a graph, or a function that builds one, not {graph!r}."
        )
    builder = builder_of(graph, _GIVEN, "from_langgraph")

    def open_graph(offer: Offer) -> _GraphConversation:
        told = "" if builder.takes("instructions") else offer.instructions
        return _GraphConversation(lambda: _built(builder, offer, own), offer, told)

    return framework_agent(
        Subject(
            name=own,
            description=about(description, graph),
            open=open_graph,
            takes_callers_tools=builder.takes("tools"),
            refuses_runs=""
            if builder.takes("tools")
            else f"'{own}' takes no tools, so it cannot play: add the parameter 'tools'.",
            has_model=builder.has_default("model"),
        )
    )


def _built(builder: Builder, offer: Offer, name: str) -> Any:
    if offer.model is None and not builder.has_default("model"):
        raise InputError(
            f"'{name}' has no model of its own: give its parameter 'model' a default, for calls "
            "outside of a run."
        )
    threads = Threads(offer)
    tools = [_tool(tool, threads) for tool in offer.tools]
    return builder.function(
        **builder.arguments(
            model=None if offer.model is None else _chat_model(offer.model),
            tools=tools,
            instructions=offer.instructions,
        )
    )


def _chat_model(model: ModelAddress) -> Any:
    openai = need("langchain_openai", "langchain-openai", "A graph that plays")
    return openai.ChatOpenAI(
        model=model.name,
        base_url=model.base_url,
        api_key=SecretStr(model.api_key),
        http_async_client=model.clients.awaited,
        http_client=model.clients.blocking,
        max_retries=0,
        stream_usage=True,
        use_responses_api=False,
    )


def _tool(tool: OfferedTool, threads: Threads) -> BaseTool:
    from langchain_core.tools import StructuredTool

    async def call(**arguments: Any) -> str:
        return await tool(**arguments)

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.parameters,
        func=threads.caller(tool),
        coroutine=call,
    )


class _GraphConversation:
    def __init__(self, build: Callable[[], Any], offer: Offer, told: str) -> None:
        self._build, self._offer = build, offer
        self._graph: Any = None
        self._history: list[BaseMessage] = []
        self._told = told

    async def take_turn(self, messages: list[ChatMessage]) -> AsyncGenerator[Any]:
        from langchain_core.messages.utils import convert_to_messages, convert_to_openai_messages

        if self._graph is None:
            built = self._build()
            self._graph = await built if inspect.isawaitable(built) else built
            if self._told:
                messages = [{"role": "system", "content": self._told}, *messages]
        # LangChain wants a content, also of messages that call tools alone.
        whole = [{**one, "content": one.get("content") or ""} for one in messages]
        heard = [*self._history, *convert_to_messages(whole)]
        said: list[BaseMessage] = []
        state: dict[str, Any] = {}
        async with aclosing(self._run(heard, whole, state)) as pieces:
            async for piece in pieces:
                if isinstance(piece, str):
                    yield piece
                    continue
                callers = self._callers_calls(piece)
                if callers:
                    # Calls of other tools are left out: nobody would answer them.
                    piece.tool_calls = callers
                said.append(piece)
                yield convert_to_openai_messages(piece)
                if callers:
                    return
        self._history = list(state.get("messages") or [*heard, *said])
        structured = state.get("structured_response")
        if structured is not None and not (said and said[-1].type == "ai" and said[-1].text):
            yield {"role": "assistant", "content": _as_text(structured)}

    async def _run(
        self, heard: list[BaseMessage], messages: Sequence[Any], state: dict[str, Any]
    ) -> AsyncGenerator[Any]:
        """Words and whole messages, as they come; the state is brought up to date."""
        from langchain_core.messages import AIMessageChunk

        known = {id(one) for one in heard} | {one.id for one in heard if one.id}
        modes = ["updates", "values"] if self._offer.in_run else ["messages", "updates", "values"]
        inputs = await self._inputs(heard, messages)
        unheard = set[str]() if self._offer.in_run else _inner_nodes(self._graph)
        stream = self._graph.astream(inputs, self._config(), stream_mode=modes)
        async with aclosing(stream):
            async for mode, piece in stream:
                if mode == "values":
                    state.update(piece)
                elif mode == "updates":
                    for message in _new_messages(piece, known):
                        self._report(message)
                        yield message
                elif isinstance(piece[0], AIMessageChunk) and (
                    piece[0].text and piece[1].get("langgraph_node") not in unheard
                ):
                    yield str(piece[0].text)

    async def _inputs(self, heard: list[BaseMessage], messages: Sequence[Any]) -> Any:
        """What the graph is told: all, or what is new to a graph that remembers by itself."""
        from langgraph.types import Command

        if getattr(self._graph, "checkpointer", None) is None:
            return {"messages": heard}
        state = await self._graph.aget_state(self._config())
        if not state.values.get("messages"):
            return {"messages": heard}
        if state.interrupts:  # it has asked the user something
            answer = text_of(messages[-1]["content"])
            return Command(resume={one.id: answer for one in state.interrupts})
        spoken = [place for place, one in enumerate(messages) if one["role"] == "assistant"]
        return {"messages": list(messages[spoken[-1] + 1 if spoken else 0 :])}

    def _config(self) -> Any:
        config: dict[str, Any] = {"configurable": {"thread_id": self._offer.session_id}}
        return config | {"recursion_limit": _NO_LIMIT} if self._offer.in_run else config

    def _callers_calls(self, message: BaseMessage) -> list[Any]:
        calls: list[Any] = getattr(message, "tool_calls", [])
        return [call for call in calls if call["name"] in self._offer.left_to_caller]

    def _report(self, message: BaseMessage) -> None:
        used = getattr(message, "usage_metadata", None)
        if used is not None:
            self._offer.report(used["input_tokens"], used["output_tokens"])


def _inner_nodes(graph: Any) -> set[str]:
    """The nodes after which others follow: what their models say is no answer, such as a route."""
    ends: dict[str, bool] = {}
    for edge in graph.get_graph().edges:
        ends[edge.source] = ends.get(edge.source, False) or edge.target == "__end__"
    return {node for node, is_last in ends.items() if not is_last}


def _new_messages(updates: Mapping[str, Any], known: set[Any]) -> Iterator[BaseMessage]:
    """The messages that nodes have added: of the model, and of tools; or what they ask the user."""
    from langchain_core.messages import AIMessage, ToolMessage

    for node, update in updates.items():
        if node == "__interrupt__":
            yield from (AIMessage(_as_text(one.value)) for one in update)
            continue
        for one in update if isinstance(update, list) else [update]:
            found: Any = one.get("messages") if isinstance(one, Mapping) else None
            for message in map(_message, found if isinstance(found, list) else [found]):
                if isinstance(message, AIMessage | ToolMessage):
                    if id(message) in known or (message.id and message.id in known):
                        continue
                    known |= {id(message), message.id or id(message)}
                    yield message


def _message(found: Any) -> Any:
    """A message of a node, which may write it as LangGraph reads it: as a pair or a mapping."""
    from langchain_core.messages.utils import convert_to_messages

    return convert_to_messages([found])[0] if isinstance(found, tuple | dict) else found


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else encoded(json_value(value)).decode()
