"""What went wrong with one attempt, and whether another one may help.

All transports raise a Fault, made from the status and the error that the provider gave. It holds
no secrets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from greenroom.errors import GreenroomError, InputError, redacted
from greenroom.models.types import ContentFiltered, ContextWindowExceeded, RequestRefused
from greenroom.util.json_values import as_dict

if TYPE_CHECKING:
    from greenroom.models.endpoints import Endpoint

OVERLOADED = frozenset({429, 503, 529})
"""What a provider answers when it is asked too often (529 is Anthropic's)."""

_PASSING = frozenset({408, 409, 425, 429})
_FIRST_ERROR, _FIRST_SERVER_ERROR = 400, 500
_NOT_TAKEN = frozenset({400, 413, 422})
"""What a provider answers to a request that it cannot read, or that is too large."""
_SHOWN = 300

_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_CONTEXT_WORDS = re.compile(
    r"context[ _-](?:length|window|size|limit)"
    r"|prompt is too long"
    r"|input is too long"
    r"|exceeds? the maximum number of (?:input )?tokens",
    re.IGNORECASE,
)
_FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
)
_NO_CREDIT_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


@dataclass(frozen=True, slots=True)
class Tokens:
    """What was read and written; `cached` of the prompt came from the provider's own cache."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0

    @property
    def total(self) -> int:
        """All tokens that were read and written."""
        return self.prompt + self.completion

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
        )


NO_TOKENS = Tokens()


class Fault(Exception):
    """An attempt without a usable answer.

    `final` is what to tell the caller at once; without it another attempt may help. `tokens` were
    used all the same and are paid for. `sent` is false if the question never left.
    """

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        retry_after: str | None = None,
        tokens: Tokens = NO_TOKENS,
        final: GreenroomError | None = None,
        sent: bool = True,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.retry_after = retry_after
        self.tokens = tokens
        self.final = final
        self.sent = sent

    @property
    def lost(self) -> bool:
        """Nobody knows whether the provider bills the attempt; it bills no answer with an error."""
        answered = self.status is not None and self.status >= _FIRST_ERROR
        return self.sent and not (answered or self.final or self.tokens.total)

    @property
    def overloaded(self) -> bool:
        """The provider wants to be asked less often."""
        return self.status in OVERLOADED


def excerpt(text: str, key: str | None = None) -> str:
    """Someone else's words as they may be quoted: no secrets, one line, not too long."""
    # Secrets go first: half a key, left by cutting, would no longer be recognised.
    text = redacted(text)
    if key:
        text = text.replace(key, "[key]")
    text = " ".join(text.split("Traceback (most recent call last)")[0].split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@dataclass(frozen=True, slots=True)
class ProviderError:
    """What a provider said: its message, and the codes that say what kind it is."""

    message: str
    codes: frozenset[str] = frozenset()
    status: int | None = None
    """A status inside the body, as gateways give that answer 200 whatever happens behind them."""


def provider_error(body: bytes | str | dict[str, Any]) -> ProviderError:
    """What the body of an error says, whatever its shape."""
    value: Any = body
    if not isinstance(body, dict):
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError:
            text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
            return ProviderError(text)
    value = as_dict(value) if isinstance(value, dict) else {"message": value}
    error: Any = value.get("error", value)
    if not isinstance(error, dict):
        return ProviderError(str(error))
    fields = as_dict(error)
    inner = as_dict(fields.get("innererror"))
    codes = [fields.get("code"), fields.get("type"), inner.get("code")]
    code = fields.get("code")
    return ProviderError(
        str(fields.get("message") or fields.get("detail") or orjson.dumps(fields).decode()),
        frozenset(code.lower() for code in codes if isinstance(code, str)),
        code if isinstance(code, int) and not isinstance(code, bool) else None,
    )


def status_fault(
    status: int, error: ProviderError, endpoint: Endpoint, *, retry_after: str | None = None
) -> Fault:
    """What a status other than 200 means."""
    said = excerpt(error.message, endpoint.key())
    if final := _final(status, error, said, endpoint):
        return Fault(str(final), status=status, final=final)
    reason = f"it answered {status}" + (f": {said}" if said else "")
    return Fault(reason, status=status, retry_after=retry_after)


def _final(
    status: int, error: ProviderError, said: str, endpoint: Endpoint
) -> GreenroomError | None:
    if error.codes & _NO_CREDIT_CODES:
        return InputError(
            f"The account at {endpoint.name} has no credit left: add some, or set "
            f"{endpoint.key_variable} to the key of another account."
        )
    if status in _PASSING:
        return None
    if error.codes & _FILTER_CODES:
        return ContentFiltered(f"{endpoint.name} declined to answer: {said}")
    if error.codes & _CONTEXT_CODES or _CONTEXT_WORDS.search(error.message):
        return ContextWindowExceeded(
            f"The conversation no longer fits {endpoint.model} at {endpoint.name}: {said}"
        )
    if status >= _FIRST_SERVER_ERROR:
        return None
    kind = RequestRefused if status in _NOT_TAKEN else InputError
    return kind(_what_to_correct(status, said, endpoint))


def _what_to_correct(status: int, said: str, endpoint: Endpoint) -> str:
    name, variable = endpoint.name, endpoint.key_variable
    # What is said about a wrong key may quote parts of it, so it is not repeated.
    if status == 401:
        if endpoint.key() is None:
            return f"{name} wants a key: set {variable}."
        return f"{name} does not accept the key: set {variable} to one that is valid."
    said = f" It said: {said}" if said else ""
    if status == 403:
        return (
            f"{name} does not let this key use {endpoint.model}: set {variable} to one that may."
            f"{said}"
        )
    if status == 404:
        return (
            f"{name} has no model '{endpoint.model}', or none that the key in {variable} may use: "
            f"check the model's name and the address (api_base, up to and including /v1).{said}"
        )
    return f"{name} cannot take the request (status {status}).{said}"
