"""Whoever gives the agent of a framework as it is, is told how to wrap it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import greenroom
from greenroom.agents import find_strategy
from greenroom.errors import InputError
from greenroom.users import find_user_strategy
from greenroom.util.framework_hints import advice
from greenroom.workflows import load_workflows

pytestmark = pytest.mark.slow  # frameworks take seconds to load

TOLD = r"Write:\n  from greenroom import from_pydantic_ai\n  wrapped = from_pydantic_ai\(agent\)"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text("from pydantic_ai import Agent\n\nagent = Agent(name='clerk')\n")
    return str(path)


def test_a_file_without_a_wrapped_agent(file: str) -> None:
    for place in (file, f"{file}:agent"):
        with pytest.raises(InputError, match=TOLD):
            find_strategy(place)
        with pytest.raises(InputError, match=TOLD):
            load_workflows(place)
    with pytest.raises(InputError) as told:
        find_user_strategy(file)
    assert "from_pydantic_ai" not in str(told.value)


def test_an_agent_that_is_given_to_a_run() -> None:
    from pydantic_ai import Agent

    with pytest.raises(InputError, match=TOLD):
        greenroom.run(agent=Agent(name="clerk"), tasks=[1], show_progress=False)


def test_the_agents_of_each_framework_are_known() -> None:
    agents, dspy, langgraph = map(import_module, ("agents", "dspy", "langgraph.graph"))
    graph = langgraph.StateGraph(langgraph.MessagesState)
    graph.add_edge(langgraph.START, langgraph.END)
    for found, function in (
        (agents.Agent(name="clerk"), "from_openai_agents"),
        (dspy.ReAct("conversation -> reply", tools=[]), "from_dspy"),
        (graph, "from_langgraph"),
        (graph.compile(), "from_langgraph"),
    ):
        assert advice({"_": found, "agent": found}).endswith(f"wrapped = {function}(agent)")
    assert advice({"Agent": agents.Agent, "dspy": dspy, "graph": 3}) == ""
