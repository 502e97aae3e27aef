"""Servers that run: in a thread, in an event loop, on ports that are taken."""

from __future__ import annotations

import asyncio
import socket

import pytest

from greenroom import workflow
from greenroom.errors import InputError
from greenroom.workflows.serve import create_app, running_app, served
from greenroom.workflows.serve.connections import GuardedProtocol
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


def test_pieces_are_sent_at_once_in_a_plain_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    delays: list[bool] = []
    made = GuardedProtocol.connection_made

    def noting(protocol: GuardedProtocol, transport: asyncio.Transport) -> None:
        connection = transport.get_extra_info("socket")
        delays.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0)
        made(protocol, transport)

    monkeypatch.setattr(GuardedProtocol, "connection_made", noting)

    async def main() -> None:
        async with served(create_app(three)) as address:
            await asyncio.to_thread(Server(address).post, "/invoke", {"inputs": {}})

    asyncio.run(main())
    assert delays == [False]


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
