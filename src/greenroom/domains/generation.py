"""Fresh packs by domain: each is a pure function of its seed and size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.domains.retail.generator import generate_retail
from greenroom.errors import UnknownName

if TYPE_CHECKING:
    from greenroom.domains.packs import Pack

_GENERATORS = {"retail": generate_retail}


def generate_pack(domain: str, *, seed: int, tasks: int) -> Pack:
    """A world with that many tasks, never published before."""
    if domain not in _GENERATORS:
        raise UnknownName("env to generate", domain, _GENERATORS)
    return _GENERATORS[domain](seed, tasks)
