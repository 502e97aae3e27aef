"""Which way a model is asked: by a registered provider, directly where it speaks OpenAI's protocol,
and through litellm otherwise.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from greenroom.errors import InputError, UnknownName
from greenroom.models.endpoints import OPENAI, Endpoint, provider_of
from greenroom.models.providers import open_registered

if TYPE_CHECKING:
    from greenroom.models.types import Completion, ModelRequest, ModelSettings

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


def transport_name(settings: ModelSettings, wanted: str = "auto") -> Literal["direct", "litellm"]:
    """The way to a model whose provider is not a registered one."""
    if wanted not in get_args(TransportName):
        raise UnknownName("transport", wanted, get_args(TransportName))
    if wanted == "litellm":
        return "litellm"
    speaks_openai = settings.api_base is not None or provider_of(settings) == OPENAI
    return "direct" if speaks_openai or wanted == "direct" else "litellm"


def open_transport(settings: ModelSettings, wanted: str = "auto") -> Transport:
    """A transport for the model; connections are made when the first question is asked."""
    if (registered := open_registered(settings)) is not None:
        return registered
    if transport_name(settings, wanted) == "direct":
        from greenroom.models.direct import DirectTransport

        return DirectTransport(settings)
    if find_spec("litellm") is None:
        raise InputError(_without_litellm(settings))
    from greenroom.models.litellm_transport import LitellmTransport

    return LitellmTransport(settings)


def _without_litellm(settings: ModelSettings) -> str:
    provider = provider_of(settings)
    install = "litellm is not installed: pip install 'greenroom[litellm]'"
    if provider is None and not settings.api_base:
        return (
            f"Nothing says who offers the model '{settings.model}': name it as PROVIDER/MODEL, or "
            f"give an --api-base. For models that only litellm knows, {install}."
        )
    return f"{settings.model} is asked through litellm here, and {install}."
