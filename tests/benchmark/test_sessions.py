"""Benchmark agents as chat workflows: one world per session, whoever calls is the user."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import pytest

from greenroom.benchmark import check_config
from greenroom.benchmark.context import prepare_run
from greenroom.benchmark.sessions import OVER, AgentSessions
from greenroom.domains.domain import Domain
from greenroom.errors import InputError
from greenroom.model_server import scripted_server
from greenroom.workflows import Answer, Call, CallError, Event, LocalTarget
from greenroom.workflows.serve import create_app, served

CHANGE = "return_delivered_order_items"


@asynccontextmanager
async def talking(
    domain: Domain, agent: str = "tool-calling", **limits: Any
) -> AsyncGenerator[LocalTarget]:
    async with scripted_server(domain) as server:
        config = check_config(
            {"agent_strategy": agent, "model": "oracle", "api_base": server.api_base}
        )
        sessions = AgentSessions(prepare_run(config), **limits)
        async with sessions.running():
            yield LocalTarget(sessions.workflow())


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


def test_callers_who_said_the_same_have_worlds_of_their_own(retail: Domain):
    opening = user(retail.task(1, "test").instruction)

    async def talk() -> None:
        async with talking(retail) as target:
            answers = [await say(target, opening, session=None) for _ in range(2)]
            assert answers[0].outputs == answers[1].outputs
            for answer in answers:
                again = await say(target, opening, answer.outputs, user("###STOP###"), session=None)
                assert again.outputs["content"] == OVER

    run(talk)


@pytest.mark.parametrize("client", ["openai", "vercel"])
def test_a_client_without_sessions_keeps_its_world_over_http(retail: Domain, client: str):
    opening = retail.task(1, "test").instruction

    def openai_history(reply: str) -> list[dict[str, Any]]:
        return [{"role": "assistant", "content": reply}]

    def vercel_history(reply: str) -> list[dict[str, Any]]:
        tool: dict[str, Any] = {
            "type": "tool-find",
            "toolCallId": "a",
            "input": {},
            "output": "found",
        }
        return [{"role": "assistant", "parts": [tool, {"type": "text", "text": reply}]}]

    async def talk() -> None:
        async with (
            talking(retail) as target,
            served(create_app(target.workflow)) as address,
            aiohttp.ClientSession() as http,
        ):

            async def ask(*messages: dict[str, Any]) -> str:
                if client == "openai":
                    path, headers = "/v1/chat/completions", dict[str, str]()
                else:
                    path = "/invoke"
                    headers = {"x-ag-messages-format": "vercel", "accept": "application/json"}
                body = {"model": "any", "messages": messages}
                async with http.post(address + path, json=body, headers=headers) as response:
                    answer = await response.json()
                message = answer["choices"][0]["message"] if client == "openai" else answer
                return message["content"]

            first = await ask(user(opening))
            assert first != OVER
            history = openai_history(first) if client == "openai" else vercel_history(first)
            assert await ask(user(opening), *history, user("###STOP###")) == OVER

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
        async with talking(retail, max_sessions=2) as target:
            for session in ("a", "b", "c"):
                await say(target, opening, session=session)
            # The first one is forgotten: this opens a world of its own again.
            again = await say(target, opening, user("Still there?"), session="b")
            assert again.outputs["role"] == "assistant"

    run(talk)


def test_an_expired_session_says_so(retail: Domain):
    opening = user(retail.task(1, "test").instruction)

    async def talk() -> None:
        async with talking(retail, max_sessions=1) as target:
            await say(target, opening, session="a")
            first = await say(target, opening, session=None)
            await say(target, opening, session="b")
            with pytest.raises(CallError, match="This session has expired") as gone:
                await say(target, opening, user("Still there?"), session="a")
            assert gone.value.status == 410
            with pytest.raises(CallError, match="This session has expired"):
                await say(target, opening, first.outputs, user("Still there?"), session=None)
        async with talking(retail, max_idle_seconds=0.0) as target:
            await say(target, opening, session="a")
            with pytest.raises(CallError, match="This session has expired"):
                await say(target, opening, user("Still there?"), session="a")

    run(talk)


def test_a_busy_session_stays(retail: Domain):
    opening = user(retail.task(1, "test").instruction)

    async def talk() -> None:
        async with talking(retail, max_sessions=1) as target:
            events = target.stream(Call(inputs={"messages": [opening]}, session_id="a"))
            await anext(events)
            with pytest.raises(CallError, match="All 1 sessions are busy") as busy:
                await say(target, opening, session="b")
            assert busy.value.status == 503
            assert [event.kind async for event in events][-1] == "end"

    run(talk)


def test_calls_that_wait_when_the_server_stops_are_told(retail: Domain):
    opening = user(retail.task(1, "test").instruction)

    async def talk() -> None:
        async with talking(retail) as target:
            events = target.stream(Call(inputs={"messages": [opening]}, session_id="a"))
            await anext(events)
        with pytest.raises(CallError, match="The server has been stopped"):
            _ = [event async for event in events]
        with pytest.raises(CallError, match="The server has been stopped"):
            await say(target, opening, session="b")

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
        async with sessions.running():
            with pytest.raises(CallError, match="ModelUnavailable"):
                await say(LocalTarget(sessions.workflow()), user("Hello."))

    run(partial(talk))


COUNTER = """
import asyncio
from uuid import uuid4

