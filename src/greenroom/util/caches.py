"""Where packs are kept that were fetched once."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

from greenroom.errors import DataError

CACHE_VARIABLE = "GREENROOM_CACHE"


def cache_root() -> Path:
    """Where things are kept that can be had again: GREENROOM_CACHE, or the user's cache."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen) if chosen else user_cache_path("greenroom", appauthor=False)


def pack_cache() -> Path:
    """The directory of the pulled packs."""
    return cache_root() / "packs"


def pulled_packs() -> list[str]:
    """The names of the packs that were pulled."""
    # A directory without this file is one that is still being written.
    return sorted(path.parent.name for path in pack_cache().glob("[!.]*/pack.json"))


def pulled_pack(name: str) -> Path:
    """The directory of a pulled pack."""
    names = pulled_packs()
    if name not in names:
        raise DataError(
            f"There is no directory '{name}' and no pulled pack of that name "
            f"(pulled: {', '.join(names) or 'none'}). 'greenroom data pull tau2' fetches one."
        )
    return pack_cache() / name
