"""Agents of other frameworks, with the real packages: what they ask, call, say and break."""
# LangGraph's types are known in part only.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from greenroom import from_callable, from_dspy, from_langgraph, from_openai_agents, from_pydantic_ai
from greenroom.agents import find_strategy
from greenroom.agents.frameworks import FrameworkAgent
from greenroom.agents.frameworks.offers import HttpClients
from greenroom.benchmark import Episode, RunConfig, RunContext, play_episode
from greenroom.domains.domain import Domain
from greenroom.errors import InputError
from greenroom.models import (
    BudgetExhausted,
    ContextWindowExceeded,
    FakeModel,
    Model,
    ModelUnavailable,
)
from greenroom.users import ScriptedUser
from greenroom.workflows import Call, CallError, LocalTarget
from tests.agents import framework_agents

# Frameworks take seconds to load.
pytestmark = pytest.mark.slow

Make = Callable[..., FrameworkAgent]
NUMBERS = count()
NATIVE: list[Any] = [
    framework_agents.langgraph,
    framework_agents.openai_agents,
    framework_agents.pydantic_ai,
]
PLAIN: list[Any] = [framework_agents.awaiting, framework_agents.blocking]
native = pytest.mark.parametrize("make", NATIVE)
every = pytest.mark.parametrize("make", [*NATIVE, *PLAIN])


def calls(*wanted: tuple[str, dict[str, Any] | str], content: str | None = None) -> dict[str, Any]:
    """A model's message with tool calls."""
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [
            {
                "id": f"call_{next(NUMBERS)}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for name, given in wanted
        ],
    }


def think(thought: str) -> tuple[str, dict[str, Any]]:
    return "think", {"thought": thought}


def always(model: Model) -> Callable[[object], Model]:
    return lambda _: model


def played(
    retail: Domain, agent: FrameworkAgent, model: Model | None, *replies: str, **config: Any
) -> Episode:
    def user(_: object) -> ScriptedUser:
        return ScriptedUser([*replies, "Bye. ###STOP###"], opening="Hello.")

    strategy = replace(agent.strategy, create_user=user)
    if model is not None:
        strategy = replace(strategy, create_model=always(model))

    async def play() -> Episode:
        async with RunContext(retail, strategy, RunConfig(**config)).opened() as context:
            return await play_episode(context, 5)

    return anyio.run(play)


def steps(episode: Episode) -> list[tuple[str, Any]]:
    return [(step.action.name, dict(step.action.kwargs)) for step in episode.steps]


@every
def test_it_has_policy_and_tools_and_keeps_its_history_over_turns(
    retail: Domain, make: Make
) -> None:
    model = FakeModel([calls(think("Hm.")), "Which order?", "I see."])
    episode = played(retail, make(), model, "That one.")
    assert episode.error is None
    assert steps(episode) == [
        ("think", {"thought": "Hm."}),
        ("respond", {"content": "Which order?"}),
        ("respond", {"content": "I see."}),
    ]
    last = model.requests[-1]
    assert [one["role"] for one in last.messages] == [
        *("system", "user", "assistant", "tool", "assistant", "user"),
    ]
    assert last.messages[0]["content"].strip() == retail.policy.strip()
    assert last.messages[-1]["content"] == "That one."
    offered = {one["function"]["name"]: one["function"] for one in last.tools or []}
    assert offered.keys() == {one["function"]["name"] for one in retail.tool_infos}
    known = {one["function"]["name"]: one["function"] for one in retail.tool_infos}
    for name, function in known.items():
        assert offered[name]["parameters"] == function["parameters"]
        assert offered[name]["description"] == function["description"]
    assert episode.messages is not None
    assert episode.messages[-1]["content"] == "I see."
    assert last.seed == episode.seed


@native
def test_calls_at_once_are_made_in_order(retail: Domain, make: Make) -> None:
    thoughts = [f"thought {number}" for number in range(8)]
    model = FakeModel([calls(*map(think, thoughts)), "Done."])
    episode = played(retail, make(), model)
    assert [kwargs.get("thought") for _, kwargs in steps(episode)][:-1] == thoughts
    asking, *told = model.requests[-1].messages[-9:]
    ids = [call["id"] for call in asking["tool_calls"]]
    assert [one["tool_call_id"] for one in told] == ids


