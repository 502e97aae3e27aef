"""`greenroom mcp`, with the official client over both transports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from greenroom.domains.domain import Domain
from tests.cli.running import Greenroom

COMMAND = ["-c", "from greenroom.cli import main; main()", "mcp", "--task-ids", "5"]
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


async def solve(client: Client, retail: Domain) -> None:
    assert len((await client.list_tools()).tools) == len(retail.tool_infos)
    for action in retail.task(5).actions:
        result = await client.call_tool(action.name, dict(action.kwargs))
        assert not result.is_error


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_task_is_played_over_standard_input_and_output(
    retail: Domain, mode: str, tmp_path: Any
) -> None:
    async def play() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=COMMAND, env=dict(os.environ), cwd=tmp_path
        )
        async with Client(server, mode=mode) as client:
            await solve(client, retail)

    anyio.run(play)


@pytest.mark.slow
def test_nothing_but_messages_goes_to_standard_output_and_the_end_is_told_beside_it() -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }
    call = {"name": "calculate", "arguments": {"expression": "1 + 1"}}
    lines = [
        hello,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    ended = subprocess.run(
        [sys.executable, *COMMAND],
        input="".join(f"{json.dumps(line)}\n" for line in lines) + "no json\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert {"2.0"} == {answer["jsonrpc"] for answer in answers}
    assert "1 calls, 0 of them failed. The database differs from what task 5 wants." in ended.stderr


@pytest.mark.slow
def test_over_http_a_token_is_needed_and_the_end_says_what_came_of_it(retail: Domain) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "GREENROOM_TOKEN"}
    with subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())

        async def play() -> None:
            async with httpx2.AsyncClient() as stranger:
                assert (await stranger.post(ready["url"], json=CALL)).status_code == 401
            headers = {"Authorization": f"Bearer {ready['token']}"}
            async with httpx2.AsyncClient(headers=headers) as http:
                transport = streamable_http_client(ready["url"], http_client=http)
                async with Client(transport) as client:
                    await solve(client, retail)

        anyio.run(play)
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    calls = len(retail.task(5).actions)
    assert f"{calls} calls, 0 of them failed. The database is what task 5 wants." in told


def test_one_task_is_played_at_a_time(greenroom: Greenroom) -> None:
    result = greenroom("mcp", "--task-ids", "5", "6")
    assert result.status == 2
    assert "name one, as in --task-ids 5" in result.err


def test_without_the_package_it_says_what_to_install(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp_types.version", None)
    result = greenroom("mcp", "--task-ids", "5")
    assert result.status == 2
    assert "pip install 'greenroom[mcp]'" in result.err
