"""Which way a model is asked: by a registered provider, directly where it speaks OpenAI's protocol,
and through litellm otherwise.

A package registers a Provider in the group `greenroom.providers`. A model's name with the prefix
`NAME/`, or the setting `provider=NAME`, selects it. Whatever it opens is asked through a
ModelClient, so it has retries, limits, cache, prices, budget and ledger like every other model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from greenroom.errors import InputError, UnknownName
from greenroom.models.endpoints import OPENAI, Endpoint, endpoint_of, provider_of
from greenroom.models.types import DEFAULT_TIMEOUT, ModelSettings
from greenroom.registry import Registry

if TYPE_CHECKING:
    from greenroom.models.types import Completion, ModelRequest

GROUP = "greenroom.providers"
TransportName = Literal["auto", "direct", "litellm"]


class Transport(Protocol):
    """Makes one attempt at an answer.

    Where there is none it raises a Fault, or an InputError if the question cannot be asked at all.
    """

    @property
    def endpoint(self) -> Endpoint:
        """Where the model is asked."""
        ...

    async def send(self, request: ModelRequest) -> Completion:
        """The answer; its cost only where the provider reports it."""
        ...

    async def close(self) -> None:
        """Close this event loop's connections."""
        ...


@dataclass(frozen=True)
class Provider:
    """A way to some models."""

    name: str
    open: Callable[[ModelSettings], Transport]
    """Opens a model. The settings have its name without the prefix, the provider and a timeout."""
    summary: str = ""
    """What it is, for `greenroom models list`."""


def registered_providers() -> list[Provider]:
    """All registered providers."""
    return [_registry.load(name) for name in _registry.names()]


_registry: Registry[Provider] = Registry(GROUP, Provider, "provider")


def transport_name(settings: ModelSettings, wanted: str = "auto") -> Literal["direct", "litellm"]:
    """The way to a model whose provider is not a registered one."""
    if wanted not in get_args(TransportName):
        raise UnknownName("transport", wanted, get_args(TransportName))
    if wanted == "litellm":
        return "litellm"
    speaks_openai = bool(settings.api_base) or provider_of(settings) == OPENAI
    return "direct" if speaks_openai or wanted == "direct" else "litellm"


def open_transport(settings: ModelSettings, wanted: str = "auto") -> Transport:
    """A transport for the model; connections are made when the first question is asked."""
    name = provider_of(settings)
    if name is not None and name in _registry.names():
        bare = settings.model.removeprefix(f"{name}/")
        timeout = settings.timeout or DEFAULT_TIMEOUT
        named = replace(settings, model=bare, provider=name, timeout=timeout)
        return _registry.load(name).open(named)
    if transport_name(settings, wanted) == "direct":
        from greenroom.models.direct import DirectTransport

        return DirectTransport(settings)
    if find_spec("litellm") is None:
        raise InputError(_without_litellm(settings))
    from greenroom.models.litellm_transport import LitellmTransport

    return LitellmTransport(settings)


def check_model(settings: ModelSettings) -> None:
    """Raise an InputError for a model that cannot be asked: no key, or an unknown provider."""
    if provider_of(settings) in _registry.names():
        return
    if transport_name(settings) == "direct":
        endpoint_of(settings).usable_key()
        return
    from greenroom.models.litellm_transport import check_provider

    check_provider(settings)


def _without_litellm(settings: ModelSettings) -> str:
    provider = provider_of(settings)
    install = "litellm is not installed: pip install 'greenroom[litellm]'"
    if provider is None and not settings.api_base:
        return (
            f"Nothing says who offers the model '{settings.model}': name it as PROVIDER/MODEL, or "
            f"give an --api-base. For models that only litellm knows, {install}."
        )
    return f"{settings.model} is asked through litellm here, and {install}."
