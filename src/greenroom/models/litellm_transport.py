"""Asking any other provider, through litellm.

litellm takes seconds to import, so it is imported at the first call, in a thread. Its telemetry,
callbacks, retries and logging are turned off.
"""

from __future__ import annotations

import importlib
import logging
import os
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from greenroom.errors import InputError
from greenroom.models.answers import completion_of
from greenroom.models.endpoints import endpoint_of, provider_of
from greenroom.models.faults import Fault, ProviderError, excerpt, provider_error, status_fault
from greenroom.models.payloads import parameters
from greenroom.models.retries import wait_asked
from greenroom.models.types import DEFAULT_TIMEOUT

if TYPE_CHECKING:
    from greenroom.models.types import Completion, ModelRequest, ModelSettings

_OWN_INVENTION = 500
"""The status that litellm gives to what never got an answer."""
_CODES = {
    "ContextWindowExceededError": "context_length_exceeded",
    "ContentPolicyViolationError": "content_filter",
}
"""litellm's errors of a kind, as the code that providers give."""


class LitellmTransport:
    """One attempt at an answer, by litellm."""

    def __init__(self, settings: ModelSettings) -> None:
        self.endpoint = endpoint_of(settings)
        self._settings = settings
        self._timeout = settings.timeout or DEFAULT_TIMEOUT
        self._name = litellm_name(settings)

    async def send(self, request: ModelRequest) -> Completion:
        """The answer; raises a Fault where there is none."""
        litellm = await _litellm_for(self)
        address = self._address()
        try:
            # litellm has timeouts of its own, but not every provider keeps to them.
            with anyio.fail_after(self._timeout + 1):
                response = await litellm.acompletion(
                    model=self._name,
                    timeout=self._timeout,
                    num_retries=0,
                    max_retries=0,
                    drop_params=True,
                    **address,
                    **parameters(self._settings, request),
                )
            answer = response.model_dump(warnings=False)
        except Exception as error:  # litellm raises whatever its providers do
            fault = self._fault(error)
        else:
            return completion_of(_with_refusal(answer), self.endpoint)
        # Raised here, and not where it was caught, so that no secret can hide in a context.
        raise fault

    async def close(self) -> None:
        """Close litellm's connections if no other transport uses them."""
        _users.discard(self)
        if not _users and _imported.cache_info().currsize:
            litellm = _imported()
            await litellm.close_litellm_async_clients()
            # Closed clients would be handed out again.
            litellm.in_memory_llm_clients_cache.flush_cache()

    def _address(self) -> dict[str, Any]:
        if not self._settings.api_base:
            if self.endpoint.needs_key:
                self.endpoint.usable_key()
            return {}
        # The client that litellm uses insists on a key, even where the server wants none.
        return {"api_base": self.endpoint.url, "api_key": self.endpoint.usable_key() or "none"}

    def _fault(self, error: Exception) -> Fault:
        kind = type(error).__name__
        # litellm's message begins with the names of classes.
        said = excerpt(str(error).rpartition("Exception - ")[2], self.endpoint.key())
        if isinstance(error, TimeoutError):
            return Fault(f"it did not answer within {self._timeout:g} seconds")
        if code := _CODES.get(kind):
            return status_fault(400, ProviderError(said, frozenset({code})), self.endpoint)
        return self._by_status(error, kind, said)

    def _by_status(self, error: Exception, kind: str, said: str) -> Fault:
        status: Any = getattr(error, "status_code", None)
        headers: Any = getattr(error, "litellm_response_headers", None)
        if headers is None:
            headers = getattr(getattr(error, "response", None), "headers", None)
        if not headers and (status == _OWN_INVENTION or kind in ("Timeout", "APIConnectionError")):
            status = None
        if not isinstance(status, int):
            return Fault(f"no usable answer came: {said}")
        body: Any = getattr(error, "body", None)
        told = provider_error(body) if isinstance(body, dict) else ProviderError(said)  # pyright: ignore[reportUnknownArgumentType]
        after = wait_asked(headers) if headers else None
        return status_fault(status, told, self.endpoint, retry_after=after)


def litellm_name(settings: ModelSettings) -> str:
    """The model's name as litellm takes it: provider/model."""
    provider = provider_of(settings) or ("openai" if settings.api_base else None)
    # "openai/gpt-oss-20b" on your own server is the whole name of a model.
    if provider is None or (not settings.api_base and settings.model.startswith(f"{provider}/")):
        return settings.model
    return f"{provider}/{settings.model}"


def _with_refusal(answer: dict[str, Any]) -> dict[str, Any]:
    """Put a refusal back to where the protocol has it."""
    choices: list[dict[str, Any]] = answer.get("choices") or []
    for choice in choices:
        message: dict[str, Any] = choice.get("message") or {}
        extra: dict[str, Any] = message.get("provider_specific_fields") or {}
        if extra.get("refusal"):
            message["refusal"] = extra["refusal"]
    return answer


_users: set[LitellmTransport] = set()


async def _litellm_for(user: LitellmTransport) -> Any:
    _users.add(user)
    if _imported.cache_info().currsize:
        return _imported()
    return await to_thread.run_sync(_imported)


def keep_litellm_local() -> None:
    """Call it before litellm is imported: it is imported without the network and without .env."""
    # Without the first it fetches its prices from the network, without the second it reads .env.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")


def check_provider(settings: ModelSettings) -> None:
    """Raise an InputError if litellm does not know the model's provider."""
    litellm, name = _imported(), litellm_name(settings)
    try:
        litellm.get_llm_provider(name)
    except litellm.exceptions.BadRequestError:
        raise InputError(
            f"Nobody is known to offer '{name}': name the model as PROVIDER/MODEL, or give an "
            "api_base."
        ) from None


@cache
def _imported() -> Any:
    keep_litellm_local()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            litellm: Any = importlib.import_module("litellm")
        except ImportError as error:
            raise InputError(
                f"litellm, through which this model is asked, cannot be imported: {error}."
            ) from error
        # Its classes are built when they are first used, and warn about themselves then.
        litellm.ModelResponse().model_dump()
    warnings.filterwarnings("ignore", module=r"litellm(\.|$)")
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    litellm.callbacks = []
    for when in ("success", "failure"):
        setattr(litellm, f"{when}_callback", [])
        setattr(litellm, f"_async_{when}_callback", [])
    for logger in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)
    return litellm
