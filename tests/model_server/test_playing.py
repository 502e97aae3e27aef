from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import aiohttp
import anyio
import pytest

from greenroom.agents import AgentContext, Script, Stage, find_strategy
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment
from greenroom.model_server import FAULTS, ServerSettings, Stats, scripted_server
from greenroom.users import ScriptedUser
from tests.domains.small import small_domain
from tests.model_server.playing import AskedUser, Client, Player, Protocol

PROTOCOLS: tuple[Protocol, ...] = ("tools", "text", "react", "structured", "structured-text")


@asynccontextmanager
async def client_of(
    domain: Domain, settings: ServerSettings | None = None
) -> AsyncGenerator[tuple[Client, Stats]]:
    async with (
        scripted_server(domain, settings=settings) as server,
        aiohttp.ClientSession() as session,
    ):
        yield Client(session, server.api_base), server.stats


def rewards(domain: Domain, environments: list[Environment]) -> list[float]:
    assert len(environments) == len(domain.tasks())
    return [e.reward.value if e.reward else 0.0 for e in environments]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_oracle_solves_every_task(retail: Domain, protocol: Protocol) -> None:
    async def play() -> None:
        async with client_of(retail) as (client, stats):
            played = [
                await Player(retail, client.ask, protocol).play(index)
                for index in range(len(retail.tasks()))
            ]
            assert set(rewards(retail, played)) == {1.0}
            assert stats.to_json()["roles"] == {"agent": stats.requests}
            assert stats.requests == sum(len(environment.steps) for environment in played)

    anyio.run(play)


@pytest.mark.slow
@pytest.mark.parametrize("react", [False, True])
def test_agent_and_user_may_both_be_served(retail: Domain, react: bool) -> None:
    async def play() -> None:
        async with client_of(retail) as (client, stats):
            for index in range(len(retail.tasks())):
                user = AskedUser(client.ask, react=react)
                environment = await Player(retail, client.ask, user=user).play(index)
                assert environment.opening == retail.task(index).instruction
                assert environment.reward is not None
                assert environment.reward.value == 1.0
            assert set(stats.roles) == {"agent", "user"}

    anyio.run(play)


def test_the_synthetic_model_is_the_synthetic_agent(retail: Domain) -> None:
    async def in_process(index: int, trial: int) -> list[str]:
        synthetic = find_strategy("synthetic")
        agent = synthetic.create(
            AgentContext(
                task_index=index,
                trial=trial,
                run_seed=4,
                settings=synthetic.check({"success": "0.5"}),
                script=Script(retail, "test", index),
            )
        )
        environment = Environment(retail, ScriptedUser())
        await environment.reset(index)
        await agent.play(Stage(environment))
        return [str(step.action) for step in environment.steps]

    async def play() -> None:
        solved = 0
        async with client_of(retail, ServerSettings(seed=4)) as (client, _):
            for index in range(0, len(retail.tasks()), 4):
                for trial in range(3):
                    player = Player(retail, client.ask, model="openai/synthetic-0.5", seed=trial)
                    environment = await player.play(index)
                    acted = [str(step.action) for step in environment.steps]
                    assert acted == await in_process(index, trial)
                    solved += environment.reward is not None and environment.reward.value == 1.0
        assert 20 <= solved <= 52

    anyio.run(play)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_patient_client_gets_through_every_fault(protocol: Protocol) -> None:
    settings = ServerSettings(fault_rate=0.5, hang=0)
    domain = small_domain()

    async def play() -> None:
        async with client_of(domain, settings) as (client, stats):
            for round_number in range(40):
                for index in range(len(domain.tasks())):
                    player = Player(domain, client.ask, protocol, seed=round_number)
                    environment = await player.play(index)
                    assert environment.reward is not None
                    assert environment.reward.value == 1.0
            assert set(stats.faults) == set(FAULTS)
            assert 0.4 < stats.faults.total() / stats.requests < 0.6

    anyio.run(play)


@pytest.mark.slow
def test_the_same_requests_meet_the_same_fate_in_any_order(retail: Domain) -> None:
    settings = ServerSettings(fault_rate=0.3, hang=0)

    async def play(indices: list[int], *, at_once: bool) -> dict[str, int]:
        async with client_of(retail, settings) as (client, stats):

            async def one(index: int) -> None:
                await Player(retail, client.ask).play(index)

            if at_once:
                async with anyio.create_task_group() as group:
                    for index in indices:
                        group.start_soon(one, index)
            else:
                for index in indices:
                    await one(index)
            return {"requests": stats.requests, **stats.faults}

    first = anyio.run(lambda: play(list(range(20)), at_once=False))
    assert first == anyio.run(lambda: play(list(range(20)), at_once=False))
    assert first == anyio.run(lambda: play(list(reversed(range(20))), at_once=True))


@pytest.mark.slow
@pytest.mark.official
def test_official_tasks_are_solved(official_airline: Domain, official_retail: Domain) -> None:
    async def play(domain: Domain) -> list[float]:
        async with client_of(domain) as (client, _):
            return [
                (environment.reward.value if environment.reward else 0.0)
                for index in range(len(domain.tasks()))
                for environment in [await Player(domain, client.ask).play(index)]
            ]

    for domain in (official_airline, official_retail):
        solved = anyio.run(play, domain)
        texts = [task.instruction for task in domain.tasks()]
        told_apart = [r for r, text in zip(solved, texts, strict=True) if texts.count(text) == 1]
        assert set(told_apart) == {1.0}
