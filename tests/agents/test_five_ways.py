"""Twenty tasks, one scripted model, and all the ways to ask it: they are measured alike."""

from __future__ import annotations

import json
import ssl
from collections.abc import Generator
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI

import greenroom
from greenroom import chat_workflow, report_usage
from greenroom.domains.domain import Domain
from greenroom.model_server import running_server
from greenroom.store import EpisodeRecord, open_store
from tests.agents import framework_agents
from tests.agents.test_command_agent import PRICES, command_of
from tests.workflows.serving import serving

# One run after the other, each of them twenty episodes with a framework that has to be loaded.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SSL = ssl.create_default_context()  # making one for each client takes long
MODEL = "synthetic-0.5"
PRICE = PRICES[MODEL]


class Thorough:
    """A user who asks once more: whoever ends its turn with a message has another one."""

    def __init__(self) -> None:
        self._asked = False

    async def open(self, instruction: str) -> str:
        return instruction

    async def reply(self, content: str) -> str:
        asked, self._asked = self._asked, True
        return "###STOP###" if asked else "Is that all?"


@pytest.fixture(scope="module")
def asking(retail: Domain, tmp_path_factory: pytest.TempPathFactory) -> Generator[dict[str, Any]]:
    """Both parties ask the scripted models, at known prices."""
    prices = tmp_path_factory.mktemp("prices") / "prices.json"
    prices.write_text(json.dumps(PRICES))
    with running_server(retail) as server:
        yield {
            "model": MODEL,
            "api_base": server.api_base,
            "user": Thorough,
            "prices": str(prices),
            "tasks": list(range(20)),
            "max_concurrency": 20,  # all at once: nothing is crossed between them
            "show_progress": False,
        }


@pytest.fixture(scope="module")
def in_process(asking: dict[str, Any]) -> list[Any]:
    """What every way should give: the tool-calling agent's episodes."""
    episodes = played(asking | {"agent": "tool-calling"})
    assert {one.outcome for one in episodes} == {"success", "failure"}
    assert all((one.usage["agent"].cost or 0) > 0 for one in episodes)
    assert {len(spoken(one)) for one in episodes} == {2}
    return list(map(seen, episodes))


def played(options: dict[str, Any]) -> list[EpisodeRecord]:
    store = open_store()
    try:
        return list(greenroom.run(store=store, **options).episodes())
    finally:
        store.close()


def spoken(episode: EpisodeRecord) -> list[Any]:
    return [step for step in episode.steps if step.action.name == "respond"]


def done(episode: EpisodeRecord) -> list[Any]:
    """The outcome, the reward, and every step with what came of it."""
    steps = [(one.action.name, one.action.kwargs, one.observation) for one in episode.steps]
    return [episode.outcome, episode.reward, steps]


def seen(episode: EpisodeRecord) -> list[Any]:
    """What was done, and what each purse paid for."""
    return [
        *done(episode),
        {
            purse: (
                used.calls,
                used.prompt_tokens,
                used.completion_tokens,
                round(used.cost or 0, 9),
            )
            for purse, used in episode.usage.items()
        },
    ]


def test_a_workflow_over_http(asking: dict[str, Any], in_process: list[Any]) -> None:
    @chat_workflow(parameters={"seed": 0})
    async def relay(messages: list[dict[str, Any]], parameters: dict[str, Any], tools: Any) -> Any:
        given: Any = {"messages": messages, "tools": tools, "seed": parameters["seed"]}
        http = httpx.AsyncClient(verify=SSL)
        async with AsyncOpenAI(
            base_url=asking["api_base"], api_key="any", http_client=http
        ) as client:
            asked: Any = client.chat.completions
            answer = await asked.create(model=MODEL, **given)
        sent, got = answer.usage.prompt_tokens, answer.usage.completion_tokens
        cost = sent * PRICE["input_cost_per_token"] + got * PRICE["output_cost_per_token"]
        report_usage(prompt_tokens=sent, completion_tokens=got, cost=cost)
        return answer.choices[0].message.model_dump(exclude_none=True)

    with serving(relay) as server:
        options = {name: one for name, one in asking.items() if name not in ("model", "api_base")}
        episodes = played(options | {"workflow": server.address})
    assert list(map(seen, episodes)) == in_process


def test_a_command_over_mcp_whose_turns_the_harness_owns(
    asking: dict[str, Any], in_process: list[Any]
) -> None:
    line = command_of(
        "mcp_relay.py", "--mcp", "{mcp_url}", "--model-base", "{model_base}", "--model", "{model}"
    )
    episodes = played(asking | {"agent_command": line, "agent_protocol": "text"})
    assert list(map(seen, episodes)) == in_process


@pytest.mark.parametrize(
    "make",
    [
        framework_agents.langgraph,
        framework_agents.openai_agents,
        framework_agents.pydantic_ai,
        framework_agents.awaiting,
        framework_agents.blocking,
    ],
)
def test_the_metered_endpoint_from(
    make: Any, asking: dict[str, Any], in_process: list[Any]
) -> None:
    assert list(map(seen, played(asking | {"agent": make()}))) == in_process


def test_dspy_asks_in_its_own_way_and_does_the_same(asking: dict[str, Any]) -> None:
    # The scripted model reads what dspy did from its trajectory, which is one turn's.
    options = {name: one for name, one in asking.items() if name != "user"}
    near = played(options | {"agent": "tool-calling"})
    far = played(options | {"agent": framework_agents.dspy()})
    assert list(map(done, far)) == list(map(done, near))
    assert all((one.usage["agent"].cost or 0) > 0 for one in far)
