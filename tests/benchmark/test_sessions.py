"""Benchmark agents as chat workflows: one world per session, whoever calls is the user."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest

from greenroom.benchmark import check_config
from greenroom.benchmark.context import prepare_run
from greenroom.benchmark.sessions import OVER, AgentSessions
from greenroom.domains.domain import Domain
from greenroom.errors import InputError
from greenroom.model_server import scripted_server
from greenroom.workflows import Answer, Call, Event, LocalTarget

CHANGE = "return_delivered_order_items"


@asynccontextmanager
async def talking(
    domain: Domain, agent: str = "tool-calling", most: int = 256
) -> AsyncGenerator[LocalTarget]:
    async with scripted_server(domain) as server:
        config = check_config(
            {"agent_strategy": agent, "model": "oracle", "api_base": server.api_base}
        )
        sessions = AgentSessions(prepare_run(config), most=most)
        try:
            yield LocalTarget(sessions.workflow())
        finally:
            await sessions.close()


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def say(target: LocalTarget, *messages: dict[str, Any], session: str | None = "a") -> Answer:
    return await target.call(Call(inputs={"messages": list(messages)}, session_id=session))


def run(talk: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        with anyio.fail_after(40):
            await talk()

    anyio.run(limited)


@pytest.mark.parametrize(
    "agent",
    [
        "tool-calling",
        "react",
        pytest.param("fastworkflow", marks=[pytest.mark.slow, pytest.mark.timeout(120)]),
    ],
)
def test_an_agent_answers_and_tells_what_it_does(retail: Domain, agent: str):
    opening = retail.task(1, "test").instruction

    async def talk() -> None:
        async with talking(retail, agent) as target:
            assert target.profile.is_chat
            call = Call(inputs={"messages": [user(opening)]}, session_id="a")
            events = [event async for event in target.stream(call)]
            names = [e.data["name"] for e in events if e.kind == "tool_call"]
            wanted = [action.name for action in retail.task(1, "test").actions]
            assert names == wanted
            results = [e for e in events if e.kind == "tool_result"]
            assert len(results) == len(names)
            end = events[-1]
            assert end.kind == "end"
            assert end.data.outputs["role"] == "assistant"
            assert end.data.prompt_tokens > 0

    run(talk)


def test_a_session_is_one_world_and_another_session_is_another(retail: Domain):
    opening = user(retail.task(1, "test").instruction)

    async def talk() -> None:
        async with talking(retail) as target:
            events: list[Event] = []
            for session in ("a", "b"):
                call = Call(inputs={"messages": [opening]}, session_id=session)
                events += [event async for event in target.stream(call)]
            changes = {
                e.data["id"] for e in events if e.kind == "tool_call" and e.data["name"] == CHANGE
            }
            outputs = [
                e.data["output"]
                for e in events
                if e.kind == "tool_result" and e.data["id"] in changes
            ]
            # In one world the second return would be refused.
            assert len(outputs) == 2
            assert outputs[0] == outputs[1]
            assert not outputs[0].startswith("Error")

    run(talk)


def test_a_client_without_sessions_is_known_by_its_transcript(retail: Domain):
    opening = user(retail.task(1, "test").instruction)

    async def talk() -> None:
        async with talking(retail) as target:
            first = await say(target, opening, session=None)
            second = await say(target, opening, first.outputs, user("###STOP###"), session=None)
            assert second.outputs["content"] == OVER

    run(talk)


def test_a_conversation_that_is_over_says_so_until_it_begins_anew(retail: Domain):
    opening = user(retail.task(1, "test").instruction)

    async def talk() -> None:
        async with talking(retail) as target:
            first = await say(target, opening)
            assert (await say(target, opening, user("###STOP###"))).outputs["content"] == OVER
            assert (await say(target, opening, user("Hm?"))).outputs["content"] == OVER
            assert (await say(target, opening)).outputs == first.outputs

    run(talk)


def test_sessions_that_were_silent_longest_make_room(retail: Domain):
    opening = user(retail.task(1, "test").instruction)

    async def talk() -> None:
        async with talking(retail, most=2) as target:
            for session in ("a", "b", "c"):
                await say(target, opening, session=session)
            # The first one is forgotten: this opens a world of its own again.
            again = await say(target, opening, user("Still there?"), session="b")
            assert again.outputs["role"] == "assistant"

    run(talk)


def test_a_caller_who_leaves_takes_nothing_from_the_next(retail: Domain):
    opening = user(retail.task(1, "test").instruction)

    async def talk() -> None:
        async with talking(retail) as target:
            with anyio.move_on_after(0.002):
                await say(target, opening)
            answer = await say(target, opening, user("###STOP###"))
            # Not the answer that was meant for the caller who left.
            assert answer.outputs["content"] == OVER

    run(talk)


def test_what_a_caller_did_not_say_cannot_be_answered(retail: Domain):
    async def talk() -> None:
        async with talking(retail) as target:
            with pytest.raises(Exception, match="no message of the user"):
                await say(target, {"role": "assistant", "content": "Hello."})

    run(talk)


@pytest.mark.parametrize("agent", ["oracle", "synthetic"])
def test_agents_that_play_from_a_script_cannot_be_talked_to(agent: str):
    with pytest.raises(InputError, match="plays from a script"):
        AgentSessions(prepare_run(check_config({"agent_strategy": agent})))


def test_a_model_that_cannot_be_reached_is_told_as_a_failure(retail: Domain):
    config = check_config(
        {
            "agent_strategy": "tool-calling",
            "model": "oracle",
            "api_base": "http://127.0.0.1:9/v1",
            "model_retries": 0,
        }
    )

    async def talk() -> None:
        sessions = AgentSessions(prepare_run(config))
        try:
            with pytest.raises(Exception, match="ModelUnavailable"):
                await say(LocalTarget(sessions.workflow()), user("Hello."))
        finally:
            await sessions.close()

    run(partial(talk))
