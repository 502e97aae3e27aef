"""Plain functions as agents: whatever form they have, what they say is said."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import anyio
import pytest

from greenroom import from_callable
from greenroom.domains.domain import Domain
from greenroom.workflows import Call, LocalTarget
from tests.agents.test_frameworks import played, steps

Said = list[tuple[str, Any]]


def said(*texts: str) -> Said:
    return [("respond", {"content": text}) for text in texts]


def client_reply(content: str) -> Any:
    from openai.types.chat import ChatCompletionMessage

    return ChatCompletionMessage(role="assistant", content=content)


async def returns_text(messages: list[Any]) -> str:
    return f"{len(messages)}"


async def returns_message(messages: list[Any]) -> Any:
    return {"role": "assistant", "content": f"{len(messages)}"}


async def returns_messages(messages: list[Any]) -> Any:
    return [{"role": "assistant", "content": f"{len(messages)}"}]


async def returns_a_clients_object(messages: list[Any]) -> Any:
    return client_reply(f"{len(messages)}")


async def notes_a_clients_object(messages: list[Any]) -> Any:
    messages.append(client_reply(f"{len(messages)}"))
    return messages[-1].content


async def notes_and_returns_it(messages: list[Any]) -> Any:
    messages.append(client_reply(f"{len(messages)}"))
    return messages[-1]


def blocks(messages: list[Any]) -> str:
    return f"{len(messages)}"


def yields_blocking(messages: list[Any]) -> Generator[str]:
    yield f"{len(messages)}"
    yield ""


async def yields(messages: list[Any]) -> AsyncGenerator[str]:
    yield f"{len(messages)}"
    yield ""


def wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """A plain function that gives what another one gives."""

    def wrapper(messages: list[Any]) -> Any:
        return function(messages)

    return wrapper


FORMS: list[Callable[..., Any]] = [
    returns_text,
    returns_message,
    returns_messages,
    returns_a_clients_object,
    notes_a_clients_object,
    notes_and_returns_it,
    blocks,
    yields_blocking,
    yields,
    wrapping(returns_text),
    wrapping(yields),
    wrapping(yields_blocking),
]


@pytest.mark.parametrize("function", FORMS)
def test_what_it_gives_is_said_and_remembered(retail: Domain, function: Callable[..., Any]) -> None:
    agent = from_callable(function)
    episode = played(retail, agent, None, "Again.", "And again.")
    assert episode.error is None
    # The policy and the user's message; with each turn, what was said and the answer to it.
    assert steps(episode) == said("2", "4", "6")

    call = Call(inputs={"messages": [{"role": "user", "content": "Hello."}]})
    answer = anyio.run(LocalTarget(agent).call, call)
    assert answer.outputs == {"role": "assistant", "content": "1"}


async def returns_an_object(messages: list[Any]) -> Any:
    return {"answer": 42}


async def returns_a_number(messages: list[Any]) -> Any:
    return 42


@pytest.mark.parametrize("function", [returns_an_object, returns_a_number])
def test_what_nobody_can_read_is_told_and_is_not_giving_up(retail: Domain, function: Any) -> None:
    episode = played(retail, from_callable(function), None)
    assert (episode.outcome, episode.steps) == ("crashed", ())
    assert "gave neither text nor a message" in (episode.error or "")
    assert "return or yield what the user reads" in (episode.error or "")


def test_the_users_last_message_is_known_whatever_a_function_does_to_the_history(
    retail: Domain,
) -> None:
    async def forgetful(messages: list[Any], message: str) -> str:
        messages.clear()
        return f"You said {message}"

    episode = played(retail, from_callable(forgetful), None, "Again.")
    assert steps(episode) == said("You said Hello.", "You said Again.")


@pytest.mark.parametrize("blocking", [True, False])
def test_a_generator_that_is_left_is_closed_at_once(blocking: bool) -> None:
    closed: list[bool] = []

    def endless(message: str) -> Generator[str]:
        try:
            while True:
                yield "More. "
        finally:
            closed.append(True)

    async def endless_too(message: str) -> AsyncGenerator[str]:
        try:
            while True:
                yield "More. "
        finally:
            await anyio.lowlevel.checkpoint()
            closed.append(True)

    agent = from_callable(endless if blocking else endless_too)

    async def listen_to_a_word() -> None:
        pieces = agent.handler([{"role": "user", "content": "Hello."}])
        assert await anext(pieces) == "More. "
        await pieces.aclose()
        assert closed == [True]

    anyio.run(listen_to_a_word)
