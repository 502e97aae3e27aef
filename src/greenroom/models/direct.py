"""Asking OpenAI, or any server that speaks its protocol, without anything in between.

Thousands of calls are made in a run: what does not depend on the question is prepared once.
"""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from greenroom._version import __version__
from greenroom.models.answers import read_answer
from greenroom.models.endpoints import OPENAI_URL, endpoint_of
from greenroom.models.faults import Fault, excerpt, provider_error, status_fault
from greenroom.models.payloads import openai_parameters, parameters
from greenroom.models.retries import wait_asked
from greenroom.models.types import DEFAULT_TIMEOUT, ModelUnavailable
from greenroom.tracing import spans
from greenroom.util.bodies import ENCODINGS, AnswerTooLarge, body_of
from greenroom.util.json_values import encoded

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from greenroom.models.types import Completion, ModelRequest, ModelSettings

CONNECTIONS = 2000
"""Per event loop. The adaptive limit decides how many calls are made at once."""

_OK = 200
_LARGE = 2**20
"""Bytes: from here on aiohttp wants a body in pieces."""


class DirectTransport:
    """One attempt at an answer: POST {api_base}/chat/completions."""

    def __init__(self, settings: ModelSettings) -> None:
        self.endpoint = endpoint_of(settings)
        if self.endpoint.url is None:
            raise ValueError(f"{self.endpoint.name} is not asked directly")
        self._settings = settings
        self._timeout = settings.timeout or DEFAULT_TIMEOUT
        self._base = self.endpoint.url
        self._own = self._base != OPENAI_URL
        """Whether it is a server that somebody has set up, which may go on with a trace."""
        self._parameters = parameters if self._own else openai_parameters
        self._options: dict[str, Any] | None = None

    async def send(self, request: ModelRequest) -> Completion:
        """The answer; raises a Fault where there is none."""
        options = self._options
        if options is None:
            options = self._options = self._prepared()
        asked = self._parameters(self._settings, request)
        asked["model"] = self.endpoint.model
        body = encoded(asked)
        data = body if len(body) < _LARGE else io.BytesIO(body)
        if spans.active is not None and self._own and (here := spans.traceparent()):
            options = options | {"headers": options["headers"] | {"traceparent": here}}
        try:
            async with _session(self).post(data=data, **options) as response:
                status, headers = response.status, response.headers
                content = await body_of(response)
        except AnswerTooLarge as error:
            final = ModelUnavailable(f"{self.endpoint.name} cannot be used: {error}.")
            fault = Fault(str(error), final=final)
        except (OSError, TimeoutError, *_client_errors()) as error:
            fault = self._unreachable(error)
        else:
            if status == _OK:
                return read_answer(content, self.endpoint)
            fault = status_fault(
                status,
                provider_error(content),
                self.endpoint,
                retry_after=wait_asked(headers),
            )
        # Raised here, and not where it was caught, so that no secret can hide in a context.
        raise fault

    async def close(self) -> None:
        """Close this event loop's connections."""
        loop = asyncio.get_running_loop()
        shared = _shared.get(loop)
        if shared is None:
            return
        shared.users.discard(self)
        if not shared.users:
            del _shared[loop]
            await shared.session.close()

    def _prepared(self) -> dict[str, Any]:
        from aiohttp import ClientTimeout
        from yarl import URL

        headers = {"Content-Type": "application/json", "User-Agent": f"greenroom/{__version__}"}
        headers |= ENCODINGS
        key = self.endpoint.usable_key()
        url = URL(f"{self._base}/chat/completions")
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return {
            "url": url,
            "headers": headers,
            "timeout": ClientTimeout(total=self._timeout),
            "proxy": _proxy(self._base),
            # A redirect would turn the question into a GET, or take the key to another host.
            "allow_redirects": False,
        }

    def _unreachable(self, error: BaseException) -> Fault:
        if isinstance(error, TimeoutError):
            return Fault(f"it did not answer within {self._timeout:g} seconds")
        said = excerpt(str(error) or type(error).__name__, self.endpoint.key())
        from aiohttp import ClientConnectorError

        refused = isinstance(error, ClientConnectorError)
        return Fault(f"the connection failed: {said}", sent=not refused)


@dataclass
class _Shared:
    session: ClientSession
    users: set[DirectTransport] = field(default_factory=set[DirectTransport])


_shared: dict[asyncio.AbstractEventLoop, _Shared] = {}


def _session(user: DirectTransport) -> ClientSession:
    loop = asyncio.get_running_loop()
    shared = _shared.get(loop)
    if shared is None:
        shared = _shared[loop] = _Shared(_new_session())
    shared.users.add(user)
    return shared.session


def _new_session() -> ClientSession:
    from aiohttp import ClientSession, DummyCookieJar, TCPConnector

    for loop in [loop for loop in _shared if loop.is_closed()]:
        del _shared[loop]
    return ClientSession(
        connector=TCPConnector(limit=CONNECTIONS, ttl_dns_cache=300),
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,  # body_of unpacks within its limit
    )


def _client_errors() -> tuple[type[Exception], ...]:
    from aiohttp import ClientError

    return (ClientError,)


def _proxy(url: str) -> str | None:
    # Looked up once: doing so for every call takes longer than making it.
    parts = urlsplit(url)
    host = parts.hostname or ""
    # A proxy cannot reach this machine's own servers.
    if host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(host):
        return None
    return getproxies().get(parts.scheme)