@native
def test_its_own_tools_are_kept_and_are_no_steps(retail: Domain, make: Make) -> None:
    async def weather(place: str) -> str:
        """Look at the sky."""
        return f"It rains in {place}."

    model = FakeModel([calls(("weather", {"place": "Rome"})), calls(think("Wet.")), "Bye."])
    episode = played(retail, make(weather), model)
    assert [name for name, _ in steps(episode)] == ["think", "respond"]
    results = [one["content"] for one in model.requests[-1].messages if one["role"] == "tool"]
    assert results[0] == "It rains in Rome."


@native
def test_errors_of_a_tool_reach_the_model(retail: Domain, make: Make) -> None:
    unknown = {"order_id": "#W0000000"}
    model = FakeModel([calls(("get_order_details", unknown)), "Sorry."])
    native_model = FakeModel(list(model.answers))
    episode = played(retail, make(), model)
    strategy = replace(find_strategy("tool-calling"), create_model=always(native_model))
    anyio.run(play_episode, RunContext(retail, strategy), 5)
    (told,) = (one["content"] for one in model.requests[-1].messages if one["role"] == "tool")
    (same,) = (
        one["content"] for one in native_model.requests[-1].messages if one["role"] == "tool"
    )
    assert told == same
    assert [step.failed for step in episode.steps] == [True, False]


@native
@pytest.mark.parametrize("arguments", ['{"thought": ', '["a list"]'])
def test_nonsense_for_a_tool_does_not_end_the_episode(
    retail: Domain, make: Make, arguments: str
) -> None:
    model = FakeModel([calls(("think", arguments)), "I am sorry."])
    episode = played(retail, make(), model)
    if arguments == '["a list"]' and make is framework_agents.langgraph:
        # LangChain itself cannot hold such a message: that counts against the agent, in words.
        assert episode.outcome == "crashed"
        assert "Input should be a valid dictionary" in (episode.error or "")
        return
    assert episode.error is None
    assert steps(episode)[-1] == ("respond", {"content": "I am sorry."})


@native
def test_a_tool_that_does_not_exist_does_not_end_the_episode(retail: Domain, make: Make) -> None:
    model = FakeModel([calls(("fly_away", {})), "I am sorry."])
    episode = played(retail, make(), model)
    assert episode.error is None
    assert steps(episode)[-1] == ("respond", {"content": "I am sorry."})


class Answer(BaseModel):
    words: str


@native
def test_structured_output_is_said_as_json(retail: Domain, make: Make) -> None:
    def answer(request_tools: list[Any] | None, wanted: Any) -> Any:
        names = [one["function"]["name"] for one in request_tools or []]
        for name in ("final_result", "Answer"):  # as a tool
            if name in names:
                return calls((name, {"words": "Hello."}))
        assert wanted is not None
        return {"role": "assistant", "content": '{"words":"Hello."}'}

    class Structured(FakeModel):
        async def complete(self, request: Any) -> Any:
            self.answers = [answer(request.tools, request.response_format)]
            return await super().complete(request)

    episode = played(retail, make(response_format=Answer), Structured([""]))
    assert episode.error is None
    (said,) = (kwargs["content"] for _, kwargs in steps(episode))
    assert json.loads(said) == {"words": "Hello."}


@every
def test_a_model_without_an_answer_is_nobodys_failure(retail: Domain, make: Make) -> None:
    model = FakeModel([calls(think("Hm.")), ModelUnavailable("Nobody answers.")])
    episode = played(retail, make(), model)
    assert episode.outcome == "infrastructure_error"
    assert episode.error == "ModelUnavailable: Nobody answers."
    assert len(model.requests) == 2, "the run tries again, not the framework"


