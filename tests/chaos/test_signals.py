"""A job is stopped by a signal in the middle, and goes on."""

from __future__ import annotations

import signal

import pytest

from tests.chaos.jobs import Scene

pytestmark = pytest.mark.slow


def test_undisturbed(scene: Scene) -> None:
    assert scene.run().end() == 0
    scene.assert_nothing_is_lost_or_twice_or_unpaid()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_in_the_middle(scene: Scene, number: signal.Signals) -> None:
    process = scene.run()
    scene.wait_for_results(4, process)
    process.signal(number)
    assert process.end() == 128 + number, process.stderr
    assert "Go on with: greenroom resume disturbed" in process.stderr
    before, since = scene.finished(), len(scene.provider.seen)
    assert 4 <= len(before) < scene.planned
    assert scene.resume().end() == 0
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since, cancelled=scene.at_once)
