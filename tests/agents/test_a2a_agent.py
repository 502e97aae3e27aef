"""Agents by A2A: the official SDK's servers play, and hostile ones try."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest
from a2a.types import Part, TaskState
from mcp import Client
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from greenroom.agents import AgentContext
from greenroom.agents.a2a_agent import strategy
from greenroom.agents.a2a_client import _check_interfaces  # pyright: ignore[reportPrivateUsage]
from greenroom.benchmark import (
    Episode,
    RunContext,
    check_config,
    play_episode,
    play_run,
    start_run,
)
from greenroom.domains.domain import Domain
from greenroom.errors import InputError
from greenroom.model_server import running_server
from greenroom.store import Store
from greenroom.users import ScriptedUser
from tests.agents.a2a_server import Agent, Heard, answering, card_at, said, serving

pytestmark = pytest.mark.slow


async def play(domain: Domain, url: str, task: int = 5, **options: Any) -> Episode:
    config = check_config({"agent_strategy": "a2a", "agent_options": {"url": url, **options}})
    async with RunContext(domain, strategy, config).opened() as context:
        return await play_episode(context, task)


def played(domain: Domain, url: str, task: int = 5, **options: Any) -> Episode:
    return anyio.run(partial(play, domain, url, task, **options))


def clerk(retail: Domain) -> Agent:
    """An agent who solves the task that the user tells, with the tools at the episode's address."""

    async def take(heard: Heard) -> str:
        if not heard.setup:
            return "Anything else?"
        task = next(one for one in retail.tasks() if one.instruction == heard.text)
        async with Client(heard.setup["mcp_url"]) as tools:
            for action in task.actions:
                if action.name != "respond":
                    await tools.call_tool(action.name, dict(action.kwargs))
        return " ".join(["Done.", *task.outputs])

    return Agent(take)


@pytest.mark.parametrize(
    "card",
    [
        {"streaming": True},
        {"streaming": False},
        {"binding": "HTTP+JSON"},
        {"version": "0.3.0", "streaming": False},
    ],
    ids=["streaming", "whole", "REST", "0.3"],
)
def test_an_agent_that_acts_by_mcp_solves_tasks(retail: Domain, card: dict[str, Any]) -> None:
    agent = clerk(retail)
    with serving(agent, **card) as url:
        episodes = [played(retail, url, task) for task in range(1, 6)]
    assert [one.outcome for one in episodes] == ["success"] * 5
    assert {one.facts["A2A agent"] for one in episodes} == {"Clerk 1.2"}
    told = agent.heard[0].setup
    assert set(told) == {"mcp_url", "policy"}
    assert told["policy"] == retail.policy


def test_the_first_message_tells_the_policy_and_the_addresses_and_the_user_comes_last(
    retail: Domain,
) -> None:
    agent = clerk(retail)
    with serving(agent) as url:
        played(retail, url, policy=False)
    heard = agent.heard[0]
    assert set(heard.setup) == {"mcp_url"}
    assert heard.text == retail.task(5).instruction


def test_a_run_with_a_model_gives_its_metered_address_and_counts_what_is_asked(
    retail: Domain, store: Store
) -> None:
    async def take(heard: Heard) -> str:
        setup = heard.setup
        headers = {"Authorization": f"Bearer {setup['api_key']}"}
        question = {"model": setup["model"], "messages": [{"role": "user", "content": heard.text}]}
        async with httpx2.AsyncClient(headers=headers) as http:
            answer = await http.post(f"{setup['model_base']}/chat/completions", json=question)
        assert answer.status_code == 200
        return "Sorry."

    with serving(Agent(take)) as url, running_server(retail) as models:
        fields = {
            "agent_strategy": "a2a",
            "agent_options": {"url": url},
            "task_ids": [5],
            "model": "oracle",
            "api_base": models.api_base,
        }
        run, context = start_run(store, check_config(fields))
        anyio.run(partial(play_run, store, run, context))
    (episode,) = store.runs.results(run.id)
    assert episode.usage["agent"].calls == 1
    assert episode.usage["agent"].prompt_tokens > 0


