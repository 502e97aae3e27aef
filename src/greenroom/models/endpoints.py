"""Where a model is asked: what the place is called, and which variable holds its key."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from greenroom.errors import InputError
from greenroom.models.types import ModelSettings

OPENAI = "openai"
OPENAI_URL = "https://api.openai.com/v1"

_OPENAI_NAME = re.compile(r"(?:ft:)?(?:gpt-|chatgpt-|o[1-9](?:-|$))")

_KEY_VARIABLES = {
    "bedrock": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "cohere_chat": "COHERE_API_KEY",
    "fireworks_ai": "FIREWORKS_AI_API_KEY",
    "huggingface": "HF_TOKEN",
    "perplexity": "PERPLEXITYAI_API_KEY",
    "sagemaker": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "vertex_ai": "GOOGLE_APPLICATION_CREDENTIALS",
}
"""Where litellm looks for a key, if not under PROVIDER_API_KEY."""


@dataclass(frozen=True)
class Endpoint:
    """A place that answers for a model."""

    name: str
    """As people know it; also what tells one endpoint from another."""
    model: str
    """The model's name there."""
    url: str | None = None
    """Its address, where it speaks OpenAI's protocol."""
    variables: tuple[str, ...] = ()
    """The environment variables that may hold its key; the first that is set counts."""
    needs_key: bool = False
    free: bool = False
    """It bills nothing, whatever becomes of a call."""

    @property
    def key_variable(self) -> str:
        """The variable to set: the one in use, or else the first."""
        names = self.variables or ("the variable of its provider",)
        return next((name for name in names if os.environ.get(name)), names[0])

    def key(self) -> str | None:
        """The key from the environment, if there is one."""
        for name in self.variables:
            if value := os.environ.get(name, "").strip():
                return value
        return None

    def usable_key(self) -> str | None:
        """The key, fit to be sent; an InputError says what is wrong with it."""
        key = self.key()
        if key is None and self.needs_key:
            raise InputError(f"{self.name} wants a key: set {self.key_variable}.")
        if key is not None and not (key.isascii() and key.isprintable()):
            raise InputError(f"{self.key_variable} is no key: it holds characters no key has.")
        return key


def provider_of(settings: ModelSettings) -> str | None:
    """Who offers the model, as far as the settings say; None beside an api_base of its own."""
    if settings.provider:
        return settings.provider
    if settings.api_base:
        return None
    if _OPENAI_NAME.match(settings.model):
        return OPENAI
    prefix, slash, _ = settings.model.partition("/")
    return prefix if slash else None


def endpoint_of(settings: ModelSettings) -> Endpoint:
    """Where a model with these settings is asked."""
    if settings.api_base:
        url = _checked(settings.api_base)
        parts = urlsplit(url)
        name = f"{parts.scheme}://{parts.netloc}{parts.path}"
        # A key is only sent to whom it belongs: OpenAI's to OpenAI, ours to any other server.
        official = parts.hostname == urlsplit(OPENAI_URL).hostname
        variables = ("OPENAI_API_KEY",) if official else ("GREENROOM_API_KEY",)
        return Endpoint(name, settings.model, url, variables)
    provider = provider_of(settings)
    if provider == OPENAI:
        if os.environ.get("OPENAI_BASE_URL", "").strip():
            raise InputError(
                f"OPENAI_BASE_URL is set, but {settings.model} would be asked at {OPENAI_URL}. "
                "Give that server by --api-base, or unset the variable."
            )
        model = settings.model.removeprefix("openai/")
        return Endpoint("OpenAI", model, OPENAI_URL, ("OPENAI_API_KEY",), needs_key=True)
    if provider is None:
        return Endpoint(settings.model, settings.model)
    variable = _KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY")
    return Endpoint(provider, settings.model.removeprefix(f"{provider}/"), None, (variable,))


def _checked(api_base: str) -> str:
    try:
        parts = urlsplit(api_base.strip())
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        usable, parts = False, urlsplit("")
    if not usable:
        raise InputError(
            f"'{api_base.rpartition('@')[2].partition('?')[0]}' is no address of a model server: "
            "give one such as http://localhost:8000/v1."
        )
    if "@" in parts.netloc or parts.query:
        raise InputError(
            f"The address of {parts.hostname} holds a name, a password or a query, which would be "
            "stored and shown: put a key into GREENROOM_API_KEY instead."
        )
    return api_base.strip().rstrip("/")