@every
def test_a_conversation_that_is_too_long_has_its_outcome(retail: Domain, make: Make) -> None:
    episode = played(retail, make(), FakeModel([ContextWindowExceeded("Too long.")]))
    assert episode.outcome == "context_window"


@every
def test_a_spent_budget_ends_the_run(retail: Domain, make: Make) -> None:
    with pytest.raises(BudgetExhausted):
        played(retail, make(), FakeModel([BudgetExhausted("It is spent.")]))


@every
def test_nothing_is_asked_after_a_tool_that_ends_the_conversation(
    retail: Domain, make: Make
) -> None:
    end = ("transfer_to_human_agents", {"summary": "No idea."})
    model = FakeModel([calls(end, think("Too late.")), "Never said."])
    episode = played(retail, make(), model)
    assert [name for name, _ in steps(episode)] == ["transfer_to_human_agents"]
    assert (episode.outcome, episode.error) == ("failure", None)
    assert len(model.requests) == 1


@every
def test_the_steps_of_the_run_end_it(retail: Domain, make: Make) -> None:
    model = FakeModel([calls(think("Hm.")) for _ in range(31)])
    episode = played(retail, make(), model, max_num_steps=30)
    assert (episode.outcome, len(episode.steps)) == ("max_steps", 30)


@native
def test_an_agent_that_asks_on_and_on_is_stopped(retail: Domain, make: Make) -> None:
    def wait() -> str:
        """Do nothing."""
        return "Nothing."

    model = FakeModel([calls(("wait", {})) for _ in range(10)])
    episode = played(retail, make(wait), model, agent_options={"turn_calls": 5})
    assert (episode.outcome, episode.steps) == ("max_steps", ())
    assert len(model.requests) == 5


@native
def test_what_a_framework_raises_is_its_own_failure_in_words(retail: Domain, make: Make) -> None:
    def weather() -> str:
        """Look at the sky."""
        raise ZeroDivisionError("the sky is gone")

    agent = make(weather)
    model = FakeModel([calls(("weather", {})), "I cannot say."])
    episode = played(retail, agent, model)
    if episode.outcome == "crashed":
        assert episode.error == "ZeroDivisionError: the sky is gone"
    else:  # this framework tells the model
        told = [one["content"] for one in model.requests[-1].messages if one["role"] == "tool"]
        assert "the sky is gone" in told[0]


@every
def test_a_turn_ends_in_time(retail: Domain, make: Make) -> None:
    class Slow(FakeModel):
        async def complete(self, request: Any) -> Any:
            self.requests.append(request)
            await anyio.sleep_forever()

    options = {"turn_seconds": 0.2}
    episode = played(retail, make(), Slow([]), agent_options=options)
    assert episode.outcome == "max_time"
    episode = played(retail, make(), Slow([]), max_episode_seconds=0.2)
    assert episode.outcome == "max_time"


@native
def test_silence_is_told_to_the_model(retail: Domain, make: Make) -> None:
    model = FakeModel(["", "Hello."])
    episode = played(retail, make(), model)
    assert steps(episode)[-1] == ("respond", {"content": "Hello."})


def test_agents_that_are_handed_over_to_have_the_tools_and_the_policy(retail: Domain) -> None:
    from agents import Agent, handoff

    refunds: Agent[Any] = Agent(name="refunds", instructions="You pay back.")
    returns: Agent[Any] = Agent(name="returns", instructions=lambda _context, _agent: "You fetch.")
    desk: Agent[Any] = Agent(name="desk", handoffs=[refunds, handoff(returns)])
    agent = from_openai_agents(desk)
    for name, own in (("refunds", "You pay back."), ("returns", "You fetch.")):
        model = FakeModel(
            [calls((f"transfer_to_{name}", {})), calls(think("Hm.")), "Done.", "Gladly."]
        )
        episode = played(retail, agent, model, "Thank you.")
        assert [step for step, _ in steps(episode)] == ["think", "respond", "respond"]
        for request in (model.requests[1], model.requests[3]):  # it has its turns from then on
            assert request.messages[0]["content"] == f"{own}\n\n{retail.policy}"
    assert desk.tools == []
    assert refunds.instructions == "You pay back."


