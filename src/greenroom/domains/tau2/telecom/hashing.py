"""tau2's hash of a world: SHA-256 of its whole content as JSON with sorted keys."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from greenroom.domains.world import Base, World

_encode = json.JSONEncoder(sort_keys=True).encode


def _texts(base: Base) -> dict[str, dict[str, str]]:
    return {
        table: {key: _encode(base.record(table, key)) for key in base.ids(table)}
        for table in sorted(base.tables)
    }


def hash_world(world: World) -> str:
    """The hash of the carrier's or of the user's world; only touched records are written anew."""
    parts: list[str] = []
    for table, base_texts in world.base.derived(_texts).items():
        touched = world[table].touched()
        texts = base_texts
        if touched:
            # tau2 appends new records, and no call deletes one.
            own = {key: _encode(record) for key, record in touched.items()}
            texts = base_texts | own
        content = ", ".join(texts.values())
        # The carrier's tables are lists; each of the user's holds one record under its own name.
        parts.append(f'"{table}": {content}' if table in texts else f'"{table}": [{content}]')
    return sha256(f"{{{', '.join(parts)}}}".encode()).hexdigest()
