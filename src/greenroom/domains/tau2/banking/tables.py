"""Banking's tables: look-ups by field, new records, ids that depend on their content, the hash."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, cast

import orjson

from greenroom.domains.packs import check_table
from greenroom.domains.tau2.hashing import sorted_text
from greenroom.domains.world import Base, Record, World
from greenroom.errors import DataError

TODAY: Final = "11/14/2025"
"""The date on which every episode takes place."""

TABLES: Final = (
    "users",
    "accounts",
    "debit_cards",
    "referrals",
    "credit_card_applications",
    "verification_history",
    "credit_card_transaction_history",
    "cash_back_disputes",
    "bank_account_transaction_history",
    "credit_card_accounts",
    "transaction_disputes",
    "credit_card_orders",
    "debit_card_orders",
    "credit_card_closure_reasons",
    "credit_card_account_flags",
    "credit_limit_increase_requests",
    "payment_history",
    "user_discoverable_tools",
    "user_discoverable_tool_calls",
    "agent_discoverable_tools",
    "task_config",
    "human_transfer_requests",
    "debit_card_disputes",
)
"""The tables that tools read and write, and that make up the hash."""

NOTES: Final = "notes"
"""A further table: what the database says about each of its tables. It belongs to the hash."""


Found = list[tuple[str, Record]]
"""Records with their ids, in the order of the table."""


def find(world: World, table: str, field: str, value: Any) -> Found | str:
    """The records whose field is a value, or the complaint about the query.

    The original pastes the value into a JSON text, so a quote in it breaks the query or adds
    another condition.
    """
    text = f"{value}"
    if text.isprintable() and '"' not in text and "\\" not in text:
        return rows(world, table, field, text)
    try:
        wanted: dict[str, Any] = json.loads(f'{{"{field}": "{text}"}}')
    except json.JSONDecodeError as error:
        return f"Error: Invalid JSON: {error}"
    return [
        (key, record)
        for key, record in records(world, table)
        if all(record.get(name) == expected for name, expected in wanted.items())
    ]


def query_text(world: World, table: str, field: str, value: Any) -> str:
    """The records whose field is a value, as tools show them."""
    found = find(world, table, field, value)
    return found if isinstance(found, str) else found_text(table, found)


def is_missing(world: World, table: str, field: str, value: Any) -> bool:
    """Whether no record has the value; a query that is broken finds neither."""
    return find(world, table, field, value) == []


def found_text(table: str, found: Found) -> str:
    """Records as tools show them."""
    if not found:
        return f"No records found in '{table}'."
    listed = "\n".join(
        f"{number}. Record ID: {key}\n{_fields_text(record)}"
        for number, (key, record) in enumerate(found, 1)
    )
    return f"Found {len(found)} record(s) in '{table}':\n\n{listed}"


def table_text(world: World, table: str) -> str:
    """All records of a table, as tools show them."""
    return found_text(table, list(records(world, table)))


def _fields_text(record: Record) -> str:
    return "".join([f"   {name}: {value}\n" for name, value in record.items()])


def records(world: World, table: str) -> Iterator[tuple[str, Record]]:
    """All records of a table, for reading."""
    content = world[table]
    return ((key, content.read(key)) for key in content)


def rows(world: World, table: str, field: str, value: Any) -> Found:
    """The records whose field equals a value, for reading."""
    if not isinstance(value, str):
        return [
            (key, record) for key, record in records(world, table) if record.get(field) == value
        ]
    content = world[table]
    index = world.base.derived(_Index(table, field))
    keys = index.keys_by_value.get(value, [])
    if own := content.touched():
        mine = [key for key, row in own.items() if row is not None and row.get(field) == value]
        keys = [key for key in keys if key not in own]
        if mine:
            # Records of the base come first, in its order, and then those of this episode.
            changed = [key for key in mine if key in index.order]
            keys = sorted([*keys, *changed], key=index.order.__getitem__)
            keys += [key for key in mine if key not in index.order]
    return [(key, content.read(key)) for key in keys]


@dataclass(frozen=True)
class _Index:
    """Makes the index of a table of the base by a field."""

    table: str
    field: str

    def __call__(self, base: Base) -> _Indexed:
        order: dict[str, int] = {}
        keys_by_value: dict[str, list[str]] = {}
        for place, key in enumerate(base.ids(self.table)):
            order[key] = place
            value = base.record(self.table, key).get(self.field)
            if isinstance(value, str):
                keys_by_value.setdefault(value, []).append(key)
        return _Indexed(order, keys_by_value)


@dataclass(frozen=True)
class _Indexed:
    order: dict[str, int]
    keys_by_value: dict[str, list[str]]


def add(world: World, table: str, key: str, record: Record) -> bool:
    """Add a record; False, and nothing happens, if there is one with that id."""
    content = world[table]
    if key in content:
        return False
    content[key] = record
    return True


@lru_cache(maxsize=4096)
def hex_id(seed: str, length: int = 16) -> str:
    """The id that a seed gives: the first digits of its hash.

    >>> hex_id("referral:123:Blue Account")
    '4349021c58516de1'
    """
    return sha256(seed.encode()).hexdigest()[:length]


def transaction_id_of(user_id: Any, card: Any, merchant: Any, amount: Any, category: Any) -> str:
    """The id of a card transaction; raise TypeError if something in it is no text."""
    parts = ["transaction", user_id, card, merchant, f"{amount:.2f}", category]
    return f"txn_{hex_id(':'.join(parts), 12)}"


def first_digits(text: str, count: int) -> str:
    """The first decimal digits in a text, of which there may be fewer."""
    return "".join([character for character in text if character.isdigit()])[:count]


def read_tables(database: Mapping[str, Any]) -> dict[str, dict[str, Record]]:
    """The tables of the original's database file, with its notes as a further table."""
    read = {name: _read_table(database, name, "db.json") for name in TABLES}
    return {name: records for name, (records, _) in read.items()} | {
        NOTES: {name: {"text": note or ""} for name, (_, note) in read.items()}
    }


