"""Which way a model is asked: directly where it speaks OpenAI's protocol, else through litellm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, get_args

from greenroom.errors import UnknownName
from greenroom.models.endpoints import Endpoint, provider_of

if TYPE_CHECKING:
    from greenroom.models.types import Completion, ModelRequest, ModelSettings

TransportName = Literal["auto", "direct", "litellm"]


class Transport(Protocol):
    """Makes one attempt at an answer.

    Where there is none it raises a Fault, or an InputError for what was wrong before it asked.
    """

    @property
    def endpoint(self) -> Endpoint:
        """Where the model is asked."""
        ...

    async def send(self, request: ModelRequest) -> Completion:
        """The answer, without its cost."""
        ...

    async def close(self) -> None:
        """Let go of this event loop's connections."""
        ...


def transport_name(settings: ModelSettings, wanted: str = "auto") -> Literal["direct", "litellm"]:
    """The way that a model with these settings is asked."""
    if wanted not in get_args(TransportName):
        raise UnknownName("transport", wanted, get_args(TransportName))
    if wanted == "litellm":
        return "litellm"
    speaks_openai = settings.api_base is not None or provider_of(settings) == "openai"
    return "direct" if speaks_openai or wanted == "direct" else "litellm"


def open_transport(settings: ModelSettings, wanted: str = "auto") -> Transport:
    """A transport for the model; connections are made when the first question is asked."""
    if transport_name(settings, wanted) == "direct":
        from greenroom.models.direct import DirectTransport

        return DirectTransport(settings)
    from greenroom.models.litellm_transport import LitellmTransport

    return LitellmTransport(settings)
