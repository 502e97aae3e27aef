"""Every address that a playground answers: the operations of its API, its files, some pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from greenroom.playground.pages import Pages
from tests.playground.addresses import PAGES
from tests.playground.conftest import Running

_PART = re.compile(r"\{(\w+)\}")
_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Operation:
    """An operation of the API."""

    method: str
    path: str
    name: str
    streams: bool
    """Its answer goes on until the connection is closed."""

    def filled(self, **values: Any) -> str:
        """Its path with these parts; a part without a value is 0."""
        return _PART.sub(lambda found: str(values.get(found[1], "0")), self.path)


def operations(running: Running) -> Iterator[Operation]:
    """The operations that the OpenAPI document names."""
    document = running.api.get("openapi.json").raise_for_status().json()
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                answers = item[method]["responses"].get("200", {}).get("content", {})
                yield Operation(
                    method.upper(),
                    path,
                    item[method]["operationId"],
                    "text/event-stream" in answers,
                )


def files() -> list[str]:
    """The addresses of the bundle's files."""
    bundle = Pages().bundle
    found = [path.relative_to(bundle).as_posix() for path in bundle.glob("assets/*")]
    return [f"/{name}" for name in sorted(found)]


def pages() -> list[str]:
    """The addresses of all pages, with something in place of names."""
    return [_PART.sub("0", page) for page in PAGES]