def test_a_tool_with_a_name_of_the_domains_is_told(retail: Domain) -> None:
    def think(thought: str) -> str:
        """Think otherwise."""
        return thought

    with pytest.raises(InputError, match="a tool 'think' of its own"):
        played(retail, framework_agents.openai_agents(think), FakeModel(["Hi."]))
    episode = played(retail, framework_agents.pydantic_ai(think), FakeModel(["Hi."]))
    assert episode.outcome == "crashed"
    assert "conflicts with existing tool" in (episode.error or "")


def test_no_traces_are_sent_to_openai_whatever_model_is_asked(retail: Domain) -> None:
    from agents.models.interface import Model as AgentsModel
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    from agents import Agent, ModelResponse, Usage, set_trace_processors

    class Own(AgentsModel):
        async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
            text = ResponseOutputText(text="Hello.", type="output_text", annotations=[])
            said = ResponseOutputMessage(
                id="1", role="assistant", status="completed", type="message", content=[text]
            )
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    traced: list[Any] = []

    def note(*given: Any) -> None:
        traced.extend(given)

    class Sent:
        on_trace_start = on_trace_end = on_span_start = on_span_end = staticmethod(note)

    try:
        sent: Any = Sent()
        set_trace_processors([sent])
        agent = from_openai_agents(Agent(name="clerk", model=Own()))
        episode = played(retail, agent, None)
        assert steps(episode) == [("respond", {"content": "Hello."})]
        played(retail, framework_agents.openai_agents(), FakeModel(["Hi."]))
    finally:
        set_trace_processors([])
    assert traced == []


def test_the_policy_comes_behind_the_agents_own_instructions(retail: Domain) -> None:
    from pydantic_ai import Agent
    from pydantic_ai import RunContext as AgentRunContext

    clerk = Agent(name="clerk", deps_type=int, instructions="You are kind.")

    def number(context: AgentRunContext[int]) -> str:
        return f"You are number {context.deps}."

    clerk.instructions(number)
    model = FakeModel(["Hello."])
    played(retail, from_pydantic_ai(clerk, deps=7), model)
    told = [one["content"] for one in model.requests[0].messages if one["role"] == "system"]
    assert told == ["You are kind.", "You are number 7.", retail.policy]


def test_a_graph_that_remembers_is_told_what_is_new(retail: Domain) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    memory = InMemorySaver()

    @from_langgraph
    def clerk(model: Any, tools: Any, instructions: str) -> Any:
        return framework_agents.create_agent(
            model, tools, system_prompt=instructions, checkpointer=memory
        )

    model = FakeModel(["Which order?", "I see."])
    episode = played(retail, clerk, model, "That one.")
    assert len(episode.steps) == 2
    said = [(one["role"], one["content"]) for one in model.requests[-1].messages[1:]]
    assert said == [("user", "Hello."), ("assistant", "Which order?"), ("user", "That one.")]


def test_a_graph_of_blocking_nodes_plays(retail: Domain) -> None:
    from langgraph.graph import END, START, MessagesState, StateGraph

    @from_langgraph
    def clerk(model: Any, tools: Any) -> Any:
        by_name = {tool.name: tool for tool in tools}

        def ask(state: Any) -> Any:
            return {"messages": [model.bind_tools(tools).invoke(state["messages"])]}

        def act(state: Any) -> Any:
            wanted = state["messages"][-1].tool_calls
            return {"messages": [by_name[one["name"]].invoke(one) for one in wanted]}

        def turn(state: Any) -> str:
            return "act" if state["messages"][-1].tool_calls else END

        builder: Any = StateGraph(MessagesState)
        builder.add_node("ask", ask)
        builder.add_node("act", act)
        builder.add_edge(START, "ask")
        builder.add_conditional_edges("ask", turn, ["act", END])
        builder.add_edge("act", "ask")
        return builder.compile()

    model = FakeModel([calls(think("Hm.")), "Done."])
    episode = played(retail, clerk, model)
    assert episode.error is None
    assert [name for name, _ in steps(episode)] == ["think", "respond"]
    assert model.requests[0].messages[0] == {"role": "system", "content": retail.policy}


