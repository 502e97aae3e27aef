"""tau2's hash of a database: SHA-256 of its JSON text with sorted keys.

The text of a base is made once. A world's hash writes only the records that it touched, and skips
the tables in front of the first touched one.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from greenroom.domains.world import Base, Record, World


def sorted_text(value: Any) -> str:
    """A value as tau2 writes it for a hash: equal texts mean equal values."""
    return json.dumps(value, sort_keys=True, default=str)


def hash_world(world: World) -> str:
    """tau2's hash of the world's whole database."""
    texts = world.base.derived(_BaseTexts)
    touched = {name: own for name in texts.tables if (own := world[name].touched())}
    position = min((texts.tables.index(name) for name in touched), default=len(texts.tables))
    state = texts.states[position].copy()
    for name in texts.tables[position:]:
        state.update(texts.opening(name))
        own = touched.get(name)
        state.update(texts.bodies[name] if own is None else texts.body(name, own))
    state.update(texts.closing)
    return state.hexdigest()


class _BaseTexts:
    """The text of a base in pieces: a body for each table, and the hash's state before each."""

    def __init__(self, base: Base) -> None:
        self.tables: Final = sorted(base.tables)
        self._entries: Final = {
            name: {key: _entry(key, base.record(name, key)) for key in sorted(base.ids(name))}
            for name in self.tables
        }
        self.bodies: Final = {
            name: ", ".join(entries.values()).encode() for name, entries in self._entries.items()
        }
        self.closing: Final = b"}}" if self.tables else b"{}"
        state = sha256()
        self.states: Final = [state.copy()]
        for name in self.tables:
            state.update(self.opening(name))
            state.update(self.bodies[name])
            self.states.append(state.copy())

    def opening(self, name: str) -> bytes:
        before = "{" if name == self.tables[0] else "}, "
        return f"{before}{json.dumps(name)}: {{".encode()

    def body(self, name: str, touched: Any) -> bytes:
        entries = dict(self._entries[name])
        for key, record in touched.items():
            if record is None:
                entries.pop(key, None)
            else:
                entries[key] = _entry(key, record)
        if touched.keys() <= self._entries[name].keys():
            return ", ".join(entries.values()).encode()
        return ", ".join([entries[key] for key in sorted(entries)]).encode()


def _entry(key: str, record: Record) -> str:
    return f"{json.dumps(key)}: {sorted_text(record)}"
