"""HTTP to the server of a workflow: connections, the token, retries, error texts."""

from __future__ import annotations

import errno
import io
import os
import re
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from greenroom._version import __version__
from greenroom.errors import InputError
from greenroom.models.faults import OVERLOADED, excerpt
from greenroom.models.retries import RetryPolicy, wait_asked
from greenroom.util.bodies import ENCODINGS, AnswerTooLarge
from greenroom.util.hosts import TOKEN_VARIABLE, is_loopback, is_off_limits, names_metadata
from greenroom.util.json_values import as_dict, as_list, decoded, encoded
from greenroom.workflows.calls import SERVER_ERROR, CallError, WorkflowUnavailable

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

OPENAI_VARIABLE = "OPENAI_API_KEY"
TIMEOUT = 120.0
"""Seconds for an answer; for a streamed answer, the longest pause."""

_CONNECT_SECONDS = 10.0
_CONNECTIONS = 1000
# uvicorn closes connections that are idle for 5 seconds: close ours earlier.
_IDLE_SECONDS = 3.0
_UNAVAILABLE = OVERLOADED | {408, 502, 504}
_LARGE = 2**20
_SCHEME = re.compile(r"[A-Za-z]+ ")


_OFF_LIMITS = "link-local addresses and metadata services are off limits for addresses of pages"


