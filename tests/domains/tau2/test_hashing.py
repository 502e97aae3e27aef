"""tau2's hash, made from pieces, is the hash of the whole text."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.tau2.hashing import hash_world, sorted_text
from greenroom.domains.world import Base, RecordKey, World

KEYS = st.sampled_from(["a", "b", "é", '"', "#1", "10", "9", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=4,
)
RECORDS = st.dictionaries(KEYS, VALUES, max_size=3)
SAFE_RECORDS = st.dictionaries(KEYS, st.integers(-9, 9) | st.text("xyé", max_size=2), max_size=3)
TABLES = st.dictionaries(
    st.sampled_from(["users", "orders", "a b"]), st.dictionaries(KEYS, SAFE_RECORDS, max_size=3)
)
Change = tuple[int, str, dict[str, Any] | None]
CHANGES = st.lists(st.tuples(st.integers(0, 2), KEYS, st.none() | RECORDS), max_size=6)


@given(TABLES, CHANGES)
def test_the_hash_is_that_of_the_whole_text(
    tables: dict[str, dict[str, Any]], changes: list[Change]
) -> None:
    world = World(Base(tables))
    expected = {name: dict(rows) for name, rows in tables.items()}
    for position, key, record in changes if tables else []:
        name = sorted(tables)[position % len(tables)]
        if record is not None:
            world[name][key] = expected[name][key] = record
        elif key in expected[name]:
            del world[name][key], expected[name][key]
        text = json.dumps(expected, sort_keys=True, default=str)
        assert hash_world(world) == sha256(text.encode()).hexdigest()
    assert hash_world(World(Base(tables))) == sha256(_text(tables)).hexdigest()


@given(TABLES.filter(bool), CHANGES, CHANGES)
def test_worlds_have_the_same_changes_exactly_if_they_have_the_same_hash(
    tables: dict[str, dict[str, Any]], one: list[Change], other: list[Change]
) -> None:
    base = Base(tables, sorted_text)
    worlds = [_changed(World(base), changes) for changes in (one, other, [*one, *other])]
    for left, right in combinations(worlds, 2):
        assert (left.changes() == right.changes()) is (hash_world(left) == hash_world(right))


def test_an_empty_list_is_no_empty_object() -> None:
    base = Base({"t": {"a": {"b": []}}}, sorted_text)
    world = World(base)
    world["t"]["a"]["b"] = {}
    assert list(world.changes()) == [RecordKey("t", "a")]
    assert hash_world(world) != hash_world(World(base))


def _changed(world: World, changes: list[Change]) -> World:
    for position, key, record in changes:
        table = world[sorted(world)[position % len(world)]]
        if record is not None:
            table[key] = record
        elif key in table:
            del table[key]
    return world


def _text(tables: dict[str, dict[str, Any]]) -> bytes:
    return json.dumps(tables, sort_keys=True).encode()
