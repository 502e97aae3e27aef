"""The door of a playground: who may come in, and what browsers may do with the answers.

A page of another site can send requests to loopback. So besides the cookie, the names of host and
origin are checked, and the answers tell the browser to run nothing but the playground's own files.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from greenroom.errors import redacted
from greenroom.playground.access import ENTRY, SECONDS_OF_A_COOKIE, Access
from greenroom.util.hosts import WRONG_HOST, accepts_host

MAX_BODY = 64 << 20
"""The largest body of a request: an imported test set."""

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The Content-Security-Policy of every answer: nothing that a model writes can run or load."""

_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_SAFE_METHODS = ("GET", "HEAD")
_OWN_FETCHES = ("same-origin", "none")

_logger = logging.getLogger("greenroom.playground")


@dataclass(frozen=True)
class AccessMiddleware:
    """Lets requests in or refuses them; plain ASGI, so that streams pass piece by piece."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        guarded = _with_headers(scope["path"], send)
        answer = self._answer(scope)
        try:
            if answer is not None:
                await answer(scope, receive, guarded)
            else:
                await self.app(scope, _limited(receive), guarded)
        except Exception as error:
            # The client has its answer already; the traceback could show a secret.
            _logger.error(  # noqa: TRY400
                "%s %s: %s: %s",
                scope["method"],
                scope["path"],
                type(error).__name__,
                redacted(str(error)),
                exc_info=bool(os.environ.get("GREENROOM_DEBUG")),
            )

    def _answer(self, scope: Scope) -> Response | None:
        """What is answered without asking the application; None lets the request in."""
        headers = Headers(scope=scope)
        host, server = headers.get("host", ""), scope.get("server")
        local_only = self.access.token is None
        if local_only and server is not None and not accepts_host(host, server[0]):
            return _refused(scope, 403, WRONG_HOST)
        if not _from_here(scope, headers):
            return _refused(scope, 403, "Pages of other sites may not use the playground.")
        if self.access.knows_token(headers.get("authorization", "")):
            return None
        name = cookie_name(scope)
        known = self.access.knows_cookie(_cookie(headers, name))
        if scope["path"] == ENTRY:
            return self._entered(scope, name, known=known)
        return None if known else _refused(scope, 401, _NO_COOKIE)

    def _entered(self, scope: Scope, name: str, *, known: bool) -> Response:
        code = parse_qs(scope["query_string"].decode("latin-1")).get("code", [""])[0]
        if scope["method"] != "GET" or not (known or self.access.redeem(code)):
            return _refused(scope, 401, _NO_COOKIE)
        # A redirect would carry no strict cookie if another site led here: this page leads on.
        leads_on = '<meta http-equiv="refresh" content="0;url=/">'
        response = HTMLResponse(_page("Welcome", "The playground opens.", head=leads_on))
        response.set_cookie(
            name,
            self.access.new_cookie(),
            max_age=SECONDS_OF_A_COOKIE,
            httponly=True,
            samesite="strict",
        )
        return response


_NO_COOKIE = (
    "Open the link that 'greenroom playground' printed when it started. Each link works once; "
    "a browser that is in makes another one under 'Open in another browser'."
)


def cookie_name(scope: Scope) -> str:
    """The cookie's name; ports share their cookies, so it has the port in it."""
    server = scope.get("server") or ("", 0)
    return f"greenroom_{server[1]}"


def _from_here(scope: Scope, headers: Headers) -> bool:
    """Whether no page of another origin sent it; links and bookmarks may lead to pages."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None and _host_of(origin) != headers.get("host"):
        return False
    is_visit = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in _SAFE_METHODS
    if scope["path"].startswith("/api/"):
        is_visit = is_visit and site in _OWN_FETCHES
    return site is None or site in _OWN_FETCHES or is_visit


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # no browser sends that
        return None


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _refused(scope: Scope, status: Literal[401, 403], text: str) -> Response:
    wants_page = "text/html" in Headers(scope=scope).get("accept", "")
    if wants_page and not scope["path"].startswith("/api/"):
        return HTMLResponse(_page("No entry", text), status)
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"detail": text}, status, headers)


def _page(title: str, text: str, *, head: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Greenroom</title>{head}'
        '<meta name="viewport" content="width=device-width"></head>'
        f"<body><main><h1>{escape(title)}</h1><p>{escape(text)}</p></main></body></html>"
    )


def _with_headers(path: str, send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            if not path.startswith("/assets/"):
                headers.setdefault("cache-control", "no-store")
        await send(message)

    return sent


def _limited(receive: Receive) -> Receive:
    seen = 0

    async def received() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MAX_BODY:
            raise HTTPException(413, f"The request is too large: {MAX_BODY >> 20} MB is the limit.")
        return message

    return received
