"""The process of the workflow is killed in the middle, and started again."""

from __future__ import annotations

import socket

import pytest

from tests.chaos.jobs import GUIDE, Process, Scene
from tests.chaos.waiting import wait_for

pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def serve(scene: Scene, port: int) -> Process:
    scene.env["CHAOS_PROVIDER"] = scene.provider.api_base
    server = scene.start("serve", GUIDE, "--port", port)

    def is_up() -> bool:
        assert server.alive, server.stderr
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    wait_for(is_up, "the server")
    return server


@pytest.mark.parametrize("again", ["retried", "resumed"])
def test_the_server_of_a_workflow_is_killed_in_an_evaluation(scene: Scene, again: str) -> None:
    port = free_port()
    server = serve(scene, port)
    scene.tasks, scene.provider.delay = 60, 0.05
    retries = ("--max-retries", 30 if again == "retried" else 0)
    process = scene.evaluate(f"http://127.0.0.1:{port}/guide", *retries)
    scene.wait_for_results(8, process)
    wait_for(lambda: scene.provider.under_way >= 2, "calls under way")
    server.popen.kill()
    server.end()
    if again == "retried":
        serve(scene, port)
        assert process.end() == 0, process.stderr
        scene.assert_nothing_is_lost_or_twice_or_unpaid(cancelled=10_000)
        return
    assert process.end() == 0, process.stderr
    assert "Some calls gave no answer" in process.stdout
    serve(scene, port)
    before, since = scene.assert_it_goes_on()
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since, cancelled=10_000)