def without_tools(model: Any) -> Any:
    return model


def coloured(model: Any, colour: str) -> Any:
    return model, colour


def deaf(tools: Any) -> Any:
    return tools


def test_what_cannot_play_is_told_before_anything_is_played(retail: Domain) -> None:
    from langchain_core.language_models import FakeListChatModel
    from pydantic_ai import Agent

    compiled = from_langgraph(
        framework_agents.create_agent(FakeListChatModel(responses=["Hi."])), name="clerk"
    )
    with pytest.raises(InputError, match="def clerk\\(model, tools, instructions\\)"):
        played(retail, compiled, FakeModel(["Hi."]))
    with pytest.raises(InputError, match="takes no tools"):
        played(retail, from_langgraph(without_tools), FakeModel(["Hi."]))
    with pytest.raises(InputError, match="'clerk' has no model of its own: name one by --model"):
        played(retail, from_pydantic_ai(Agent(name="clerk")), None)


@pytest.mark.parametrize("make", [framework_agents.pydantic_ai, *PLAIN])
def test_a_call_outside_of_a_run_needs_a_model(make: Make) -> None:
    call = Call(inputs={"messages": [{"role": "user", "content": "Hello."}]})
    with pytest.raises(CallError, match="has no model of its own: give"):
        anyio.run(LocalTarget(make()).call, call)


def test_what_is_no_agent_of_the_framework_is_told() -> None:
    with pytest.raises(InputError, match="takes a graph, or a function that builds one"):
        from_langgraph(3)
    with pytest.raises(InputError, match="takes an Agent of openai-agents"):
        from_openai_agents(3)
    with pytest.raises(InputError, match="takes an Agent of pydantic-ai"):
        from_pydantic_ai(3)
    with pytest.raises(InputError, match="takes a module, or a function that builds one"):
        from_dspy(3)
    with pytest.raises(InputError, match="it gives instructions, model, tools, by name"):
        from_langgraph(coloured)
    with pytest.raises(InputError, match="hears nothing"):
        from_callable(deaf)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module in ("langgraph", "agents", "pydantic_ai", "pydantic_ai.agent", "dspy"):
        monkeypatch.setitem(sys.modules, module, None)
    for function, packages in (
        (from_langgraph, "langgraph"),
        (from_openai_agents, "openai-agents"),
        (from_pydantic_ai, "'pydantic-ai-slim[openai]'"),
        (from_dspy, "dspy"),
    ):
        with pytest.raises(InputError) as told:
            function(object())
        assert str(told.value).endswith(f"pip install {packages}.")


def test_a_client_that_is_missing_ends_the_run_and_is_no_failure_of_the_agent(
    retail: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    agent = framework_agents.pydantic_ai()
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(InputError, match=r"that plays needs 'pydantic-ai-slim\[openai\]'"):
        played(retail, agent, FakeModel(["Hi."]))


def test_an_agent_with_its_own_model_reports_its_tokens_and_no_cost(retail: Domain) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    agent = from_pydantic_ai(Agent(TestModel(call_tools=["think"]), name="clerk"))
    episode = played(retail, agent, None)
    assert [name for name, _ in steps(episode)] == ["think", "respond"]
    assert episode.usage["agent"].prompt_tokens > 0
    assert episode.usage["agent"].cost is None


def test_connections_are_of_the_http_library_that_openais_package_brings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    import openai

    # Newer releases of it bring another one, and then httpx is not installed.
    monkeypatch.setitem(sys.modules, "httpx", None)
    clients = HttpClients()
    assert isinstance(clients.awaited, openai.DefaultAsyncHttpxClient)
    assert isinstance(clients.blocking, openai.DefaultHttpxClient)
    anyio.run(clients.close)
    assert clients.awaited.is_closed
    assert clients.blocking.is_closed