def merge_tables(world: World, given: Mapping[str, Any], source: str) -> None:
    """Merge a task's own data into the tables; what names no table is ignored."""
    for name in [name for name in TABLES if name in given]:
        rows_given, note = _read_table(given, name, source)
        table = world[name]
        for key, record in rows_given.items():
            copied = orjson.loads(orjson.dumps(record))
            table[key] = _merged(table[key], copied) if key in table else copied
        if note is not None:
            world[NOTES][name] = {"text": note}


def _read_table(
    database: Mapping[str, Any], name: str, source: str
) -> tuple[dict[str, Record], str | None]:
    """The records of a table, and what the file says about it."""
    match database.get(name, {}):
        case {**table} if isinstance(table.get("notes", ""), str):
            records = check_table(table.get("data", {}), f"{source}: {name}.data")
            return records, table.get("notes")
        case _:
            raise DataError(f"{source}: '{name}' should hold data (records by id) and notes.")


def _merged(old: Any, new: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    mine, given = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
    for key, value in given.items():
        mine[key] = _merged(mine[key], value) if key in mine else value
    return mine


def hash_world(world: World) -> str:
    """tau2-bench's hash of the database."""
    texts = world.base.derived(_Texts)
    own_notes = world[NOTES].touched()
    digest = sha256(b"{")
    for name, before, after in texts.frames:
        own = world[name].touched()
        digest.update(before)
        digest.update(texts.with_own(name, own) if own else texts.whole[name])
        note = own_notes.get(name)
        digest.update(after if note is None else _closing(name, note["text"]))
    return digest.hexdigest()


class _Texts:
    """The texts that the hash of the base is made of, by table."""

    def __init__(self, base: Base) -> None:
        self.entries = {
            name: {key: _entry(key, base.record(name, key)) for key in sorted(base.ids(name))}
            for name in TABLES
        }
        self.whole = {name: _joined(entries.values()) for name, entries in self.entries.items()}
        self.frames = [
            (name, f'"{name}": {{"data": {{'.encode(), _closing(name, _note(base, name)))
            for name in sorted(TABLES)
        ]

    def with_own(self, name: str, own: Mapping[str, Record | None]) -> bytes:
        """A table's text where an episode has records of its own."""
        entries = dict(self.entries[name])
        for key, record in own.items():
            if record is None:
                entries.pop(key, None)
            else:
                entries[key] = _entry(key, record)
        if own.keys() <= self.entries[name].keys():
            return _joined(entries.values())
        return _joined([entries[key] for key in sorted(entries)])


def _entry(key: str, record: Record) -> str:
    return f"{json.dumps(key)}: {sorted_text(record)}"


def _joined(entries: Iterable[str]) -> bytes:
    return ", ".join(entries).encode()


def _note(base: Base, name: str) -> str:
    return base.record(NOTES, name)["text"]


def _closing(name: str, note: str) -> bytes:
    following = "}" if name == max(TABLES) else ", "
    return f'}}, "notes": {json.dumps(note)}}}{following}'.encode()
