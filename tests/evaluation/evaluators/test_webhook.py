from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from aiohttp import web

from greenroom.errors import InputError
from greenroom.evaluation import Case, Evaluator, Score, make_evaluator
from greenroom.evaluation.evaluators import EvaluatorSpec
from greenroom.evaluation.evaluators.webhooks import WebhookScorer, WebhookSettings
from tests.evaluation.evaluators.scoring import said
from tests.models.asking import Naps

Reply = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Server:
    """A scoring server that gives its replies in order, the last for ever."""

    replies: list[Reply]
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    url: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.json())
        self.headers.append(dict(request.headers))
        return await self.replies[min(len(self.asked), len(self.replies)) - 1](request)


@asynccontextmanager
async def running(server: Server) -> AsyncGenerator[Server]:
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/score", server.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/score"
        yield server
    finally:
        await runner.cleanup()


def answer(body: Any, status: int = 200, **headers: str) -> Reply:
    async def reply(_: web.Request) -> web.StreamResponse:
        if isinstance(body, bytes):
            return web.Response(body=body, status=status, headers=headers)
        return web.json_response(body, status=status, headers=headers)

    return reply


async def hang(_: web.Request) -> web.StreamResponse:
    await anyio.sleep(30)
    return web.Response()


def asked(
    *replies: Reply, settings: dict[str, Any] | None = None, **case: Any
) -> tuple[Score, Server, Naps]:
    """What the evaluator makes of a server's replies; waiting is only noted."""
    naps = Naps()

    async def run() -> tuple[Score, Server, Naps]:
        async with running(Server(list(replies))) as server:
            chosen = WebhookSettings.model_validate({"url": server.url, **(settings or {})})
            scorer = WebhookScorer(chosen, naps.policy())
            made = Evaluator(EvaluatorSpec("webhook", "webhook"), scorer)
            try:
                given: dict[str, Any] = {
                    "outputs": said("Paris"),
                    "is_chat": True,
                    "expected": "Paris",
                } | case
                return await made.evaluate(Case(**given)), server, naps
            finally:
                await made.close()

    return anyio.run(run)


@pytest.mark.parametrize(
    ("body", "value", "passed", "reason"),
    [
        ({"score": 0.75, "reason": "close"}, 0.75, True, "close"),
        ({"score": 0.25}, 0.25, False, ""),
        ({"score": 0.25, "passed": True}, 0.25, True, ""),
        ({"passed": False}, 0.0, False, ""),
        ({"score": None, "reason": "cannot say"}, None, None, "cannot say"),
        (True, 1.0, True, ""),
        (0.5, 0.5, True, ""),
        (None, None, None, ""),
    ],
)
def test_scores(body: Any, value: float | None, passed: bool | None, reason: str) -> None:
    found, _, _ = asked(answer(body))
    assert (found.score, found.passed, found.reason) == (value, passed, reason)
    assert found.broken is False


def test_the_case_goes_out_with_what_is_compared() -> None:
    outputs = [said("Hm."), said("Pa\ud800ris")]
    found, server, _ = asked(
        answer({"score": 1, "compared": "mine"}),
        outputs=outputs,
        inputs={"country": "France"},
        parameters={"tone": "kind"},
        seconds=0.5,
    )
    (body,) = server.asked
    assert body == {
        "inputs": {"country": "France"},
        "outputs": outputs,
        "expected": "Paris",
        "is_chat": True,
        "tool_calls": [],
        "conversation": None,
        "parameters": {"tone": "kind"},
        "seconds": 0.5,
        "cost": None,
        "compared": "Pa\ud800ris",
        "against": "Paris",
    }
    assert (found.compared, found.against) == ("mine", "Paris")


def test_what_may_pass_is_tried_again() -> None:
    found, server, naps = asked(
        answer(b"busy", 503, **{"Retry-After": "7"}), answer(b"", 500), answer({"score": 1})
    )
    assert (found.score, len(server.asked)) == (1.0, 3)
    assert naps.taken == [7.0, 0.0]


def test_what_does_not_pass_leaves_no_score() -> None:
    found, server, _ = asked(answer(b"out of  order", 502), settings={"retries": 1})
    assert (found.score, found.passed, found.broken) == (None, None, True)
    assert "it answered 502: out of order" in found.reason
    assert len(server.asked) == 2
    assert found.compared == "Paris"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (answer(b"who are you?", 401), "it answered 401: who are you?"),
        (answer(b"", 302, Location="/else"), "it answered 302"),
        (answer(b"{"), "its answer is not JSON"),
        (answer({"points": 3}), "it returned an object without 'score'"),
        (answer({"score": 3}), "it returned 3: a score is a number from 0 to 1"),
        (answer({"score": "high"}), "it returned 'high', which is no score"),
        (answer({"score": [1]}), r"it returned [1], which is no score"),
        (answer({"score": 1, "passed": "yes"}), "it returned 'yes' for 'passed'"),
        (answer(b"1" * (2**20 + 1)), "longer than 1 MiB"),
    ],
)
def test_what_another_try_would_not_mend_is_not_tried_again(reply: Reply, words: str) -> None:
    found, server, _ = asked(reply)
    assert (found.score, found.broken, len(server.asked)) == (None, True, 1)
    assert words in found.reason


@pytest.mark.slow
def test_a_server_that_does_not_answer() -> None:
    found, server, _ = asked(hang, settings={"timeout": 0.2, "retries": 1})
    assert (found.score, found.broken, len(server.asked)) == (None, True, 2)
    assert "did not answer within 0.2 seconds" in found.reason


def test_a_server_that_is_not_there() -> None:
    async def run() -> Score:
        async with running(Server([])) as server:
            url = server.url
        made = make_evaluator(f"webhook:url={url},retries=0")
        try:
            return await made.evaluate(Case(outputs="x"))
        finally:
            await made.close()

    found = anyio.run(run)
    assert (found.score, found.broken) == (None, True)
    assert "the connection failed" in found.reason


def test_the_token_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCORER_TOKEN", "hush-hush")
    found, server, _ = asked(
        answer(b"bad token hush-hush", 403), settings={"token_variable": "SCORER_TOKEN"}
    )
    assert server.headers[0]["Authorization"] == "Bearer hush-hush"
    assert "hush-hush" not in found.reason


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("", "setting url: Field required"),
        (":url=ftp://x", "this is no address"),
        (":url=nowhere", "is no address"),
        (":url=http://me:hush-hush@x/", "must not hold a name, a password or a key"),
        (":url=http://x,timeout=0", "setting timeout"),
        (":url=http://x,retries=-1", "setting retries"),
        (":url=http://x,token_variable=NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE: set it"),
    ],
)
def test_settings_that_will_not_do(settings: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        make_evaluator(f"webhook{settings}")
    assert "hush-hush" not in str(raised.value)
