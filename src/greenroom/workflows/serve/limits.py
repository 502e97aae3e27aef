"""The limits of a server: size of bodies, calls at once, who may call."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.util.hosts import WRONG_HOST, accepts_host
from greenroom.workflows.serve.exchange import Exchange, Refusal, as_text
from greenroom.workflows.serve.headers import wants_vercel

MAX_BODY = 16 << 20
MAX_CONCURRENT_CALLS = 256

_OPEN_PATHS = frozenset({"/health"})
_SECONDS_TO_RETRY = b"1"


@dataclass
class Slots:
    """Counts running calls up to a limit."""

    limit: int
    taken: int = 0

    @contextmanager
    def one(self) -> Generator[None]:
        """Hold one slot while the block runs; raises a Refusal if none is free."""
        if self.taken >= self.limit:
            raise Refusal(
                503,
                {"detail": f"{self.limit} calls are running, which is the limit. Try again soon."},
                [(b"retry-after", _SECONDS_TO_RETRY)],
            )
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1

    @contextmanager
    def lent(self) -> Generator[None]:
        """Leave the slot of this call to others while the block waits for the client."""
        self.taken -= 1
        try:
            yield
        finally:
            self.taken += 1


@dataclass(frozen=True)
class AdmissionMiddleware:
    """Decides who may call; plain ASGI, because every request passes here."""

    app: ASGIApp
    token: str | None = field(default=None, repr=False)
    """If set, requests need it as a bearer token."""
    origins: Sequence[str] = ()
    """Pages of these origins may call from a browser; `*` allows all."""
    shape: Callable[[Refusal], Refusal] = lambda refusal: refusal
    """Gives a refusal the shape that clients read."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] == "http":
            exchange = Exchange(scope, receive, send)
            try:
                self._check(exchange)
            except Refusal as refusal:
                shape = as_text if wants_vercel(exchange) else self.shape
                await exchange.refuse(shape(refusal))
                return
        await self.app(scope, receive, send)

    def _check(self, exchange: Exchange) -> None:
        if self.token is None:
            self._check_host(exchange)
        elif not self._knows_token(exchange, self.token):
            raise Refusal(
                401,
                {"detail": "This server needs its token: send 'Authorization: Bearer TOKEN'."},
                [(b"www-authenticate", b"Bearer")],
            )
        origin = exchange.header(b"origin")
        if origin is not None and exchange.method == "POST":
            self._check_origin(origin.decode("latin-1"), exchange)

    def _check_host(self, exchange: Exchange) -> None:
        host, server = exchange.header(b"host") or b"", exchange.scope.get("server")
        if server is not None and not accepts_host(host.decode("latin-1"), server[0]):
            raise Refusal(403, {"detail": WRONG_HOST})

    def _knows_token(self, exchange: Exchange, token: str) -> bool:
        if exchange.scope["path"] in _OPEN_PATHS:
            return True
        scheme, _, given = (exchange.header(b"authorization") or b"").partition(b" ")
        same = hmac.compare_digest(given.strip(), token.encode())
        return same and scheme.lower() in (b"bearer", b"apikey")

    def _check_origin(self, origin: str, exchange: Exchange) -> None:
        """Refuse pages of other origins: a browser sends whatever a page tells it to."""
        if "*" in self.origins or origin in self.origins:
            return
        host = (exchange.header(b"host") or b"").decode("latin-1")
        if urlsplit(origin).netloc != host:
            raise Refusal(
                403, {"detail": "Pages of other origins may not call; --cors ORIGIN allows one to."}
            )
