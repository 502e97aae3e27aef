"""The wall clock jumps by an hour in the middle of a run, forward and back."""

from __future__ import annotations

import threading
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.jobs import Scene
from tests.chaos.jumping import Clock
from tests.chaos.provider import Connection, answers
from tests.chaos.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

HOUR = 3600.0


@pytest.fixture
def clock(scene: Scene, tmp_path: Path) -> Clock:
    folder = tmp_path / "clock"
    folder.mkdir()
    clock = Clock(folder)
    scene.env |= clock.environment
    return clock


def test_the_shim_moves_the_clock(scene: Scene, clock: Clock) -> None:
    clock.jump(HOUR)
    process = scene.run()
    assert process.end() == 0, process.stderr
    began = scene.look(lambda jobs, job: job.created_at.timestamp())
    assert HOUR - 60 < began - time.time() < HOUR + 60


@pytest.mark.parametrize("ahead", [HOUR, -HOUR])
def test_a_jump_in_the_middle_of_a_run(scene: Scene, clock: Clock, ahead: float) -> None:
    """Some calls break after it, so that attempts last from before to after the jump."""
    jumped, held = threading.Event(), threading.Semaphore(scene.at_once)

    def holds(connection: Connection, answer: bytes) -> str:
        jumped.wait(60)
        if not held.acquire(blocking=False):
            return answers(connection, answer)
        connection.send(500, b"{}")
        return "refused"

    process = scene.run("--model-retries", 0)
    scene.wait_for_results(3, process)
    scene.provider.behaviour = holds
    wait_for(lambda: scene.provider.under_way == scene.at_once, "calls under way")
    clock.jump(ahead)
    thief = scene.resume()
    assert thief.end() == 2, "the lease is held"
    assert "Another process works on the run 'disturbed'" in thief.stderr
    jumped.set()
    assert process.end() == 0, process.stderr
    scene.assert_nothing_is_lost_or_twice_or_unpaid()
    attempts: list[Any] = scene.look(lambda jobs, job: jobs.attempts(job.id))
    results: list[Any] = scene.look(lambda jobs, job: list(jobs.results(job.id)))
    assert len(attempts) >= scene.at_once
    spans = [one.seconds for one in (*attempts, *results)]
    spans += [s for one in results for s in (*one.turn_seconds, *one.model_seconds["agent"])]
    assert all(0 <= span < 60 for span in spans), spans


def test_a_killed_run_goes_on_after_a_jump_back(scene: Scene, clock: Clock) -> None:
    """Its lease lasts for an hour by the clock: that its process has ended is what counts."""
    clock.jump(HOUR)
    process = scene.run()
    scene.wait_for_results(3, process)
    process.popen.kill()
    process.end()
    clock.jump(0)
    before, since = scene.assert_it_goes_on()
    # What a killed process had paid for and not stored is known to nobody.
    untold = scene.provider.fates()["answered"] - scene.used().prompt_tokens // 100
    assert 0 <= untold <= 3 * scene.at_once
    scene.assert_nothing_is_lost_or_twice_or_unpaid(
        before, since=since, cancelled=scene.at_once, untold=untold
    )


@pytest.mark.parametrize("ahead", [HOUR, -HOUR])
def test_a_provider_asks_to_wait_until_a_time(scene: Scene, clock: Clock, ahead: float) -> None:
    """The time is that of the provider's clock, and not of ours, which is an hour off."""
    clock.jump(ahead)
    asked: list[float] = []

    def busy(connection: Connection, answer: bytes) -> str:
        asked.append(time.monotonic())
        if len(asked) == 1:
            now = time.time()
            until = formatdate(now + 3, usegmt=True)
            connection.send(429, b"{}", Retry_After=until, Date=formatdate(now, usegmt=True))
            return "refused"
        return answers(connection, answer)

    scene.provider.behaviour, scene.tasks, scene.trials, scene.at_once = busy, 1, 1, 1
    assert scene.run().end() == 0
    assert 2.9 < asked[1] - asked[0] < 30
    scene.assert_nothing_is_lost_or_twice_or_unpaid()
