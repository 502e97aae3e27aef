"""The server understands the agents, users and judges that come with Greenroom."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import anyio
import pytest

from greenroom.agents import AgentContext, Stage, find_strategy
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment, SimulatedUser
from greenroom.judging.answers import Assignment, KindAnswer, parse_answer, response_format
from greenroom.model_server import ServerSettings, Stats, scripted_server
from greenroom.models import Completion, ModelRequest
from greenroom.users import ScriptedUser
from greenroom.users.strategies import UserContext, find_user_strategy
from tests.domains.small import small_domain
from tests.model_server.playing import Client


class WireModel:
    """A model at the other end of a wire."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._name = name

    async def complete(self, request: ModelRequest) -> Completion:
        asked = {
            "model": self._name,
            "messages": request.messages,
            "tools": request.tools,
            "response_format": request.response_format,
            "seed": request.seed,
        }
        return Completion(message=await self._client.ask(asked))


@asynccontextmanager
async def served(
    domain: Domain, settings: ServerSettings | None = None
) -> AsyncGenerator[tuple[WireModel, Stats]]:
    async with (
        scripted_server(domain, settings=settings) as server,
        aiohttp.ClientSession() as session,
    ):
        yield WireModel(Client(session, server.api_base), "any-model"), server.stats


async def reward(
    domain: Domain, index: int, agent: str, model: WireModel, user: SimulatedUser, path: Path
) -> float:
    options = {"few_shot_displays_path": str(path), "num_few_shots": "1"}
    context = AgentContext(
        task_index=index,
        trial=0,
        run_seed=1,
        settings=find_strategy(agent).check(options if agent == "few-shot" else {}),
        model=model,
    )
    environment = Environment(domain, user, max_steps=60)
    await environment.reset(index)
    await find_strategy(agent).create(context).play(Stage(environment))
    return environment.reward.value if environment.reward else 0.0


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    path = tmp_path / "examples.jsonl"
    path.write_text(json.dumps({"messages_display": "Customer: hi"}))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["tool-calling", "few-shot", "act", "react", "structured"])
def test_every_agent_solves_every_task(retail: Domain, agent: str, examples: Path) -> None:
    async def play() -> None:
        async with served(retail) as (model, _):
            for index in range(len(retail.tasks())):
                user = ScriptedUser()
                assert await reward(retail, index, agent, model, user, examples) == 1.0, index

    anyio.run(play)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["llm", "react", "verify", "reflection"])
def test_every_user_is_played(retail: Domain, kind: str, examples: Path) -> None:
    async def play() -> None:
        async with served(retail) as (model, stats):
            for index in range(len(retail.tasks())):
                user = find_user_strategy(kind).create(UserContext(model=model))
                assert await reward(retail, index, "tool-calling", model, user, examples) == 1.0
            assert (stats.roles["judge"] > 0) is (kind in ("verify", "reflection"))

    anyio.run(play)


@pytest.mark.parametrize("agent", ["tool-calling", "act", "react", "structured"])
def test_agents_get_over_spoiled_actions(agent: str, examples: Path) -> None:
    domain = small_domain()
    faults = ("wrong-tool", "bad-arguments")

    async def play() -> None:
        async with served(domain, ServerSettings(fault_rate=0.3, faults=faults)) as (model, stats):
            for index in [*range(len(domain.tasks()))] * 10:
                user = ScriptedUser()
                assert await reward(domain, index, agent, model, user, examples) == 1.0
            assert set(stats.faults) == set(faults)

    anyio.run(play)


def test_the_judge_gives_a_verdict() -> None:
    async def judge() -> None:
        async with served(small_domain()) as (model, stats):
            question = {"role": "user", "content": "Who is at fault for this failure?"}
            for form in (response_format(Assignment), None):
                asked = ModelRequest(messages=[question], response_format=form)
                assert parse_answer((await model.complete(asked)).text, Assignment)
            for form in (response_format(KindAnswer), None):
                asked = ModelRequest(messages=[question], response_format=form)
                assert parse_answer((await model.complete(asked)).text, KindAnswer)
            assert stats.roles == {"judge": 4}

    anyio.run(judge)
