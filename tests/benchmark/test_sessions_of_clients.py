"""Other people's clients talk to `greenroom serve --agent`: one world each, and it is kept."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from openai import APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient, OpenAI

from tests.workflows.agenta_env import ENVIRONMENT, agenta_python
from tests.workflows.node_chat import chat

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

AGENT = """
import asyncio
from uuid import uuid4

from greenroom.agents import AgentContext, Stage
from greenroom.domains import Action, respond


class Counter:
    "Counts its turns, and looks something up in each."

    def __init__(self, context: AgentContext) -> None:
        self._world = uuid4().hex

    async def play(self, stage: Stage) -> None:
        turn, heard = 0, ""
        while not stage.over:
            turn += 1
            if heard == "slowly":
                await asyncio.sleep(2)
            await stage.step(Action("list_all_product_types", {}))
            heard = await stage.step(respond(f"{turn} of {self._world}"))
"""
TEXTS = ("one", "two", "three", "four", "five")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    agent = tmp_path_factory.mktemp("agent") / "counter.py"
    agent.write_text(AGENT)
    start = "from greenroom.cli import main; main()"
    command = [sys.executable, "-c", start, "serve", "--agent", str(agent), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["address"]
        finally:
            process.terminate()


def check(answers: list[str]) -> None:
    """Five turns of one world."""
    turns = [answer.split(" of ") for answer in answers]
    assert [turn for turn, _ in turns] == ["1", "2", "3", "4", "5"]
    assert len({world for _, world in turns}) == 1


async def talk(client: AsyncOpenAI, *texts: str, stream: bool = False) -> list[str]:
    messages: list[Any] = []
    for text in texts or TEXTS:
        messages.append({"role": "user", "content": text})
        if stream:
            pieces = await client.chat.completions.create(
                model="counter", messages=messages, stream=True
            )
            words = [piece.choices[0].delta.content or "" async for piece in pieces]
            answer = "".join(words)
        else:
            whole = await client.chat.completions.create(model="counter", messages=messages)
            answer = whole.choices[0].message.content or ""
        messages.append({"role": "assistant", "content": answer})
    return [message["content"] for message in messages[1::2]]


@pytest.mark.parametrize("stream", [False, True])
def test_openais_client_repeats_a_request_that_took_too_long(address: str, stream: bool) -> None:
    sent: list[str] = []

    async def note(request: Any) -> None:
        sent.append(request.headers["x-stainless-retry-count"])

    async def main() -> list[str]:
        async with AsyncOpenAI(
            base_url=f"{address}/v1",
            api_key="any",
            max_retries=8,
            http_client=DefaultAsyncHttpxClient(
                timeout=0.7,
                event_hooks={"request": [note]},
            ),
        ) as client:
            return await talk(client, "one", "slowly", "three", "four", "five", stream=stream)

    check(asyncio.run(main()))
    assert max(sent) > "0"


@pytest.mark.parametrize("stream", [False, True])
def test_openais_client_without_an_id(address: str, stream: bool) -> None:
    async def main() -> list[str]:
        async with AsyncOpenAI(base_url=f"{address}/v1", api_key="any") as client:
            return await talk(client, stream=stream)

    check(asyncio.run(main()))


def test_responses_are_continued_in_their_world(address: str) -> None:
    answers: list[str] = []
    previous: str | None = None
    with OpenAI(base_url=f"{address}/v1", api_key="any") as client:
        for text in TEXTS:
            answer = client.responses.create(
                model="counter", input=text, previous_response_id=previous
            )
            answers.append(answer.output_text)
            previous = answer.id
    check(answers)


def test_400_sessions_at_once(address: str) -> None:
    async def main() -> list[list[str]]:
        async with AsyncOpenAI(base_url=f"{address}/v1", api_key="any", max_retries=10) as client:
            return await asyncio.gather(*(talk(client) for _ in range(400)))

    answers = asyncio.run(main())
    for one in answers:
        check(one)
    assert len({one[0] for one in answers}) == 400


def test_a_conversation_that_is_not_known_is_gone(address: str) -> None:
    said: list[Any] = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "1 of another world"},
        {"role": "user", "content": "two"},
    ]
    with (
        OpenAI(base_url=f"{address}/v1", api_key="any") as client,
        pytest.raises(APIStatusError, match="not known here") as gone,
    ):
        client.chat.completions.create(model="counter", messages=said)
    assert gone.value.status_code == 410


@pytest.mark.parametrize("stream", [False, True])
def test_two_who_begin_with_the_same_words_at_once(address: str, stream: bool) -> None:
    async def main() -> list[list[str]]:
        async with AsyncOpenAI(base_url=f"{address}/v1", api_key="any") as client:
            return await asyncio.gather(*(talk(client, stream=stream) for _ in range(2)))

    answers = asyncio.run(main())
    for one in answers:
        check(one)
    assert answers[0] != answers[1]


@pytest.mark.network
@pytest.mark.xdist_group("node")
def test_use_chat(address: str) -> None:
    found = chat(address, *TEXTS, id="a chat of mine")
    assert found["errors"] == []
    assert len(found["requests"]) == len(TEXTS)
    own = [message for message in found["messages"] if message["role"] == "assistant"]
    check([part["text"] for one in own for part in one["parts"] if part["type"] == "text"])
    steps = [[part["type"] for part in one["parts"]] for one in own]
    assert steps == [["step-start", "tool-list_all_product_types", "step-start", "text"]] * 5


@pytest.mark.xdist_group("agenta")
def test_agentas_client(address: str) -> None:
    script = Path(__file__).parents[1] / "workflows/agenta_talk.py"
    ended = subprocess.run(
        agenta_python(str(script), address, *TEXTS),
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    check(json.loads(ended.stdout.splitlines()[-1]))
