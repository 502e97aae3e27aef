from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import aiohttp
import anyio
import openai
import orjson
import pytest

from greenroom.errors import InputError
from greenroom.model_server import (
    FAULT_HEADER,
    FAULTS,
    RunningServer,
    ServerSettings,
    TimeRange,
    parse_faults,
    parse_time_range,
    running_server,
)
from greenroom.model_server.faults import RequestSampler
from tests.domains.small import small_domain
from tests.model_server.playing import ACT
from tests.model_server.wire import OPENING, Answer, ask, request, said, send


@contextmanager
def faulty(*kinds: str, **settings: Any) -> Generator[RunningServer]:
    """A server on which everything goes wrong."""
    chosen = ServerSettings(fault_rate=1, faults=kinds, **settings)
    with running_server(small_domain(), settings=chosen) as server:
        yield server


@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind not in ("timeout", "drop")])
@pytest.mark.parametrize("stream", [False, True])
def test_a_fault_is_named_and_counted(kind: str, stream: bool) -> None:
    with faulty(kind) as server:
        answer = ask(server, stream=stream)
        assert answer.headers[FAULT_HEADER] == kind
        assert answer.status == (int(kind) if kind.isdecimal() else 200)
        assert server.stats.to_json()["faults"] == {kind: 1}
        assert server.stats.roles == {"agent": 1}


@pytest.mark.slow
def test_errors_with_a_status() -> None:
    with faulty("429", retry_after=TimeRange(0.05, 0.05)) as server:
        limited = ask(server)
        assert limited.headers["retry-after"] == "0.05"
        assert limited.json["error"]["code"] == "rate_limit_exceeded"
        with openai.OpenAI(base_url=server.api_base, api_key="any", max_retries=1) as client:
            create: Any = client.chat.completions.create
            with pytest.raises(openai.RateLimitError):
                create(**request(seed=3))
        assert server.stats.faults["429"] == 3
    with faulty("429", retry_after=TimeRange(0.1, 0.9)) as server:
        waits = [float(ask(server).headers["retry-after"]) for _ in range(5)]
        assert all(0.1 <= wait <= 0.9 for wait in waits)
        assert len(set(waits)) > 1
    with faulty("500") as server:
        assert ask(server).json["error"]["type"] == "server_error"


def test_broken_json() -> None:
    for kind in ("truncated", "malformed"):
        with faulty(kind) as server:
            answer = ask(server)
            with pytest.raises(orjson.JSONDecodeError):
                _ = answer.json
            assert answer.body.startswith(b'{"id":')
            streamed = ask(server, stream=True)
            ends = streamed.body.endswith(b"data: [DONE]\n\n")
            assert ends is (kind == "malformed")
            with pytest.raises((AssertionError, orjson.JSONDecodeError)):
                _ = streamed.events


def test_empty_answers() -> None:
    with faulty("empty") as server:
        empty = ask(server)
        assert empty.message == {"role": "assistant", "content": ""}
        assert empty.json["usage"]["completion_tokens"] == 0
        deltas = [event["choices"][0]["delta"] for event in ask(server, stream=True).events]
        assert deltas == [{"role": "assistant", "content": ""}, {}]
    with faulty("no-choices") as server:
        assert ask(server).json["choices"] == []
        assert [event["choices"] for event in ask(server, stream=True).events] == [[]]


def test_spoiled_actions() -> None:
    text = [{"role": "system", "content": ACT}, OPENING[1]]
    with faulty("wrong-tool") as server:
        assert _called(ask(server))["name"] == "light_now"
        assert '{"name": "light_now", "arguments": {"lamp":"hall"}}' in said(server, text)
    with faulty("bad-arguments") as server:
        assert _called(ask(server))["arguments"] == '{"lamp":"hall"'
        assert said(server, text).endswith('{"name": "light", "arguments": {"lamp":"hall"}')


def test_what_is_no_action_cannot_be_spoiled() -> None:
    user = [{"role": "system", "content": f"You are a user. {OPENING[1]['content']}"}]
    with faulty("wrong-tool", "bad-arguments") as server:
        assert said(server, user) == OPENING[1]["content"]
        assert server.stats.faults == {}
    with faulty("wrong-tool", "empty") as server:
        assert said(server, user) == ""
        assert server.stats.faults == {"empty": 1}


def test_connections_that_end_without_an_answer() -> None:
    with faulty("drop") as server, pytest.raises(aiohttp.ClientError):
        ask(server)
    with faulty("timeout", hang=0.01) as server, pytest.raises(aiohttp.ClientError):
        ask(server)


def test_a_hanging_request_does_not_keep_the_server_from_ending() -> None:
    with faulty("timeout", hang=1000) as server:

        async def give_up() -> None:
            async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(0.2)) as session:
                with pytest.raises(TimeoutError):
                    await session.post(f"{server.api_base}/chat/completions", json=request())

        anyio.run(give_up)
        assert server.stats.faults == {"timeout": 1}
        assert send(server, "/health").status == 200


def test_latency_changes_nothing_but_the_time() -> None:
    settings = ServerSettings(latency=parse_time_range("1ms-3ms"))
    with running_server(small_domain(), settings=settings) as server:
        assert _called(ask(server))["name"] == "light"
        assert server.stats.faults == {}


def test_draws_depend_on_seed_request_and_repetition() -> None:
    one, two, other = RequestSampler(1), RequestSampler(1), RequestSampler(2)
    bodies = [b"%d" % number for number in range(2000)]
    first = [one.draw(body) for body in bodies]
    assert first == list(reversed([two.draw(body) for body in reversed(bodies)]))
    assert first != [other.draw(body) for body in bodies]
    assert first[0] != one.draw(bodies[0])
    for name in ("happens", "kind", "delay", "wait"):
        shares = [getattr(draw, name) for draw in first]
        assert 0 <= min(shares) < 0.01
        assert 0.99 < max(shares) < 1
        assert sum(shares) / len(shares) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("text", ["", "fast", "5h", "-3ms", "200ms-20ms", "1-2-3", "1..2", "٣s"])
def test_times_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="A time is"):
        parse_time_range(text)


def test_times_and_faults_are_read() -> None:
    assert parse_time_range("0") == TimeRange(0, 0)
    assert parse_time_range(" 1.5s ") == TimeRange(1.5, 1.5)
    assert parse_time_range("50ms-1s") == TimeRange(0.05, 1)
    assert TimeRange(1, 3).at(0.5) == 2
    assert parse_faults("429, 500") == ("429", "500")
    with pytest.raises(InputError, match="Unknown fault '501'"):
        parse_faults("501")
    with pytest.raises(InputError, match="at least one"):
        parse_faults("")
    with pytest.raises(InputError, match="from 0 to 1"):
        ServerSettings(fault_rate=1.5)
    with pytest.raises(InputError, match="0 seconds or more"):
        ServerSettings(hang=-1)


def _called(answer: Answer) -> dict[str, str]:
    (call,) = answer.message["tool_calls"]
    return call["function"]