from greenroom.agents import AgentContext, Stage
from greenroom.domains import respond


class Counter:
    "Counts its turns; all its worlds say the same if it is asked to be dull."

    def __init__(self, context: AgentContext) -> None:
        self._world = uuid4().hex

    async def play(self, stage: Stage) -> None:
        turn, heard = 0, stage.opening
        while not stage.over:
            turn += 1
            if heard.startswith("slowly"):
                await asyncio.sleep(0.3)
            name = "" if heard.endswith("dull") else f" of {self._world}"
            heard = await stage.step(respond(f"{turn}{name}"))
"""


@asynccontextmanager
async def counting(directory: Path) -> AsyncGenerator[LocalTarget]:
    agent = directory / "counter.py"
    agent.write_text(COUNTER)
    sessions = AgentSessions(prepare_run(check_config({"agent_strategy": str(agent)})))
    async with sessions.running():
        yield LocalTarget(sessions.workflow())


def text(answer: Answer) -> str:
    return answer.outputs["content"]


@pytest.mark.parametrize("session", [None, "a"])
def test_a_repeated_request_gets_the_same_answer(session: str | None, tmp_path: Path):
    async def talk() -> None:
        async with counting(tmp_path) as target:
            say_it = partial(say, target, session=session)
            first = await say_it(user("one"))
            said = [user("one"), first.outputs, user("slowly")]
            with anyio.move_on_after(0.1):
                await say_it(*said)
            answers: list[Answer] = []

            async def again() -> None:
                answers.append(await say_it(*said))

            async with anyio.create_task_group() as tasks:  # while the agent is still at it
                tasks.start_soon(again)
                tasks.start_soon(again)
            answers.append(await say_it(*said))
            world = text(first).removeprefix("1 of ")
            assert [text(answer) for answer in answers] == [f"2 of {world}"] * 3
            third = await say_it(*said, answers[-1].outputs, user("three"))
            assert text(third) == f"3 of {world}"

    run(talk)


@pytest.mark.parametrize("session", [None, "a"])
def test_a_world_does_not_go_back(session: str | None, tmp_path: Path):
    async def talk() -> None:
        async with counting(tmp_path) as target:
            said = [user("one")]
            for words in ("two", "three", "four"):
                said += [(await say(target, *said, session=session)).outputs, user(words)]
            with pytest.raises(CallError, match="has moved on") as gone:
                await say(target, *said[:2], user("something else"), session=session)
            assert gone.value.status == 410
            assert text(await say(target, *said, session=session)).startswith("4 of ")

    run(talk)


def test_the_last_words_without_history_are_the_next_turn_of_a_session(tmp_path: Path):
    async def talk() -> None:
        async with counting(tmp_path) as target:
            answers = [text(await say(target, user(words))) for words in ("one", "yes", "yes")]
            # Only the latest request can be a repeated one.
            assert [answer[0] for answer in answers] == ["1", "2", "3"]

    run(talk)


@pytest.mark.slow
def test_callers_who_say_the_same_at_once_are_not_mixed_up(tmp_path: Path):
    async def talk() -> None:
        async with counting(tmp_path) as target:
            worlds: list[list[str]] = []

            async def caller(name: str) -> None:
                said: list[dict[str, Any]] = []
                answers: list[str] = []
                for words in ("slowly dull", "slowly dull", "who?", name, name):
                    answer = await say(target, *said, user(words), session=None)
                    said += [user(words), answer.outputs]
                    answers.append(text(answer))
                worlds.append(answers)

            async with anyio.create_task_group() as tasks:
                for name in ("a", "b", "c"):
                    tasks.start_soon(caller, name)
            assert all(answers[:2] == ["1", "2"] for answers in worlds)
            for answers in worlds:
                own = answers[2].removeprefix("3 of ")
                assert answers[3:] == [f"4 of {own}", f"5 of {own}"]
            assert len({answers[2] for answers in worlds}) == 3

    run(talk)