def test_the_context_is_kept_over_turns_and_never_shared_between_episodes(retail: Domain) -> None:
    turns = 0

    async def take(heard: Heard) -> str:
        nonlocal turns
        turns += 1
        return f"{turns}"

    agent = Agent(take)
    with serving(agent) as url:

        async def both() -> None:
            async with anyio.create_task_group() as tasks:
                for task in (5, 6):
                    tasks.start_soon(play_twice, retail, url, task)

        anyio.run(both)
    contexts: dict[str, list[bool]] = {}
    for heard in agent.heard:
        contexts.setdefault(heard.context_id, []).append(bool(heard.setup))
    assert list(contexts.values()) == [[True, False], [True, False]]


async def play_twice(domain: Domain, url: str, task: int) -> Episode:
    def user(_context: AgentContext) -> ScriptedUser:
        return ScriptedUser(["And then?"])

    talking = replace(strategy, create_user=user)
    config = check_config({"agent_strategy": "a2a", "agent_options": {"url": url}})
    async with RunContext(domain, talking, config).opened() as context:
        return await play_episode(context, task)


def test_a_task_that_requires_input_speaks_to_the_user_and_goes_on_with_the_answer(
    retail: Domain,
) -> None:
    async def take(heard: Heard) -> None:
        if heard.continues:
            await heard.updater.add_artifact([Part(text="Here it is.")])
            await heard.updater.complete(said(heard.updater, "I am done."))
        else:
            await heard.updater.start_work()
            await heard.updater.requires_input(said(heard.updater, "Which one?"))

    for streaming in (True, False):
        agent = Agent(take, as_task=True)
        with serving(agent, streaming=streaming) as url:
            episode = anyio.run(play_twice, retail, url, 5)
        words = [step.action.kwargs["content"] for step in episode.steps]
        assert words == ["Which one?", "Here it is."]
        assert len({heard.task_id for heard in agent.heard}) == 1


async def draft_then_finish(heard: Heard) -> None:
    updater = heard.updater
    if heard.continues:
        await updater.add_artifact([Part(text=" Then this.")], artifact_id="b", append=True)
        await updater.complete()
    else:
        await updater.start_work(said(updater, "Let me see."))
        await updater.add_artifact([Part(text="A draft.")], artifact_id="a")
        await updater.add_artifact([Part(text="First that.")], artifact_id="b")
        await updater.requires_input(said(updater, "Shall I?"))


async def ask_by_artifact(heard: Heard) -> None:
    if heard.continues:
        await heard.updater.complete(said(heard.updater, "Done."))
    else:
        await heard.updater.add_artifact([Part(text="Which one?")])
        await heard.updater.requires_input()


async def ask_then_nothing(heard: Heard) -> None:
    if heard.continues:
        await heard.updater.complete()
    else:
        await heard.updater.requires_input(said(heard.updater, "Shall I?"))


async def only_progress(heard: Heard) -> None:
    await heard.updater.start_work(said(heard.updater, "I found it."))
    await heard.updater.complete()


@pytest.mark.parametrize(
    ("take", "answers"),
    [
        (draft_then_finish, ["Shall I?", "Then this."]),
        (ask_by_artifact, ["Which one?", "Done."]),
        (ask_then_nothing, ["Shall I?"]),
        (only_progress, ["I found it.", "I found it."]),
    ],
)
def test_a_task_that_goes_on_says_only_what_is_new(
    retail: Domain, take: Any, answers: list[str]
) -> None:
    for streaming in (True, False):
        with serving(Agent(take, as_task=True), streaming=streaming) as url:
            episode = anyio.run(play_twice, retail, url, 5)
        words = [step.action.kwargs["content"].strip() for step in episode.steps]
        # An agent that says nothing new is asked again, which begins another task.
        assert words[: len(answers)] == answers, streaming


