"""Connections that are neither alive nor dead: waits are bounded, and every attempt is counted."""

from __future__ import annotations

import itertools

import pytest

from tests.chaos.jobs import Scene
from tests.chaos.provider import Behaviour, Connection, answers

pytestmark = pytest.mark.slow


def never_answers(connection: Connection, answer: bytes) -> str:
    connection.stall()
    return "broken"


def stalls_halfway(connection: Connection, answer: bytes) -> str:
    connection.send(200, answer[: len(answer) // 2], length=len(answer))
    connection.stall()
    return "broken"


def ends_halfway(connection: Connection, answer: bytes) -> str:
    connection.send(200, answer[: len(answer) // 2], length=len(answer))
    return "broken"


def sends_more_than_it_says(connection: Connection, answer: bytes) -> str:
    connection.send(200, answer + answer, length=len(answer) // 2)
    return "broken"


def resets_at_once(connection: Connection, answer: bytes) -> str:
    connection.reset()
    return "broken"


def resets_in_the_middle_of_a_stream(connection: Connection, answer: bytes) -> str:
    piece = answer[: len(answer) // 2]
    head = b"HTTP/1.1 200 x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    connection.socket.sendall(head + b"%x\r\n%b\r\n" % (len(piece), piece))
    connection.reset()
    return "broken"


@pytest.mark.parametrize(
    "broken",
    [
        never_answers,
        stalls_halfway,
        ends_halfway,
        sends_more_than_it_says,
        resets_at_once,
        resets_in_the_middle_of_a_stream,
    ],
)
def test_every_fifth_call_breaks(scene: Scene, broken: Behaviour) -> None:
    numbers = itertools.count(1)

    def sometimes(connection: Connection, answer: bytes) -> str:
        return (broken if next(numbers) % 5 == 0 else answers)(connection, answer)

    scene.provider.behaviour = sometimes
    process = scene.run("--model-timeout", 2, "--model-retries", 6)
    assert process.end() == 0, process.stderr
    assert scene.provider.fates()["broken"] >= 8
    scene.assert_nothing_is_lost_or_twice_or_unpaid()
    assert scene.used().lost_calls == scene.provider.fates()["broken"]


def test_a_provider_that_hangs_for_good(scene: Scene) -> None:
    """The run ends in bounded time, says what broke, and goes on when the provider is back."""
    process = scene.run("--model-timeout", 1, "--model-retries", 1, "--max-retries", 0)
    scene.wait_for_results(4, process)
    scene.provider.behaviour = never_answers
    assert process.end() == 0, process.stderr
    assert "it did not answer within 1 seconds" in process.stdout
    scene.provider.behaviour = answers
    before, since = scene.assert_it_goes_on()
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since)
