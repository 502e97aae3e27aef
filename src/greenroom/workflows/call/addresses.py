"""Addresses of workflows as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from greenroom.errors import InputError

Route = Literal["invoke", "test", "run"]

_ROUTES: dict[str, Route] = {"/invoke": "invoke", "/test": "test", "/run": "run"}
_PAGES = ("/inspect", "/openapi.json", "/docs", "/chat/completions", "/models", "/health")
_SCHEME = re.compile(r"\s*[^\s:/?#]*://")
_WITHOUT_SCHEME = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[\da-fA-F:]+\]):\d+(?:[/#]|$)")


@dataclass(frozen=True)
class Address:
    """The address of a workflow, taken apart."""

    base: str
    """Without a slash at the end: /inspect and other paths are appended to it."""
    model: str | None = None
    """One of an OpenAI-compatible server's models."""
    route: Route | None = None
    """The route that the address names, if any."""

    @property
    def origin(self) -> str:
        """The server alone."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def path(self) -> str:
        """The path after the server; empty for the server itself."""
        return urlsplit(self.base).path

    @property
    def is_openai(self) -> bool:
        """Whether it looks like the base of an OpenAI-compatible server."""
        return bool(re.search(r"/v\d+$", self.path))


def is_address(text: str) -> bool:
    """Whether this is an address and not a file or a module.

    >>> [is_address(text) for text in ("https://a.example", "localhost:8000/bot", "app:bot")]
    [True, True, False]

    An address among the settings of something else does not count.

    >>> is_address("agent:tool-calling?api_base=http://127.0.0.1:9000/v1")
    False
    """
    return bool(_SCHEME.match(text) or _WITHOUT_SCHEME.match(text))


def parse_address(text: str, *, model: str | None = None) -> Address:
    """An address such as http://localhost:8000/bot, or http://localhost:8000/v1#model.

    An address of one of a workflow's pages, such as /invoke, means the workflow.
    """
    text = text.strip()
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        usable, parts = False, urlsplit("")
    if not usable:
        shown = text.rpartition("@")[2].partition("?")[0]
        raise InputError(
            f"'{shown}' is not the address of a workflow: give one such as http://localhost:8000."
        )
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"The address of {parts.hostname} contains a name or a password, which would be "
            "stored and displayed: put a token into GREENROOM_TOKEN instead."
        )
    if parts.query:
        raise InputError(
            "The address of a workflow has no query: leave out '?' and what follows after "
            f"'{text.partition('?')[0]}'."
        )
    path, route = parts.path.rstrip("/"), None
    for page in (*_ROUTES, *_PAGES):
        if path.endswith(page):
            path, route = path.removesuffix(page), _ROUTES.get(page)
            break
    base = f"{parts.scheme}://{parts.netloc}{path}"
    return Address(base, model or parts.fragment or None, route)