@pytest.mark.parametrize("status", [401, 403])
def test_an_agent_that_wants_a_token_ends_the_run_in_words(retail: Domain, status: int) -> None:
    async def refuse(request: Request) -> Response:
        return Response(status_code=status)

    words = f"answered {status}. Set GREENROOM_TOKEN to a token"
    with answering(CARD, refuse) as url, pytest.raises(InputError, match=words):
        played(retail, url)


def test_pieces_of_an_artifact_are_one_answer(retail: Domain) -> None:
    async def take(heard: Heard) -> None:
        updater = heard.updater
        await updater.start_work()
        for number, piece in enumerate(("One", " two", " three")):
            await updater.add_artifact(
                [Part(text=piece)], artifact_id="a", append=number > 0, last_chunk=number == 2
            )
        await updater.complete()

    with serving(Agent(take, as_task=True)) as url:
        episode = played(retail, url)
    assert [step.action.kwargs["content"] for step in episode.steps] == ["One two three"]


@pytest.mark.parametrize("state", ["FAILED", "REJECTED", "CANCELED", "AUTH_REQUIRED"])
def test_a_task_that_fails_counts_against_the_agent(retail: Domain, state: str) -> None:
    async def take(heard: Heard) -> None:
        words = said(heard.updater, "I am out of order.")
        found: Any = TaskState.Value(f"TASK_STATE_{state}")
        await heard.updater.update_status(found, words)

    with serving(Agent(take, as_task=True)) as url:
        episode = played(retail, url)
    assert episode.outcome == "crashed"
    assert episode.error is not None
    assert state.lower().replace("_", " ") in episode.error
    assert "out of order" in episode.error


def test_an_agent_that_raises_counts_as_crashed(retail: Domain) -> None:
    async def take(heard: Heard) -> None:
        raise RuntimeError("bang")

    with serving(Agent(take)) as url:
        assert played(retail, url).outcome == "crashed"


def test_an_agent_that_hangs_is_told_to_stop_and_the_episode_ends(retail: Domain) -> None:
    async def take(heard: Heard) -> None:
        await heard.updater.start_work()
        await asyncio.sleep(3600)

    agent = Agent(take, as_task=True)
    with serving(agent) as url:
        episode = played(retail, url, turn_seconds=1)
    assert episode.outcome == "max_time"
    assert len(agent.cancelled) == 1


def test_an_agent_that_ends_the_episode_by_a_tool_is_not_waited_for(retail: Domain) -> None:
    async def take(heard: Heard) -> None:
        async with Client(heard.setup["mcp_url"]) as tools:
            await tools.call_tool("transfer_to_human_agents", {"summary": "Cannot do it."})
        await asyncio.sleep(3600)

    with serving(Agent(take, as_task=True)) as url:
        episode = played(retail, url)
    assert [step.action.name for step in episode.steps] == ["transfer_to_human_agents"]


def test_an_agent_without_words_is_asked_again_and_then_given_up(retail: Domain) -> None:
    async def take(heard: Heard) -> str:
        return " "

    agent = Agent(take)
    with serving(agent) as url:
        episode = played(retail, url)
    assert episode.steps == ()
    assert len(agent.heard) == 5


