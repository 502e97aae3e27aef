"""Graphs of LangGraph beyond the usual agent: routes, questions to the user, messages as pairs."""
# LangGraph's types are known in part only.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from contextlib import aclosing
from importlib import import_module
from typing import Any

import anyio
import pytest

from greenroom import from_langgraph
from greenroom.domains.domain import Domain
from greenroom.models import FakeModel
from greenroom.workflows import Call, Event, LocalTarget, Workflow
from tests.agents.test_frameworks import calls, played, steps, think
from tests.chat_server import running_chat_server

pytestmark = pytest.mark.slow  # LangGraph takes seconds to load

graphs: Any = import_module("langgraph.graph")


def chain(**nodes: Any) -> Any:
    """A graph of nodes, one after the other."""
    graph, before = graphs.StateGraph(graphs.MessagesState), graphs.START
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, graphs.END)
    return graph


def heard(workflow: Workflow, *said: str, session: str | None = None) -> list[Event]:
    """The events of a call in which the user says the last of these."""
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]

    async def listen() -> list[Event]:
        call = Call(inputs={"messages": messages}, session_id=session)
        async with aclosing(LocalTarget(workflow).stream(call)) as events:
            return [event async for event in events]

    return anyio.run(listen)


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def test_what_a_router_thinks_is_no_part_of_the_answer() -> None:
    openai: Any = import_module("langchain_openai")

    def answering(body: dict[str, Any]) -> dict[str, Any]:
        routing = body["messages"][0]["content"] == "Classify."
        return {"content": "BILLING OF COURSE" if routing else "All is well."}

    with running_chat_server(answering) as server:
        model = openai.ChatOpenAI(model="any", base_url=server.api_base, api_key="any")

        async def route(state: Any) -> Any:
            asked = [{"role": "system", "content": "Classify."}, *state["messages"]]
            assert (await model.ainvoke(asked)).text == "BILLING OF COURSE"
            return {}

        async def answer(state: Any) -> Any:
            return {"messages": [await model.ainvoke(state["messages"])]}

        agent = from_langgraph(chain(route=route, answer=answer))
        *pieces, last = heard(agent, "My bill?")
    assert last.data.outputs == assistant("All is well.")
    words = [piece.text for piece in pieces if piece.kind == "delta"]
    assert len(words) > 1, "it came in pieces"
    assert "".join(words) == "All is well."


def say_pair(_: Any) -> Any:
    return {"messages": [("ai", "Hello.")]}


def say_mapping(_: Any) -> Any:
    return {"messages": {"role": "assistant", "content": "Hello."}}


@pytest.mark.parametrize("node", [say_pair, say_mapping])
def test_nodes_write_messages_in_any_form(node: Any, retail: Domain) -> None:
    *_, last = heard(from_langgraph(chain(say=node)), "Hi.")
    assert last.data.outputs == assistant("Hello.")

    def graph(tools: Any) -> Any:
        return chain(say=node).compile()

    episode = played(retail, from_langgraph(graph), None, "And now?")
    assert steps(episode) == [("respond", {"content": "Hello."})] * 2


def test_a_graph_that_waits_for_the_user_asks_and_goes_on(retail: Domain) -> None:
    types: Any = import_module("langgraph.types")
    memory = import_module("langgraph.checkpoint.memory").InMemorySaver()

    def confirm(_: Any) -> Any:
        return {"messages": [("ai", f"You said {types.interrupt('May I?')}")]}

    agent = from_langgraph(chain(confirm=confirm).compile(checkpointer=memory))
    *_, last = heard(agent, "Go!", session="one")
    assert last.data.outputs == assistant("May I?")
    *_, last = heard(agent, "Go!", "May I?", "Yes.", session="one")
    assert last.data.outputs == assistant("You said Yes.")

    @from_langgraph
    def clerk(model: Any, tools: Any) -> Any:
        (tool,) = [one for one in tools if one.name == "think"]

        async def act(state: Any) -> Any:
            answer = types.interrupt({"may": "I?"})
            (call,) = (await model.bind_tools(tools).ainvoke(state["messages"])).tool_calls
            await tool.ainvoke(call)
            return {"messages": [("ai", f"You said {answer}")]}

        return chain(act=act).compile(checkpointer=memory)

    episode = played(retail, clerk, FakeModel([calls(think("Hm."))]), "Yes.")
    assert episode.error is None
    assert steps(episode) == [
        ("respond", {"content": '{"may":"I?"}'}),
        ("think", {"thought": "Hm."}),
        ("respond", {"content": "You said Yes."}),
    ]
