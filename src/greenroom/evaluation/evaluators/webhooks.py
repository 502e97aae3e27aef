"""The evaluator that asks a server of one's own: the case goes out, a score comes back."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from greenroom._version import __version__
from greenroom.errors import InputError, redacted
from greenroom.evaluation.evaluators.reading import raw_pair
from greenroom.evaluation.evaluators.returned import NoScore, read_score
from greenroom.evaluation.evaluators.types import (
    Case,
    EvaluatorContext,
    EvaluatorKind,
    ExpectingSettings,
    Score,
    Unscored,
)
from greenroom.models.retries import RetryPolicy, retried, wait_asked
from greenroom.util.bodies import ENCODINGS, AnswerTooLarge, body_of
from greenroom.util.json_values import decoded
from greenroom.util.raw_json import raw_text

if TYPE_CHECKING:
    from aiohttp import ClientSession

_OK = 200
_FIRST_SERVER_ERROR = 500
_PASSING = frozenset({408, 425, 429})
_LARGEST_ANSWER = 2**20
_SHOWN = 200


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("this is no address: write http:// or https:// and a host")
    return url


class WebhookSettings(ExpectingSettings):
    """Settings of webhook."""

    url: Annotated[str, AfterValidator(_address)] = Field(
        description="Where the case is posted to, as JSON."
    )
    timeout: float = Field(default=30.0, gt=0, description="Seconds to wait for an answer.")
    retries: int = Field(default=2, ge=0, description="Further attempts where one fails.")
    token_variable: str | None = Field(
        default=None, description="The environment variable whose value is sent as a bearer token."
    )
    threshold: float = Field(
        default=0.5, ge=0, le=1, description="Passed from this score on, if it does not say so."
    )


class _Passing(Exception):
    """An attempt without an answer, after which another may help."""

    def __init__(self, reason: str, retry_after: str | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


@dataclass
class WebhookScorer:
    """Posts cases to a server."""

    settings: WebhookSettings
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    _session: ClientSession | None = None

    async def evaluate(self, case: Case) -> Score:
        """The score that the server gives."""
        compared, against = raw_pair(case)
        fields = case.fields() | {"compared": compared, "against": against}
        body = raw_text(fields).encode()
        policy = replace(self.policy, max_retries=self.settings.retries)
        try:
            answer = await retried(
                partial(self._ask, body), policy, lambda error: isinstance(error, _Passing)
            )
            return read_score(
                answer, compared=compared, against=against, threshold=self.settings.threshold
            )
        except (_Passing, NoScore) as error:
            reason = str(error)
        reason = redacted(f"{self.settings.url}: {reason}")
        raise Unscored(reason, compared=compared, against=against, broken=True)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _ask(self, body: bytes) -> Any:
        from aiohttp import ClientError

        headers = {"Content-Type": "application/json", "User-Agent": f"greenroom/{__version__}"}
        headers |= ENCODINGS
        if token := _token(self.settings):
            headers["Authorization"] = f"Bearer {token}"
        try:
            async with self._opened().post(
                self.settings.url, data=body, headers=headers, allow_redirects=False
            ) as response:
                status = response.status
                retry_after = wait_asked(response.headers)
                content = await body_of(response, _LARGEST_ANSWER)
        except AnswerTooLarge:
            raise NoScore("its answer is longer than 1 MiB") from None
        except TimeoutError:
            reason = f"it did not answer within {self.settings.timeout:g} seconds"
        except (OSError, ClientError) as error:
            reason = f"the connection failed: {error or type(error).__name__}"
        else:
            return _answer(status, content, retry_after)
        # Raised here, and not where it was caught, so that no secret can hide in a context.
        raise _Passing(reason)

    def _opened(self) -> ClientSession:
        if self._session is None:
            from aiohttp import ClientSession, ClientTimeout, DummyCookieJar

            self._session = ClientSession(
                timeout=ClientTimeout(total=self.settings.timeout),
                cookie_jar=DummyCookieJar(),
                auto_decompress=False,  # body_of unpacks within its limit
                trust_env=True,
            )
        return self._session


def _answer(status: int, content: bytes, retry_after: str | None) -> Any:
    if status != _OK:
        said = " ".join(content[:_SHOWN].decode("utf-8", "replace").split())
        reason = f"it answered {status}" + (f": {said}" if said else "")
        if status >= _FIRST_SERVER_ERROR or status in _PASSING:
            raise _Passing(reason, retry_after)
        raise NoScore(reason)
    try:
        return decoded(content)
    except ValueError as error:
        raise NoScore("its answer is not JSON") from error


def _token(settings: WebhookSettings) -> str | None:
    return os.environ.get(settings.token_variable) if settings.token_variable else None


def _create(settings: WebhookSettings, _: EvaluatorContext) -> WebhookScorer:
    if settings.token_variable and not _token(settings):
        raise InputError(
            f"The webhook evaluator's token is to be in {settings.token_variable}: set it."
        )
    return WebhookScorer(settings)


webhook = EvaluatorKind("webhook", _create, WebhookSettings, "a server of your own")
