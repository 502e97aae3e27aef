"""Answers are read within a limit, however well they are packed, and cleaned where they enter."""

from __future__ import annotations

import ast
import gzip
import json
import re
import subprocess
import sys
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web

import greenroom
from greenroom.errors import InputError
from greenroom.models import Ledger, ModelSettings, ModelUnavailable, endpoint_of
from greenroom.models.answers import read_answer
from greenroom.util.bodies import AnswerTooLarge, answer_limit, body_of
from greenroom.util.json_values import decoded
from tests.models.asking import QUESTION, client_for, settings_for
from tests.models.stub_server import StubServer, answer_body

pytestmark = pytest.mark.anyio

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncGenerator[str]:
    runner = web.ServerRunner(web.Server(handler))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    await runner.cleanup()


def bomb(megabytes: int) -> bytes:
    """A gzip body that unpacks to that much."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    packed = b"".join(packer.compress(bytes(2**20)) for _ in range(megabytes))
    return packed + packer.flush()


def packed_reply(content: bytes, encoding: str) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        return web.Response(
            body=content,
            headers={"Content-Encoding": encoding, "Content-Type": "application/json"},
        )

    return handle


async def fetched(url: str, limit: int | None = None) -> bytes:
    async with ClientSession(auto_decompress=False) as session, session.get(url) as response:
        return await body_of(response, limit)


@pytest.mark.parametrize(
    ("pack", "encoding"),
    [(gzip.compress, "gzip"), (zlib.compress, "deflate"), (bytes, "identity")],
)
async def test_packed_answers_are_read(pack: Callable[[bytes], bytes], encoding: str) -> None:
    content = json.dumps({"text": "hello " * 100_000}).encode()
    async with serving(packed_reply(pack(content), encoding)) as url:
        assert await fetched(url) == content
        with pytest.raises(AnswerTooLarge, match=r"larger than 0\.25 MB"):
            await fetched(url, 2**18)


async def test_the_limit_counts_what_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENROOM_MAX_ANSWER_MB", "2")
    async with serving(packed_reply(bomb(64), "gzip")) as url:
        with pytest.raises(AnswerTooLarge, match=r"larger than 2 MB \(GREENROOM_MAX_ANSWER_MB"):
            await fetched(url)


@pytest.mark.parametrize("given", ["x", "0", "-1", "nan", "inf"])
def test_a_limit_that_is_no_size_is_told(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENROOM_MAX_ANSWER_MB", given)
    with pytest.raises(InputError, match="GREENROOM_MAX_ANSWER_MB"):
        answer_limit()


async def test_a_model_that_answers_too_much_is_told_at_once(stub: StubServer) -> None:
    asked = 0
    packed = bomb(64)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        return await packed_reply(packed, "gzip")(request)

    async with (
        serving(handle) as url,
        client_for(stub, settings_for(stub, api_base=url)) as client,
    ):
        with pytest.raises(ModelUnavailable, match="larger than 16 MB"):
            await client.for_episode("agent", Ledger()).complete(QUESTION)
    assert asked == 1


MEASURED = Path(__file__).with_name("large_answers.py")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bomb", "plain"])
@pytest.mark.parametrize("caller", ["model", "workflow", "call", "stream", "frames", "webhook"])
def test_memory_stays_bounded(kind: str, caller: str) -> None:
    """A gzip bomb of 2 GB, and an answer of 200 MB: under 400 MB resident."""
    done = subprocess.run(
        [sys.executable, str(MEASURED), kind, caller], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said, resident = done.stdout.rsplit("\n", 2)[:2]
    assert "larger than 16 MB" in said or "longer than 1 MiB" in said
    assert int(resident) < 400


@pytest.mark.slow
def test_every_reader_of_answers_has_the_limit() -> None:
    """Sessions leave unpacking to `body_of` and `pieces_of`, and nothing else reads a body."""
    for path in Path(greenroom.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called == "ClientSession":
                    assert "auto_decompress=False" in ast.unparse(node), path
                if path.name != "bodies.py":
                    assert not re.match(r"response\.(read|json|text|content)\b", called), path
                if called in ("httpx.AsyncClient", "httpx.Client") and path.name != "offers.py":
                    # The transport of A2A counts what it reads, and takes nothing packed. Agents of
                    # frameworks ask the gateway of their own run.
                    assert path.name == "a2a_client.py", path
                    assert "transport=transport" in ast.unparse(node)
                assert called not in ("urlopen", "httpx.get"), path


def test_half_characters_and_nan_are_cleaned_and_the_tokens_counted() -> None:
    endpoint = endpoint_of(ModelSettings(model="m", api_base="http://localhost/v1"))
    body: Any = answer_body("Hello \ud83d")
    body["usage"] = {"prompt_tokens": 7, "completion_tokens": 3, "speed": float("nan")}
    answer = read_answer(json.dumps(body).encode(), endpoint)
    assert answer.text == "Hello ?"
    assert (answer.prompt_tokens, answer.completion_tokens) == (7, 3)


@pytest.mark.parametrize("depth", [201, 900, 5_000, 200_000])
def test_deep_json_is_told_in_words(depth: int) -> None:
    for content in (b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth):
        with pytest.raises(ValueError, match="nested more than 200 levels"):
            decoded(content)
    assert decoded(b"[" * 200 + b"]" * 200)
