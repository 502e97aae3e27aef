"""One request and its answer, straight on ASGI: every call pays for this, so it is kept small."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.errors import redacted
from greenroom.util.json_values import as_dict, as_list, encoded
from greenroom.workflows.calls import UNPROCESSABLE, Problem

Headers = list[tuple[bytes, bytes]]

JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"
MAX_LEVELS = 200
"""How deeply a body may be nested: orjson writes at most 254 levels, envelope included."""


class Refusal(Exception):
    """A request that gets an error as its answer."""

    kind = JSON
    """The content type of its body."""

    def __init__(self, status: int, body: Any, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        super().__init__(f"status {status}: {body}")
        self.status = status
        self.body = body
        self.headers = list(headers)


class ClientDisconnected(Exception):
    """The client closed its connection before the answer."""


class Exchange:
    """Reads a request and sends its answer, whole or in pieces."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.receive = receive
        self.started = False
        """Whether part of the answer is sent: the status can no longer change."""
        self._send = send
        self._headers: dict[bytes, bytes] = dict(scope["headers"])

    @property
    def method(self) -> str:
        """GET or POST."""
        return self.scope["method"]

    def header(self, name: bytes) -> bytes | None:
        """A header by its name in lower case."""
        return self._headers.get(name)

    async def body(self, limit: int) -> bytes:
        """The request's body; raises a Refusal if it is larger than the limit."""
        length = self._headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > limit:
            raise _too_large(limit)
        chunks: list[bytes] = []
        size = 0
        while True:
            event = await self.receive()
            if event["type"] == "http.disconnect":
                raise ClientDisconnected
            chunk: bytes = event.get("body", b"")
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            chunks.append(chunk)
            if not event.get("more_body", False):
                return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def json(self, limit: int) -> dict[str, Any]:
        """The request's body as a JSON object."""
        value = decode(await self.body(limit))
        if isinstance(value, dict):
            return value  # pyright: ignore[reportUnknownVariableType]
        raise invalid_body([Problem((), "The body must be a JSON object.", "dict_type")])

    async def answer(
        self, status: int, value: Any, headers: Headers | None = None, kind: bytes = JSON
    ) -> None:
        """Send JSON, the text of another kind, or bytes as they are as the whole answer."""
        if isinstance(value, bytes):
            body = value
        else:
            body = encoded(value) if kind is JSON else str(value).encode()
        self.started = True
        length = (b"content-length", b"%d" % len(body))
        sent = [(b"content-type", kind), length, *(headers or ())]
        await self._send({"type": "http.response.start", "status": status, "headers": sent})
        await self._send({"type": "http.response.body", "body": body})

    async def refuse(self, refusal: Refusal) -> None:
        """Send a refusal as the whole answer."""
        await self.answer(refusal.status, refusal.body, refusal.headers, refusal.kind)

    async def begin(self, content_type: bytes, headers: Headers) -> None:
        """Begin an answer that comes in pieces."""
        self.started = True
        sent = [
            (b"content-type", content_type),
            (b"cache-control", b"no-cache"),
            (b"x-accel-buffering", b"no"),  # proxies pass pieces on at once
            *headers,
        ]
        await self._send({"type": "http.response.start", "status": 200, "headers": sent})

    async def piece(self, body: bytes) -> None:
        """Send the next piece."""
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self) -> None:
        """End an answer that came in pieces."""
        await self._send({"type": "http.response.body", "body": b""})

    async def hand_over(self, app: ASGIApp, body: bytes) -> None:
        """Have another application answer the request, whose body is read already."""
        left = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            if left:
                return left.pop()
            return await self.receive()

        async def send(event: Any) -> None:
            self.started = True
            await self._send(event)

        await app(self.scope, receive, send)

    async def drop(self) -> NoReturn:
        """Close the connection without an answer."""
        self.scope["state"]["abort"]()
        while (await self.receive())["type"] != "http.disconnect":
            pass
        raise ClientDisconnected


def invalid_body(problems: Iterable[Problem], place: tuple[str, ...] = ("body",)) -> Refusal:
    """The refusal of a body with these problems, each somewhere below a place."""
    # A handler's own validators may tell more than they should.
    told = [(p.kind, [*place, *p.where], redacted(p.text)) for p in problems]
    detail = [{"type": kind, "loc": where, "msg": text} for kind, where, text in told]
    return Refusal(UNPROCESSABLE, {"detail": detail})


def reason_of(refusal: Refusal) -> str:
    """Why a request was refused, in one text."""
    body = as_dict(refusal.body)
    detail: Any = body.get("detail", as_dict(body.get("status")).get("message"))
    if isinstance(detail, list):
        problems = map(as_dict, as_list(detail))
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in problems)
    return str(detail)


def as_text(refusal: Refusal) -> Refusal:
    """A refusal for clients that show its body to people, as the AI SDK does."""
    told = Refusal(refusal.status, reason_of(refusal), refusal.headers)
    told.kind = TEXT
    return told


def decode(body: bytes) -> Any:
    """The JSON in a body; an empty body is an empty object. Raises a Refusal."""
    if not body:
        return {}
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise invalid_body(
            [Problem((), f"The body is not JSON: {error}.", "json_invalid")]
        ) from error
    # Counting brackets is quick, and enough for most bodies.
    if body.count(b"[") + body.count(b"{") > MAX_LEVELS and _is_deep(value):
        text = f"The body is nested more than {MAX_LEVELS} levels deep."
        raise invalid_body([Problem((), text, "json_invalid")])
    return value


DONE = b"data: [DONE]\n\n"
"""The last server-sent event of OpenAI's and of Vercel's streams."""


def sse(value: Any) -> bytes:
    """JSON as a server-sent event."""
    return b"data: " + encoded(value) + b"\n\n"


def _is_deep(value: Any) -> bool:
    level: list[Any] = [value]
    for _ in range(MAX_LEVELS):
        level = [
            item
            for held in level
            for item in (as_dict(held).values() if isinstance(held, dict) else as_list(held))
            if isinstance(item, (dict, list))
        ]
        if not level:
            return False
    return True


def _too_large(limit: int) -> Refusal:
    return Refusal(413, {"detail": f"The body is larger than {limit:,} bytes, which is the limit."})
