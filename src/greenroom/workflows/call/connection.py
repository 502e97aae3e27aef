"""Talking HTTP to the server of a workflow: connections, the token, retries, errors in words."""

from __future__ import annotations

import io
import os
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from greenroom._version import __version__
from greenroom.errors import InputError
from greenroom.models.faults import OVERLOADED, shown
from greenroom.models.payloads import encoded
from greenroom.models.retries import RetryPolicy
from greenroom.util.hosts import TOKEN_VARIABLE, is_loopback
from greenroom.util.json_values import decoded, listing, mapping
from greenroom.workflows.call.calls import CallError, WorkflowUnavailable

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

OPENAI_VARIABLE = "OPENAI_API_KEY"
TIMEOUT = 120.0
"""Seconds for an answer; for a streamed one, the longest silence."""

_CONNECT_SECONDS = 10.0
_CONNECTIONS = 1000
# Servers on uvicorn close what is idle for 5 seconds: a request must not meet that moment.
_IDLE_SECONDS = 3.0
_UNAVAILABLE = OVERLOADED | {408, 502, 504}
_LARGE = 2**20
_SCHEME = re.compile(r"[A-Za-z]+ ")


class Connection:
    """The connections to one server; they belong to the event loop that first uses them."""

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        timeout: float = TIMEOUT,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.address = address
        self._variable = token_variable(address)
        self._token = token or os.environ.get(self._variable, "").strip() or None
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
        """A response whose body is still to be read, whatever its status.

        What fails before the server can have run anything is sent again, and so is what it is too
        busy for. Everything else is raised as WorkflowUnavailable.
        """
        from aiohttp import ClientError

        try:
            async with await self._sent(method, url, body, headers, streamed) as response:
                yield response
        except TimeoutError:
            raise WorkflowUnavailable(
                f"{self.address} did not answer within {self._timeout:g} seconds."
            ) from None
        except (ClientError, OSError) as error:
            raise self._lost(error) from None

    async def close(self) -> None:
        """Let go of the connections."""
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    def error_of(self, status: int, content: bytes) -> CallError:
        """What an answer with an error status means, in words."""
        said, kind = complaint(content)
        said = shown(said, self._token)
        if status in (401, 403):
            return CallError(self._about_the_token(status), status=status, kind=kind)
        text = f"{self.address} answered {status}" + (f": {said}" if said else ".")
        failure = WorkflowUnavailable if status in _UNAVAILABLE else CallError
        return failure(text, status=status, kind=kind)

    def _about_the_token(self, status: int) -> str:
        # What is said about a wrong token may quote parts of it, so it is not repeated.
        if self._token is None:
            return f"{self.address} wants a token: set {self._variable}."
        if status == 401:
            return f"{self.address} does not accept the token: set {self._variable} to a valid one."
        return f"{self.address} does not allow this: set {self._variable} to a token that may."

    async def _sent(
        self,
        method: str,
        url: str,
        body: Any,
        headers: Mapping[str, str] | None,
        streamed: bool,
    ) -> ClientResponse:
        from aiohttp import (
            ClientConnectorError,
            ClientSSLError,
            ClientTimeout,
            ConnectionTimeoutError,
        )

        content = _encoded(body)
        options: dict[str, Any] = {
            "headers": self._headers(body, headers),
            # A redirect would turn the call into a GET, or take the token to another host.
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
                # From a megabyte on aiohttp wants a body in pieces.
                data = io.BytesIO(content) if content and len(content) >= _LARGE else content
                response = await self._opened().request(method, url, data=data, **options)
            except (ClientConnectorError, ConnectionTimeoutError) as error:
                if not again or isinstance(error, ClientSSLError):
                    raise
                asked = None
            else:
                if response.status not in OVERLOADED or not again:
                    return response
                asked = response.headers.get("Retry-After")
                response.release()
            retries += 1
            await self._retry.sleep(self._retry.wait(retries, asked))

    def _opened(self) -> ClientSession:
        from aiohttp import ClientSession, DummyCookieJar, TCPConnector

        if self._session is None:
            self._session = ClientSession(
                connector=TCPConnector(
                    limit=_CONNECTIONS, keepalive_timeout=_IDLE_SECONDS, ttl_dns_cache=300
                ),
                cookie_jar=DummyCookieJar(),
                # This machine's own servers are out of reach for a proxy.
                trust_env=not is_loopback(urlsplit(self.address).hostname or ""),
            )
        return self._session

    def _headers(self, body: Any, headers: Mapping[str, str] | None) -> dict[str, str]:
        sent = {"User-Agent": f"greenroom/{__version__}", "Accept": "*/*"}
        if body is not None:
            sent["Content-Type"] = "application/json"
        if self._token is not None:
            if not (self._token.isascii() and self._token.isprintable()):
                raise InputError(f"{self._variable} is no token: no token has such characters.")
            # Agenta's keys come with a scheme of their own: "ApiKey ...".
            named = _SCHEME.match(self._token)
            sent["Authorization"] = self._token if named else f"Bearer {self._token}"
        return sent | dict(headers or {})

    def _lost(self, error: BaseException) -> WorkflowUnavailable:
        from aiohttp import ClientConnectorDNSError, ClientConnectorError, ClientSSLError

        if isinstance(error, ClientConnectorDNSError):
            return WorkflowUnavailable(f"There is no host '{error.host}': check the address.")
        if isinstance(error, ClientSSLError):
            said = shown(str(error), self._token)
            return WorkflowUnavailable(
                f"There is no secure connection to {error.host}:{error.port}: {said}. If the "
                "server has no certificate, its address begins with http://."
            )
        if isinstance(error, ClientConnectorError):
            where = f"{error.host}:{error.port}"
            if not isinstance(error.os_error, ConnectionRefusedError):
                return WorkflowUnavailable(f"{where} cannot be reached: {error.strerror}.")
            return WorkflowUnavailable(
                f"Nothing listens at {where}: start the workflow's server there, or check the "
                "address."
            )
        said = shown(str(error) or type(error).__name__, self._token)
        return WorkflowUnavailable(f"The connection to {self.address} was lost: {said}")


def token_variable(address: str) -> str:
    """The environment variable that holds the token for an address.

    OpenAI's key goes to OpenAI, and to nobody else.
    """
    official = urlsplit(address).hostname == "api.openai.com"
    return OPENAI_VARIABLE if official else TOKEN_VARIABLE


def _encoded(body: Any) -> bytes | None:
    if body is None:
        return None
    try:
        return encoded(body)
    except (TypeError, ValueError) as error:
        raise InputError(f"What is to be sent is not JSON: {error}.") from error


def redirected(url: str, location: str | None) -> CallError:
    """The error for an answer that sends us elsewhere: a token is not taken along."""
    return CallError(f"{url} redirects to {shown(location or 'nowhere')}: give that address.")


def complaint(content: bytes) -> tuple[str, str]:
    """What the body of an error says, and what kind of error it names.

    Agenta's `status`, FastAPI's `detail` and OpenAI's `error` are understood.
    """
    try:
        body = decoded(content)
    except ValueError:
        return content.decode("utf-8", "replace"), ""
    if not isinstance(body, dict):
        return str(body), ""
    fields = mapping(body)
    told: Any = next(
        (fields[name] for name in ("status", "error", "detail", "details") if fields.get(name)),
        fields,
    )
    if isinstance(told, list):
        return "; ".join(map(_invalid, listing(told))), ""
    if not isinstance(told, dict):
        return str(told), ""
    inner = mapping(told)
    kind = inner.get("type") or inner.get("code")
    said = inner.get("message") or inner.get("detail") or encoded(inner).decode()
    return str(said), kind if isinstance(kind, str) else ""


def _invalid(item: Any) -> str:
    """One of FastAPI's complaints about a body: where, and what."""
    fields = mapping(item)
    place = ".".join(map(str, listing(fields.get("loc"))))
    return f"{place}: {fields.get('msg')}" if place else str(fields.get("msg") or item)
