"""A job is stopped in the middle by a signal, and goes on."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import termios

import pytest

from tests.chaos.jobs import GUIDE, Scene

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_in_the_middle_of_a_run(scene: Scene, number: signal.Signals) -> None:
    process = scene.run()
    scene.wait_for_results(4, process)
    process.signal(number)
    assert process.end() == 128 + number, process.stderr
    assert "Go on with: greenroom resume disturbed" in process.stderr
    before, since = scene.assert_it_goes_on()
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since, cancelled=scene.at_once)


def test_a_signal_in_the_middle_of_an_evaluation(scene: Scene) -> None:
    scene.tasks, scene.provider.delay = 40, 0.1
    process = scene.evaluate(f"{GUIDE}:guide")
    scene.wait_for_results(4, process)
    process.signal(signal.SIGTERM)
    assert process.end() == 128 + signal.SIGTERM, process.stderr
    before, since = scene.assert_it_goes_on()
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since, cancelled=scene.at_once)


def test_the_terminal_is_closed(scene: Scene) -> None:
    """The process gets SIGHUP, and its output goes nowhere."""
    outside, inside = pty.openpty()

    def take_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = scene.run(
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(inside)
    scene.wait_for_results(4, process)
    os.close(outside)
    assert process.end() == 128 + signal.SIGHUP
    before, since = scene.assert_it_goes_on()
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since, cancelled=scene.at_once)


def test_nobody_reads_the_progress_any_more(scene: Scene) -> None:
    reader, writer = os.pipe()
    process = scene.run(stderr=writer)
    os.close(writer)
    scene.wait_for_results(1, process)
    os.close(reader)
    assert process.end() == 0
    scene.assert_nothing_is_lost_or_twice_or_unpaid()
