"""Servers that run: in a thread, in an event loop, on ports that are taken."""

from __future__ import annotations

import asyncio
import socket

import pytest

from greenroom import workflow
from greenroom.errors import InputError
from greenroom.workflows.serve import create_app, running_app, served
from tests.workflows.serving import Server


@workflow
def three() -> int:
    return 3


def test_a_server_runs_as_long_as_its_block() -> None:
    with running_app(create_app(three)) as address:
        server = Server(address)
        assert server.post("/invoke", {"inputs": {}}).json == 3
    with pytest.raises(ConnectionRefusedError):
        server.get("/health")


def test_several_run_side_by_side_in_one_event_loop() -> None:
    async def main() -> list[int]:
        async with served(create_app(three)) as first, served(create_app(three)) as second:
            assert first != second
            replies = [
                await asyncio.to_thread(Server(one).post, "/invoke", {"inputs": {}})
                for one in (first, second)
            ]
            return [reply.json for reply in replies]

    assert asyncio.run(main()) == [3, 3]


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(InputError, match=f"Port {port} of 127.0.0.1 cannot be used"),
            running_app(create_app(three), port=port),
        ):
            pass


def test_a_host_that_is_not_here_is_told() -> None:
    with (
        pytest.raises(InputError, match="cannot be used"),
        running_app(create_app(three), host="no-such-host.invalid"),
    ):
        pass
