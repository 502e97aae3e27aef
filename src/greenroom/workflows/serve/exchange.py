"""One request and its answer, straight on ASGI: what every call pays for is kept small."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from greenroom.workflows.serve.encoding import NotUnderstood, decode, encode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

JSON = b"application/json"


class Refusal(Exception):
    """A request that gets an error for an answer."""

    def __init__(self, status: int, body: Any, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body
        self.headers = list(headers)


class ClientLeft(Exception):
    """Nobody is there any more to take the answer."""


class Exchange:
    """A request that is read, and an answer that is sent, whole or in pieces."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.receive = receive
        self.started = False
        """Whether part of the answer is on its way: too late for another status."""
        self._send = send
        self._headers: dict[bytes, bytes] = dict(scope["headers"])

    @property
    def method(self) -> str:
        """GET or POST."""
        return self.scope["method"]

    def header(self, name: bytes) -> bytes | None:
        """A header by its name in small letters."""
        return self._headers.get(name)

    async def body(self, limit: int) -> bytes:
        """The request's body; raises where it is larger than the limit."""
        length = self._headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > limit:
            raise _too_large(limit)
        event = await self.receive()
        if event["type"] == "http.disconnect":
            raise ClientLeft
        body: bytes = event.get("body", b"")
        if event.get("more_body", False):
            body = await self._rest(body, limit)
        if len(body) > limit:
            raise _too_large(limit)
        return body

    async def json(self, limit: int) -> dict[str, Any]:
        """The request's body as a JSON object."""
        try:
            value = decode(await self.body(limit))
        except NotUnderstood as error:
            raise unprocessable(
                [{"type": "json_invalid", "loc": ["body"], "msg": str(error)}]
            ) from error
        if isinstance(value, dict):
            return value  # pyright: ignore[reportUnknownVariableType]
        problem = {"type": "dict_type", "loc": ["body"], "msg": "The body is to be a JSON object."}
        raise unprocessable([problem])

    async def _rest(self, first: bytes, limit: int) -> bytes:
        chunks, size = [first], len(first)
        while True:
            event = await self.receive()
            if event["type"] == "http.disconnect":
                raise ClientLeft
            chunk: bytes = event.get("body", b"")
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            chunks.append(chunk)
            if not event.get("more_body", False):
                return b"".join(chunks)

    async def answer(self, status: int, value: Any, headers: Headers | None = None) -> None:
        """Send JSON as the whole answer."""
        body = encode(value)
        self.started = True
        await self._send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [
                    (b"content-type", JSON),
                    (b"content-length", b"%d" % len(body)),
                    *(headers or ()),
                ],
            }
        )
        await self._send({"type": "http.response.body", "body": body})

    async def begin(self, content_type: bytes, headers: Headers) -> None:
        """Begin an answer that comes in pieces."""
        self.started = True
        await self._send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [
                    (b"content-type", content_type),
                    (b"cache-control", b"no-cache"),
                    (b"x-accel-buffering", b"no"),  # proxies are to pass pieces on at once
                    *headers,
                ],
            }
        )

    async def piece(self, body: bytes) -> None:
        """Send the next piece."""
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self) -> None:
        """End an answer that came in pieces."""
        await self._send({"type": "http.response.body", "body": b""})


def unprocessable(problems: list[dict[str, Any]]) -> Refusal:
    """A body that is not what it should be, place by place."""
    return Refusal(422, {"detail": problems})


def _too_large(limit: int) -> Refusal:
    return Refusal(413, {"detail": f"The body is larger than {limit:,} bytes, which is the limit."})


__all__ = [
    "JSON",
    "ClientLeft",
    "Exchange",
    "Headers",
    "Receive",
    "Refusal",
    "Scope",
    "Send",
    "unprocessable",
]
