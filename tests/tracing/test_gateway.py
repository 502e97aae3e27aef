"""Traces that cross the gateway: an agent's own model client, its MCP calls and its own spans."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from openai import AsyncOpenAI

from greenroom.agents import AgentContext, AgentStrategy, DomainView, Stage, name_of_strategy
from greenroom.agents.gateway import Gateway, open_gateway
from greenroom.agents.tool_calls import action_of_call
from greenroom.agents.turns import Turns
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.domains.domain import Domain
from greenroom.model_server import RunningServer, running_server
from greenroom.store import EpisodeRecord, Store, Usage
from greenroom.tracing import names
from tests.agents.a2a_server import Agent, Heard, serving
from tests.tracing.collector import Collector, SeenSpan

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parents[1] / "agents/programs"
PRICES = {
    "oracle": {"input_cost_per_token": 2e-6, "output_cost_per_token": 8e-6},
    "user": {"input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6},
}


@pytest.fixture(scope="module")
def server(retail: Domain) -> Generator[RunningServer]:
    with running_server(retail) as running:
        yield running


@pytest.fixture
def asking(server: RunningServer, tmp_path: Path) -> dict[str, Any]:
    """A run of two tasks in which the agent and the user ask a model with a price."""
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps(PRICES))
    return {
        "model": "oracle",
        "api_base": server.api_base,
        "user_model": "user",
        "user_api_base": server.api_base,
        "task_ids": [0, 5],
        "max_concurrency": 2,
        "prices": str(prices),
    }


def play(store: Store, config: dict[str, Any]) -> list[EpisodeRecord]:
    run, prepared = start_run(store, check_config(config))
    anyio.run(lambda: play_run(store, run, prepared))
    records = list(store.runs.results(run.id))
    assert [one.outcome for one in records] == ["success"] * 2, [one.error for one in records]
    return records


def command(program: str, **options: Any) -> dict[str, Any]:
    line = shlex.join([sys.executable, str(PROGRAMS / program)])
    return {"agent_strategy": "command", "agent_options": {"agent_command": line, **options}}


@asynccontextmanager
async def prepare(domain: DomainView, settings: Any, max_steps: int) -> AsyncGenerator[Gateway]:
    async with open_gateway() as gateway:
        yield gateway


class OwnClient:
    """An agent in this process that asks by OpenAI's client, at the address of its episode."""

    def __init__(self, context: AgentContext) -> None:
        self._context = context

    async def play(self, stage: Stage) -> None:
        context, turns = self._context, Turns(stage)
        messages: list[Any] = [{"role": "system", "content": stage.policy}]
        async with context.shared.episode(
            context.model, context.model_name, seed=context.seed
        ) as endpoint:
            client: Any = AsyncOpenAI(base_url=endpoint.model_base, api_key=endpoint.token)

            async def take_turn(heard: str) -> str:
                messages.append({"role": "user", "content": heard})
                while True:
                    answer = await client.chat.completions.create(
                        model="default", messages=messages, tools=stage.tool_infos
                    )
                    reply = answer.choices[0].message
                    messages.append(reply.model_dump(exclude_none=True))
                    if not reply.tool_calls:
                        return reply.content
                    for call in reply.tool_calls:
                        action = action_of_call(call.function.name, call.function.arguments)
                        told = await turns.step(action)
                        messages.append({"role": "tool", "tool_call_id": call.id, "content": told})

            await turns.play(take_turn)
            await client.close()


own_client = AgentStrategy("own-client", OwnClient, prepare=prepare)


def ways() -> list[Any]:
    relay = "mcp_relay.py"
    told = "--mcp {mcp_url} --model-base {model_base} --model {model}"
    line = f"{shlex.join([sys.executable, str(PROGRAMS / relay)])} {told}"
    by_mcp = {"agent_command": line, "agent_protocol": "text"}
    return [
        pytest.param({"agent_strategy": name_of_strategy(own_client)}, id="in-process"),
        pytest.param(command("relay.py"), id="lines"),
        pytest.param({"agent_strategy": "command", "agent_options": by_mcp}, id="mcp"),
    ]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", ways())
def test_an_agents_own_client_is_in_the_tree_and_sums_are_those_of_the_report(
    collector: Collector, kept: Store, asking: dict[str, Any], way: dict[str, Any]
) -> None:
    for record in play(kept, asking | way):
        span = episode_of(collector, record)
        turns = [one for one in collector.children(span) if one.name.startswith("invoke_agent")]
        users = [one for one in collector.children(span) if one.name == "user_turn"]
        assert len(turns) == record.turns
        assert len(users) == record.turns + 1
        for turn in turns:
            inner = [one.name for one in collector.children(turn)]
            assert inner[0] == "chat oracle"
            assert {one.split()[0] for one in inner} <= {"chat", "execute_tool"}
        check_sums(collector, span, record)
        assert rewards(collector)[span.id] == record.reward == 1.0


REPORTING = """
import json, sys
for line in sys.stdin:
    if "user" in json.loads(line):
        print(json.dumps({"usage": {"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.5}}))
        print(json.dumps({"message": "Hello."}), flush=True)
print(json.dumps({"usage": {"prompt_tokens": 1, "cost": 0.25}}))
"""


