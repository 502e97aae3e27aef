from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.domain import Domain
from greenroom.domains.tasks import Action
from greenroom.domains.world import Base, Record, RecordKey, World

TABLES: dict[str, dict[str, Record]] = {
    "shelves": {"a": {"books": [1, 2], "tall": True}, "b": {"books": []}}
}


@pytest.fixture
def base() -> Base:
    return Base(TABLES)


def test_a_world_reads_what_the_base_holds(base: Base) -> None:
    world = World(base)
    assert world["shelves"]["a"] == {"books": [1, 2], "tall": True}
    assert list(world["shelves"]) == ["a", "b"]
    assert len(world["shelves"]) == 2
    assert "a" in world["shelves"]
    assert "c" not in world["shelves"]
    assert list(world) == ["shelves"]


def test_changes_stay_in_their_world(base: Base) -> None:
    mine, yours = World(base), World(base)
    mine["shelves"]["a"]["books"].append(3)
    assert mine["shelves"]["a"]["books"] == [1, 2, 3]
    assert yours["shelves"]["a"]["books"] == [1, 2]
    assert base.record("shelves", "a")["books"] == [1, 2]


def test_records_can_be_added_and_deleted(base: Base) -> None:
    shelves = World(base)["shelves"]
    shelves["c"] = {"books": [9]}
    del shelves["a"]
    assert list(shelves) == ["b", "c"]
    assert "a" not in shelves
    for look in (shelves.__getitem__, shelves.read, shelves.text, shelves.__delitem__):
        with pytest.raises(KeyError):
            look("a")


def test_what_was_read_to_look_at_is_not_in_the_overlay(base: Base) -> None:
    shelves = World(base)["shelves"]
    shelves.read("a")["books"].clear()
    assert shelves.read("a")["books"] == [1, 2]
    assert not shelves.touched()


def test_read_and_text_see_the_worlds_own_record(base: Base) -> None:
    shelves = World(base)["shelves"]
    assert shelves.text("a") == '{"books": [1, 2], "tall": true}'
    shelves["a"]["tall"] = False
    assert shelves.read("a")["tall"] is False
    assert json.loads(shelves.text("a"))["tall"] is False


def test_an_unknown_table_is_no_table(base: Base) -> None:
    with pytest.raises(KeyError):
        World(base)["cellar"]


def test_only_what_differs_counts_as_changed(base: Base) -> None:
    world = World(base)
    world["shelves"]["a"]["tall"] = False
    assert world["shelves"]["b"]["books"] == []
    assert set(world.changes()) == {RecordKey("shelves", "a")}
    world["shelves"]["a"]["tall"] = True
    assert world.changes() == {}
    del world["shelves"]["a"]
    assert world.changes() == {RecordKey("shelves", "a"): None}


def test_numbers_of_different_kinds_differ_and_the_order_of_keys_does_not(base: Base) -> None:
    world = World(base)
    world["shelves"]["a"] = {"tall": True, "books": [1, 2]}
    assert world.changes() == {}
    world["shelves"]["a"] = {"tall": True, "books": [1.0, 2]}
    assert world.changes() != {}


def test_what_follows_from_the_data_is_worked_out_once(base: Base) -> None:
    calls: list[Base] = []

    def count_books(data: Base) -> int:
        calls.append(data)
        return sum(len(data.record("shelves", key)["books"]) for key in data.ids("shelves"))

    assert base.derived(count_books) == 2
    assert base.derived(count_books) == 2
    assert calls == [base]


def _content(base: Base) -> dict[str, dict[str, Any]]:
    return {
        table: {key: base.record(table, key) for key in base.ids(table)} for table in base.tables
    }


@st.composite
def retail_actions(draw: st.DrawFn) -> Action:
    """Calls of every retail tool: arguments that fit, others that are known, and nonsense."""
    from greenroom.domains.domain import load_domain

    domain = load_domain("retail")
    base = domain.pack.base
    known = [
        *(draw(st.sampled_from(base.ids(table))) for table in base.tables),
        *draw(st.sampled_from([task.actions[-1] for task in domain.tasks()])).kwargs.values(),
    ]
    nonsense = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2),
        max_leaves=5,
    )
    task = draw(st.sampled_from(domain.tasks()))
    action = draw(st.sampled_from(task.actions))
    kwargs = dict(action.kwargs)
    for name in kwargs:
        kind = draw(st.integers(0, 5))
        if kind == 0:
            kwargs[name] = draw(nonsense)
        elif kind == 1:
            kwargs[name] = draw(st.sampled_from(known))
    return Action(action.name, kwargs)


@pytest.mark.slow
@given(first=st.lists(retail_actions(), max_size=8), second=st.lists(retail_actions(), max_size=8))
def test_no_sequence_of_actions_changes_the_base_or_another_world(
    first: list[Action], second: list[Action]
) -> None:
    from greenroom.domains.domain import load_domain

    domain = load_domain("retail")
    before = _content(domain.pack.base)
    alone, _ = _play(domain, first), _play(domain, second)
    mine, yours = World(domain.pack.base), World(domain.pack.base)
    for step in range(max(len(first), len(second))):
        for world, actions in ((mine, first), (yours, second)):
            if step < len(actions):
                domain.tools[actions[step].name].call(world, actions[step].kwargs)
    assert _content(domain.pack.base) == before
    assert mine.changes() == alone.changes()
    assert yours.changes() == _play(domain, second).changes()


def _play(domain: Domain, actions: list[Action]) -> World:
    return domain.play_out(actions).world