class Connection:
    """The connections to one server, for one event loop.

    `guarded` is for addresses that a person gives to a page. They reach neither link-local
    addresses nor metadata services, whatever their names resolve to. The token goes to this machine
    only.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        timeout: float = TIMEOUT,
        retry: RetryPolicy | None = None,
        guarded: bool = False,
    ) -> None:
        self.address = address
        self._host = urlsplit(address).hostname or ""
        self._guarded = guarded
        self._variable = token_variable(address)
        # OpenAI's key goes to OpenAI in any case.
        trusted = not guarded or is_loopback(self._host) or self._variable != TOKEN_VARIABLE
        known = os.environ.get(self._variable, "").strip() if trusted else ""
        self._token = token or known or None
        self._timeout = timeout
        self._retry = retry or RetryPolicy()
        self._session: ClientSession | None = None

    @asynccontextmanager
    async def open(
        self,
        method: str,
        url: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        streamed: bool = False,
    ) -> AsyncGenerator[ClientResponse]:
        """A response with an unread body and any status.

        A request is sent again if it failed before the server could run it, or if the server is too
        busy. Other failures are raised as WorkflowUnavailable.
        """
        from aiohttp import ClientConnectorError, ClientError

        try:
            async with await self._sent(method, url, body, headers, streamed) as response:
                yield response
        except AnswerTooLarge as error:
            raise CallError(f"{self.address} gave no answer: {error}.") from None
        except TimeoutError:
            raise WorkflowUnavailable(
                f"{self.address} did not answer within {self._timeout:g} seconds."
            ) from None
        except (ClientError, OSError) as error:
            sent = not isinstance(error, ClientConnectorError)
            raise WorkflowUnavailable(self._why_lost(error), sent=sent) from None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    def error_of(self, status: int, content: bytes, *, of_model: bool = False) -> CallError:
        """The error for an answer with an error status.

        `of_model`: behind the address is a model, so a failure is its server's.
        """
        text, kind = complaint(content)
        reason = excerpt(text, self._token)
        if status in (401, 403):
            return CallError(self._about_the_token(status), status=status, kind=kind)
        text = f"{self.address} answered {status}" + (f": {reason}" if reason else ".")
        down = status in _UNAVAILABLE or (of_model and status >= SERVER_ERROR)
        failure = WorkflowUnavailable if down else CallError
        return failure(text, status=status, kind=kind)

    def _about_the_token(self, status: int) -> str:
        # The server's text may quote parts of the token, so it is left out.
        if self._token is None and self._guarded:
            return (
                f"{self.address} needs a token: name it with --url when you start the playground, "
                f"with {self._variable} set."
            )
        if self._token is None:
            return f"{self.address} needs a token: set {self._variable}."
        if status == 401:
            return f"{self.address} does not accept the token: set {self._variable} to a valid one."
        return f"{self.address} does not allow this: set {self._variable} to a token that may."

    async def _sent(
        self, method: str, url: str, body: Any, headers: Mapping[str, str] | None, streamed: bool
    ) -> ClientResponse:
        from aiohttp import (
            ClientConnectorError,
            ClientSSLError,
            ClientTimeout,
            ConnectionTimeoutError,
        )

        if self._guarded and names_metadata(self._host):
            raise InputError(f"{self._host} cannot be used: {_OFF_LIMITS}.")
        content = _encoded(body)
        options: dict[str, Any] = {
            "headers": self._headers(body, headers),
            # A redirect would turn the call into a GET, or send the token to another host.
            "allow_redirects": False,
            "timeout": ClientTimeout(
                total=None if streamed else self._timeout,
                sock_connect=min(_CONNECT_SECONDS, self._timeout),
                sock_read=self._timeout,
            ),
        }
        retries = 0
        while True:
            again = retries < self._retry.max_retries
            try:
                # aiohttp warns about bodies of a megabyte that are not files.
                data = io.BytesIO(content) if content and len(content) >= _LARGE else content
                response = await self._opened().request(method, url, data=data, **options)
            except (ClientConnectorError, ConnectionTimeoutError) as error:
                if not again or isinstance(error, ClientSSLError):
                    raise
                asked = None
            else:
                if response.status not in OVERLOADED or not again:
                    return response
                asked = wait_asked(response.headers)
                response.release()
            retries += 1
            await self._retry.sleep(self._retry.wait(retries, asked))

    def _opened(self) -> ClientSession:
        from aiohttp import ClientSession, DummyCookieJar, TCPConnector

        if self._session is None:
            self._session = ClientSession(
                connector=TCPConnector(
                    limit=_CONNECTIONS,
                    keepalive_timeout=_IDLE_SECONDS,
                    ttl_dns_cache=300,
                    socket_factory=_guarded_socket if self._guarded else None,
                ),
                cookie_jar=DummyCookieJar(),
                auto_decompress=False,  # body_of and pieces_of unpack within their limit
                # A proxy cannot reach servers on this machine, and resolves names for itself.
                trust_env=not (self._guarded or is_loopback(self._host)),
            )
        return self._session

    def _headers(self, body: Any, headers: Mapping[str, str] | None) -> dict[str, str]:
        sent = {"User-Agent": f"greenroom/{__version__}", "Accept": "*/*", **ENCODINGS}
        if body is not None:
            sent["Content-Type"] = "application/json"
        if self._token is not None:
            if not (self._token.isascii() and self._token.isprintable()):
                raise InputError(
                    f"{self._variable} is not a valid token: it must be printable ASCII."
                )
            # Agenta's keys name their own scheme: "ApiKey ...".
            named = _SCHEME.match(self._token)
            sent["Authorization"] = self._token if named else f"Bearer {self._token}"
        return sent | dict(headers or {})

    def _why_lost(self, error: BaseException) -> str:
        from aiohttp import ClientConnectorDNSError, ClientConnectorError, ClientSSLError

        if isinstance(error, ClientConnectorDNSError):
            return f"There is no host '{error.host}': check the address."
        if isinstance(error, ClientSSLError):
            reason = excerpt(str(error), self._token)
            return (
                f"There is no secure connection to {error.host}:{error.port}: {reason}. If the "
                "server has no certificate, its address begins with http://."
            )
        if isinstance(error, ClientConnectorError):
            where = f"{error.host}:{error.port}"
            if not isinstance(error.os_error, ConnectionRefusedError):
                return f"{where} cannot be reached: {error.strerror}."
            return f"Nothing listens at {where}: start the server there, or check the address."
        reason = excerpt(str(error) or type(error).__name__, self._token)
        return f"The connection to {self.address} was lost: {reason}"


def _guarded_socket(found: Any) -> socket.socket:
    """A socket for an address that was just resolved; aiohttp connects it to exactly this one."""
    family, kind, protocol, _, place = found
    if is_off_limits(place[0]):
        raise PermissionError(errno.EACCES, _OFF_LIMITS)
    return socket.socket(family, kind, protocol)


def token_variable(address: str) -> str:
    """The environment variable that holds the token for an address.

    OpenAI's key goes to OpenAI only.
    """
    official = urlsplit(address).hostname == "api.openai.com"
    return OPENAI_VARIABLE if official else TOKEN_VARIABLE


def _encoded(body: Any) -> bytes | None:
    if body is None:
        return None
    try:
        return encoded(body)
    except (TypeError, ValueError) as error:
        raise InputError(f"The call cannot be sent, because it is not JSON: {error}.") from error


def redirected(url: str, location: str | None) -> CallError:
    """The error for a redirect, which is never followed: the token stays here."""
    return CallError(f"{url} redirects to {excerpt(location or 'nowhere')}: give that address.")


def complaint(content: bytes) -> tuple[str, str]:
    """The text and the kind of error in the body of an answer.

    Reads Agenta's `status`, FastAPI's `detail` and OpenAI's `error`.
    """
    try:
        body = decoded(content)
    except ValueError:
        return content.decode("utf-8", "replace"), ""
    if not isinstance(body, dict):
        return str(body), ""
    fields = as_dict(body)
    found: Any = next(
        (fields[name] for name in ("status", "error", "detail", "details") if fields.get(name)),
        fields,
    )
    if isinstance(found, list):
        return "; ".join(map(_invalid, as_list(found))), ""
    if not isinstance(found, dict):
        return str(found), ""
    inner = as_dict(found)
    kind = inner.get("type") or inner.get("code")
    text = inner.get("message") or inner.get("detail") or encoded(inner).decode()
    return str(text), kind if isinstance(kind, str) else ""


def _invalid(item: Any) -> str:
    """One of FastAPI's problems with a body: where, and what."""
    fields = as_dict(item)
    place = ".".join(map(str, as_list(fields.get("loc"))))
    return f"{place}: {fields.get('msg')}" if place else str(fields.get("msg") or item)