@pytest.mark.timeout(120)
def test_what_an_agent_reports_is_in_the_tree_and_the_sums(
    collector: Collector, kept: Store, tmp_path: Path
) -> None:
    program = tmp_path / "reporting.py"
    program.write_text(REPORTING)
    line = shlex.join([sys.executable, str(program)])
    options = {"agent_strategy": "command", "agent_options": {"agent_command": line}}
    run, prepared = start_run(kept, check_config(options | {"task_ids": [5]}))
    anyio.run(lambda: play_run(kept, run, prepared))
    (record,) = kept.runs.results(run.id)
    assert record.usage["agent"].cost == 0.75
    span = episode_of(collector, record)
    check_sums(collector, span, record)
    (turn,) = [one for one in collector.children(span) if one.name.startswith("invoke_agent")]
    assert [one.name for one in collector.children(turn)] == ["chat"]


@pytest.mark.timeout(120)
def test_the_spans_of_an_agent_are_between_its_turn_and_what_it_asks(
    collector: Collector, kept: Store, asking: dict[str, Any]
) -> None:
    options = {"agent_protocol": "text", "agent_env": ["OTEL_EXPORTER_OTLP_ENDPOINT"]}
    for record in play(kept, asking | command("traced_relay.py", **options)):
        span = episode_of(collector, record)
        turns = [one for one in collector.children(span) if one.name.startswith("invoke_agent")]
        for turn in turns:
            (own,) = collector.children(turn)
            assert (own.name, own.service) == ("think", "the-agent")
            inner = collector.children(own)
            assert inner[0].name == "chat oracle"
            assert {one.name.split()[0] for one in inner} <= {"chat", "execute_tool"}
        check_sums(collector, span, record)


@pytest.mark.timeout(120)
def test_an_a2a_agent_is_told_the_trace_and_what_it_asks_is_in_it(
    collector: Collector, kept: Store, asking: dict[str, Any]
) -> None:
    conversations: dict[str, tuple[dict[str, Any], list[Any]]] = {}

    async def take(heard: Heard) -> str:
        if heard.setup:
            system = {"role": "system", "content": heard.setup["policy"]}
            conversations[heard.context_id] = (heard.setup, [system])
        setup, messages = conversations[heard.context_id]
        messages.append({"role": "user", "content": heard.text})
        headers = {"traceparent": heard.headers["traceparent"]}
        async with AsyncOpenAI(
            base_url=setup["model_base"], api_key=setup["api_key"], default_headers=headers
        ) as made:
            client: Any = made
            answer = await client.chat.completions.create(model="default", messages=messages)
        words = answer.choices[0].message.content or "Goodbye."
        messages.append({"role": "assistant", "content": words})
        return words

    with serving(Agent(take)) as address:
        fields = {"agent_strategy": "a2a", "agent_options": {"url": address}, "max_num_steps": 3}
        run, prepared = start_run(kept, check_config(asking | fields))
        anyio.run(lambda: play_run(kept, run, prepared))
    for record in kept.runs.results(run.id):
        span = episode_of(collector, record)
        turns = [one for one in collector.children(span) if one.name.startswith("invoke_agent")]
        assert len(turns) == 4, record.error
        for turn in turns[:-1]:  # the last one has no step left
            assert [one.name for one in collector.children(turn)] == ["chat oracle"]
        check_sums(collector, span, record)


@pytest.mark.timeout(120)
def test_an_agent_cannot_put_what_it_asks_into_another_trace_or_out_of_its_own(
    collector: Collector, kept: Store, asking: dict[str, Any], tmp_path: Path
) -> None:
    relay = (PROGRAMS / "relay.py").read_text()
    lie = '"traceparent": next(HEADERS), "Content-Type"'
    ours = '"00-" + os.environ["TRACEPARENT"].split("-")[1] + "-" + "ab" * 8 + "-00"'
    headers = f'HEADERS = itertools.cycle(["00-{"cd" * 16}-{"ab" * 8}-01", "nonsense", {ours}])'
    code = relay.replace('"Content-Type"', lie).replace(
        "Message = dict[str, Any]", f"import itertools\n{headers}\nMessage = dict[str, Any]"
    )
    (tmp_path / "liar.py").write_text(code)
    line = shlex.join([sys.executable, str(tmp_path / "liar.py")])
    fields = {"agent_strategy": "command", "agent_options": {"agent_command": line}}
    for record in play(kept, asking | fields):
        span = episode_of(collector, record)
        chats = [one for one in collector.named("chat") if one.trace == span.trace]
        # All questions are there, also those that claim not to be sampled.
        assert len(chats) == sum(one.calls for one in record.usage.values())
        assert span.attributes[names.COST] == record.cost


def episode_of(collector: Collector, record: EpisodeRecord) -> SeenSpan:
    (found,) = (
        one
        for one in collector.named("episode")
        if (one.attributes[names.TASK], one.attributes[names.TRIAL]) == record.key
    )
    return found


def rewards(collector: Collector) -> dict[str, float]:
    named = [one for one in collector.events if one.name == names.EVALUATION_RESULT]
    return {one.span: one.attributes[names.SCORE] for one in named}


def check_sums(collector: Collector, span: SeenSpan, record: EpisodeRecord) -> None:
    """Tokens, calls and cost of the questions below a span are those of the record."""
    below = collector.below(span)
    assert {one.trace for one in below} == {span.trace}
    for purse, used in record.usage.items():
        paid = [one for one in below if one.attributes.get(names.PURSE) == purse]
        assert len(paid) == used.calls > 0
        for name, total in (
            (names.INPUT_TOKENS, used.prompt_tokens),
            (names.OUTPUT_TOKENS, used.completion_tokens),
        ):
            assert sum(one.attributes[name] for one in paid) == total
        assert sum(one.attributes[names.COST] for one in paid) == pytest.approx(used.cost)
    total = Usage.total(record.usage.values())
    assert span.attributes[names.INPUT_TOKENS] == total.prompt_tokens
    assert span.attributes[names.COST] == record.cost
