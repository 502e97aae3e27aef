"""The provider is away in the middle of a run: shorter or longer than its calls are repeated."""

from __future__ import annotations

import time

import pytest

from tests.chaos.jobs import Scene
from tests.chaos.provider import answers, unavailable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def test_an_outage_that_outlasts_all_attempts(scene: Scene) -> None:
    """Episodes that broke are played again by resume; those that succeeded are not."""
    process = scene.run("--model-retries", 1, "--max-retries", 1)
    scene.wait_for_results(4, process)
    scene.provider.behaviour = unavailable
    assert process.end() == 0, process.stderr
    assert "Some episodes broke without a result" in process.stdout
    scene.provider.behaviour = answers
    before, since = scene.assert_it_goes_on()
    assert len(before) >= 4
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since)


def test_refused_connections_that_outlast_all_attempts(scene: Scene) -> None:
    """A call that never left is not paid for: nothing is counted as lost."""
    process = scene.run("--model-retries", 1, "--max-retries", 0)
    scene.wait_for_results(4, process)
    scene.provider.refuse_connections()
    assert process.end() == 0, process.stderr
    scene.provider.start()
    before, since = scene.assert_it_goes_on()
    # Open connections are closed at the moment of the outage, maybe with a question under way.
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since, cancelled=scene.at_once)


def test_an_outage_of_a_minute_that_is_waited_out(scene: Scene) -> None:
    """First it answers that it is down, then nothing listens."""
    process = scene.run("--model-retries", 40)
    scene.wait_for_results(4, process)
    start = time.monotonic()
    scene.provider.behaviour = unavailable
    while time.monotonic() - start < 30:
        assert process.alive, process.stderr
        time.sleep(0.1)
    scene.provider.refuse_connections()
    while time.monotonic() - start < 60:
        assert process.alive, process.stderr
        time.sleep(0.1)
    scene.provider.behaviour = answers
    scene.provider.start()
    assert process.end(100) == 0, process.stderr
    scene.assert_nothing_is_lost_or_twice_or_unpaid(cancelled=scene.at_once)
    assert scene.look(lambda jobs, job: jobs.attempts(job.id)) == [], "no episode broke"