CARD: dict[str, Any] = {
    "name": "Clerk",
    "description": "Sells things.",
    "version": "1",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [],
    "supportedInterfaces": [
        {"url": "HERE/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    ],
}


def leading_to(url: str, binding: str = "JSONRPC") -> dict[str, Any]:
    found = {"url": url, "protocolBinding": binding, "protocolVersion": "1.0"}
    return CARD | {"supportedInterfaces": [found]}


async def nothing(request: Request) -> Response:
    return Response(status_code=404)


@pytest.mark.parametrize(
    ("card", "words"),
    [
        ("no json", "no usable A2A agent"),
        ([], "no usable A2A agent"),
        ({}, "no usable A2A agent"),
        ("[" * 100_000, "no usable A2A agent"),
        (leading_to("http://169.254.169.254/rpc"), "leads to http://169.254.169.254/rpc"),
        (leading_to("http://elsewhere.example/rpc"), "leads to http://elsewhere.example"),
        (leading_to("file:///etc/passwd"), "leads to file:"),
        (leading_to("HERE/rpc", "GRPC"), "no compatible transports"),
        (leading_to("HERE/rpc", "CARRIER-PIGEON"), "no compatible transports"),
    ],
)
def test_a_wrong_card_is_refused_before_anything_is_played(
    retail: Domain, card: Any, words: str
) -> None:
    with answering(card, nothing) as url, pytest.raises(InputError, match=words):
        played(retail, url)


def test_a_card_of_a_secure_address_cannot_lead_to_an_open_one() -> None:
    _check_interfaces("https://shop.example", card_at("https://shop.example:8443/rpc"))
    with pytest.raises(InputError, match=r"leads to http://shop\.example/rpc"):
        _check_interfaces("https://shop.example", card_at("http://shop.example/rpc"))


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:1", "no usable A2A agent"),
        ("http://me:secret@127.0.0.1:1", "password"),
        ("ftp://127.0.0.1", "is not the address"),
    ],
)
def test_an_address_without_an_agent_is_refused_in_words(
    retail: Domain, url: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as told:
        played(retail, url)
    assert "secret" not in str(told.value)


def result(value: Any) -> JSONResponse:
    return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": value})


ANSWERS: dict[str, tuple[Response, str]] = {
    "no json": (Response("hello"), "crashed"),
    "deep": (Response("[" * 100_000), "crashed"),
    "no answer": (result({}), "crashed"),
    "wrong types": (result({"message": {"parts": 7}}), "crashed"),
    "an error": (
        JSONResponse({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "bang"}}),
        "crashed",
    ),
    "500": (Response(status_code=500), "crashed"),
    "503": (Response(status_code=503), "infrastructure_error"),
    "a redirect": (
        Response(status_code=307, headers={"location": "http://169.254.169.254/"}),
        "crashed",
    ),
    "packed": (Response(b"x", headers={"content-encoding": "gzip"}), "crashed"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_a_hostile_agent_answers_becomes_an_outcome(retail: Domain, name: str) -> None:
    answer, outcome = ANSWERS[name]

    async def give(request: Request) -> Response:
        return answer

    with answering(CARD, give) as url:
        episode = played(retail, url)
    assert episode.outcome == outcome
    assert episode.error


def test_an_answer_beyond_the_limit_is_cut_off(
    retail: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_MAX_ANSWER_MB", "1")

    async def much(request: Request) -> Response:
        async def pieces() -> AsyncGenerator[bytes]:
            for _ in range(64):
                yield b"x" * 65536

        return StreamingResponse(pieces(), media_type="application/json")

    with answering(CARD, much) as url:
        episode = played(retail, url)
    assert episode.outcome == "crashed"
    assert "larger than 1 MB" in str(episode.error)


def test_the_token_goes_to_the_agent_and_nothing_of_the_task_does(
    retail: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_TOKEN", "a-secret-token")
    seen: list[tuple[str | None, Any]] = []

    async def look(request: Request) -> Response:
        seen.append((request.headers.get("authorization"), await request.json()))
        message = {"messageId": "1", "role": "ROLE_AGENT", "parts": [{"text": "Hello."}]}
        return result({"message": message})

    with answering(CARD, look) as url:
        episode = played(retail, url)
    ((token, body),) = seen
    assert token == "Bearer a-secret-token"
    assert [step.action.kwargs["content"] for step in episode.steps] == ["Hello."]
    for action in retail.task(5).actions:
        if action.kwargs:
            assert json.dumps(dict(action.kwargs)) not in json.dumps(body)
    assert "reward" not in json.dumps(body)
