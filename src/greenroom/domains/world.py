"""The database of an episode: one immutable base per process, one overlay per environment.

A base keeps every record as immutable JSON bytes. A world hands out private copies of records and
keeps them: those copies are its overlay. The cost of resetting an episode, comparing it with the
ground truth or keeping it in memory depends only on the records it touched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar, final

import orjson

from greenroom.canonical import canonical_text, database_hash

T = TypeVar("T")

Record = dict[str, Any]
"""One row of a table: plain JSON."""


class RecordKey(NamedTuple):
    """A record's table and id."""

    table: str
    id: str


@final
class Base:
    """An immutable database: tables of records, shared by every world on top of it."""

    __slots__ = ("_canonical", "_derived", "_encoded", "_texts", "canonical_form")

    def __init__(
        self,
        tables: Mapping[str, Mapping[str, Record | bytes]],
        canonical_form: Callable[[Any], str] = canonical_text,
    ) -> None:
        self.canonical_form: Final = canonical_form
        """Writes a record so that equal texts mean equal records."""
        self._encoded: Final = MappingProxyType(
            {
                name: MappingProxyType({key: _encoded(row) for key, row in rows.items()})
                for name, rows in tables.items()
            }
        )
        self._texts: Final[dict[RecordKey, str]] = {}
        self._canonical: Final[dict[RecordKey, str]] = {}
        self._derived: Final[dict[Callable[[Base], Any], Any]] = {}

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(self._encoded)

    def ids(self, table: str) -> tuple[str, ...]:
        """The ids of a table's records, in the order of the data."""
        return tuple(self._encoded[table])

    def encoded(self, table: str) -> Mapping[str, bytes]:
        """A table's records as JSON bytes, by id."""
        return self._encoded[table]

    def record(self, table: str, key: str) -> Record:
        """A fresh copy of a record, safe to change."""
        return orjson.loads(self._encoded[table][key])

    def text(self, table: str, key: str) -> str:
        """The record as a tool prints it, rendered once."""
        place = RecordKey(table, key)
        text = self._texts.get(place)
        if text is None:
            text = self._texts[place] = json.dumps(self.record(table, key))
        return text

    def canonical(self, place: RecordKey) -> str | None:
        """The canonical text of a record, made once; None if there is no such record."""
        text = self._canonical.get(place)
        if text is None:
            if place.id not in self._encoded[place.table]:
                return None
            text = self._canonical[place] = self.canonical_form(self.record(*place))
        return text

    def updated(self, records: Mapping[str, Mapping[str, Record]]) -> Base:
        """Another base with these records, new ones or in place of old ones; it shares the rest."""
        tables = {name: {**rows, **records.get(name, {})} for name, rows in self._encoded.items()}
        return Base(tables, self.canonical_form)

    def derived(self, compute: Callable[[Base], T]) -> T:
        """Something that depends on the data alone, such as an index; computed once."""
        if compute not in self._derived:
            self._derived[compute] = compute(self)
        return self._derived[compute]


def _encoded(row: Record | bytes) -> bytes:
    return row if isinstance(row, bytes) else orjson.dumps(row)


@final
class Table(MutableMapping[str, Record]):
    """A table as one world sees it, used like the plain dictionary that Tau Bench's tools expect.

    `table[key]` is the world's own copy of the record; changes to it stay in this world. Use
    `table.read(key)` to look at a record without changing it.
    """

    __slots__ = ("_base", "_encoded", "_own", "name")

    def __init__(self, base: Base, name: str) -> None:
        self.name: Final = name
        self._base: Final = base
        self._encoded: Final = base.encoded(name)
        self._own: Final[dict[str, Record | None]] = {}  # None: deleted here

    def __contains__(self, key: object) -> bool:
        if key in self._own:
            return self._own[key] is not None  # pyright: ignore[reportArgumentType]
        return key in self._encoded

    def __getitem__(self, key: str) -> Record:
        if key in self._own:
            own = self._own[key]
            if own is None:
                raise KeyError(key)
            return own
        copy: Record = orjson.loads(self._encoded[key])
        self._own[key] = copy
        return copy

    def __setitem__(self, key: str, record: Record) -> None:
        self._own[key] = record

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._own[key] = None

    def __iter__(self) -> Iterator[str]:
        own = self._own
        yield from (key for key in self._encoded if own.get(key, True) is not None)
        yield from [key for key, row in own.items() if row is not None and key not in self._encoded]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def read(self, key: str) -> Record:
        """The record for reading only: this world's copy, or a temporary one."""
        own = self._own.get(key)
        if own is not None:
            return own
        if key in self._own:
            raise KeyError(key)
        return orjson.loads(self._encoded[key])

    def text(self, key: str) -> str:
        """The record as JSON text, as tools show it to the agent."""
        own = self._own.get(key)
        if own is not None:
            return json.dumps(own)
        if key in self._own:
            raise KeyError(key)
        return self._base.text(self.name, key)

    def touched(self) -> Mapping[str, Record | None]:
        """This world's own copies by id; None stands for a record deleted here."""
        return MappingProxyType(self._own)


Changes = dict[RecordKey, str | None]
"""Canonical text of each record that differs from the base; None where it was deleted."""


@final
class World(Mapping[str, Table]):
    """One episode's database: tables by name, over a shared base."""

    __slots__ = ("_tables", "base", "memory")

    def __init__(self, base: Base) -> None:
        self.base: Final = base
        self._tables: Final[dict[str, Table]] = {}
        self.memory: Final[dict[str, Any]] = {}
        """What tools remember in this episode besides the records; it is never compared."""

    def __getitem__(self, name: str) -> Table:
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = Table(self.base, name)
        return table

    def __iter__(self) -> Iterator[str]:
        return iter(self.base.tables)

    def __len__(self) -> int:
        return len(self.base.tables)

    def changes(self) -> Changes:
        """The records that differ from the base."""
        changed: Changes = {}
        for name, table in self._tables.items():
            for key, own in table.touched().items():
                place = RecordKey(name, key)
                text = None if own is None else self.base.canonical_form(own)
                if text != self.base.canonical(place):
                    changed[place] = text
        return changed

    def touched_records(self) -> dict[str, str]:
        """The overlay as text, by table; equal texts mean equal databases."""
        return {
            name: repr(dict(touched))
            for name, table in self._tables.items()
            if (touched := table.touched())
        }

    def record(self, place: RecordKey) -> Record | None:
        """A record as this world has it, or None."""
        table = self[place.table]
        return table.read(place.id) if place.id in table else None

    def hash(self) -> str:
        """Tau Bench's hash of the whole database; slow, for checks against recorded hashes."""
        changed = self.changes()
        tables: dict[str, dict[str, str | None]] = {
            name: {key: self.base.canonical(RecordKey(name, key)) for key in self.base.ids(name)}
            for name in self.base.tables
        }
        for place, text in changed.items():
            tables[place.table][place.id] = text
        return database_hash(
            {
                name: [(key, text) for key, text in rows.items() if text is not None]
                for name, rows in tables.items()
            }
        )
