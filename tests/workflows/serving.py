"""Talking to a server over real HTTP: plain requests, and raw bytes."""

from __future__ import annotations

import json
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from greenroom.workflows import Workflow
from greenroom.workflows.serve import create_app, running_app

HELLO = [{"role": "user", "content": "hello"}]


@dataclass(frozen=True)
class Reply:
    """What a server answered; the names of headers are in small letters."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The events of a stream, of either framing; `[DONE]` as text."""
        lines = [line.removeprefix("data: ") for line in self.text.splitlines() if line]
        return [line if line == "[DONE]" else json.loads(line) for line in lines]


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    address: str

    @property
    def place(self) -> tuple[str, int]:
        where = urlsplit(self.address)
        assert where.hostname is not None
        assert where.port is not None
        return where.hostname, where.port

    def get(self, path: str, **headers: str) -> Reply:
        return self.request("GET", path, None, headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Reply:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.request("POST", path, content, headers)

    def request(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Reply:
        """One request; underscores in the names of headers stand for hyphens."""
        connection = HTTPConnection(*self.place, timeout=30)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, found, response.read())
        finally:
            connection.close()

    @contextmanager
    def raw(self) -> Generator[socket.socket]:
        """A bare connection."""
        with socket.create_connection(self.place, timeout=30) as connection:
            yield connection


@contextmanager
def serving(*workflows: Workflow, **settings: Any) -> Generator[Server]:
    """Serve workflows on a free port for as long as the block runs."""
    with running_app(create_app(*workflows, **settings)) as address:
        yield Server(address)


def told(server: Server, body: Any, path: str = "/invoke", **headers: str) -> Any:
    """What a call gives."""
    reply = server.post(path, body, **headers)
    assert reply.status == 200, reply.text
    return reply.json
