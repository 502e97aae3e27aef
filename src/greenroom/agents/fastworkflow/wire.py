"""Messages between an episode and its FastWorkflow worker, over a socket.

Each message is a JSON object behind its length in four bytes. The worker asks (`model`, `step`) and
tells (`ready`, `turn`, `broken`); the episode starts it, sends what the user says and answers.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

import orjson

LENGTH = 4
"""Bytes of a message's length."""


class Disconnected(BaseException):
    """The other end is gone. A BaseException, so that code that catches Exception stops too."""


def packed(message: Mapping[str, Any]) -> bytes:
    """An encoded message."""
    body = orjson.dumps(message, default=str)
    return len(body).to_bytes(LENGTH) + body


class WorkerEnd:
    """The worker's end, in plain blocking code."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._incoming = connection.makefile("rb")

    def send(self, **message: Any) -> None:
        """Send a message."""
        try:
            self._connection.sendall(packed(message))
        except OSError as error:
            raise Disconnected from error

    def receive(self) -> dict[str, Any]:
        """Wait for the next message."""
        return orjson.loads(self._exactly(int.from_bytes(self._exactly(LENGTH))))

    def ask(self, **message: Any) -> dict[str, Any]:
        """Send a question and wait for its answer."""
        self.send(**message)
        return self.receive()

    def _exactly(self, count: int) -> bytes:
        try:
            data = self._incoming.read(count)
        except OSError as error:
            raise Disconnected from error
        if len(data) < count:
            raise Disconnected
        return data
