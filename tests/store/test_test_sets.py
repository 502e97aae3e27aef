from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from greenroom.errors import InputError, UnknownName
from greenroom.store import Store, TestSetVersion, open_store
from tests.store.samples import sample_evaluation

ROWS = [{"country": "France", "expected": "Paris"}, {"country": "Peru", "expected": "Lima"}]


def contents(store: Store, version: TestSetVersion) -> list[dict[str, Any]]:
    return list(store.test_sets.rows(version))


def kept_rows(store: Store) -> int:
    with store.engine.connect() as connection:
        return connection.execute(text("SELECT count(*) FROM test_set_rows")).scalar_one()


def test_rows_come_back_as_they_were(store: Store) -> None:
    rows: list[dict[str, Any]] = [
        {"text": "ünï\u0000\n", "number": 12345678901234567890123, "float": 1.0, "null": None},
        {"nested": {"z": [1, {"a": []}], "half": "\ud800"}},
    ]
    version, is_new = store.test_sets.save("odd", rows)
    assert (version.version, version.row_count, is_new) == (1, 2, True)
    assert contents(store, version) == rows
    assert [type(value) for value in contents(store, version)[0].values()] == [
        str,
        int,
        float,
        type(None),
    ]
    assert [column.name for column in version.columns] == [
        "text",
        "number",
        "float",
        "null",
        "nested",
    ]


def test_a_change_makes_a_new_version_and_old_ones_stay(store: Store) -> None:
    first, _ = store.test_sets.save("capitals", ROWS, note="at first")
    corrected = [ROWS[0], {"country": "Peru", "expected": "Lima, Peru"}]
    second, is_new = store.test_sets.save("capitals", corrected)
    assert (second.version, is_new) == (2, True)
    third = store.test_sets.add("capitals", [{"country": "Chad", "capital": "N'Djamena"}])
    fourth, _ = store.test_sets.save("capitals", ROWS[1:])
    assert contents(store, first) == ROWS
    assert contents(store, second) == corrected
    assert contents(store, third) == [*corrected, {"country": "Chad", "capital": "N'Djamena"}]
    assert [column.name for column in third.columns] == ["country", "expected", "capital"]
    assert contents(store, fourth) == ROWS[1:]
    assert [one.version for one in store.test_sets.versions("capitals")] == [4, 3, 2, 1]
    assert store.test_sets.find("capitals") == fourth
    assert store.test_sets.find("capitals", 1) == first
    assert first.note == "at first"


def test_the_same_rows_make_no_new_version(store: Store) -> None:
    first, _ = store.test_sets.save("capitals", ROWS)
    again, is_new = store.test_sets.save("capitals", [dict(row) for row in ROWS])
    assert (again, is_new) == (first, False)
    assert kept_rows(store) == 2


def test_versions_share_their_rows(store: Store) -> None:
    many: list[dict[str, Any]] = [{"n": number} for number in range(1200)]
    store.test_sets.save("many", many)
    store.test_sets.add("many", [{"n": -1}])
    changed = [*many, {"n": -1}]
    changed[700] = {"n": "changed"}
    latest, _ = store.test_sets.save("many", changed)
    assert kept_rows(store) == 1202
    assert contents(store, latest) == changed
    shorter, _ = store.test_sets.save("many", many[:10])
    assert kept_rows(store) == 1202
    assert contents(store, shorter) == many[:10]
    assert contents(store, latest) == changed


def test_adding_gives_the_hash_that_saving_gives(store: Store) -> None:
    store.test_sets.add("grown", ROWS[:1])
    grown = store.test_sets.add("grown", ROWS[1:])
    whole, _ = store.test_sets.save("whole", ROWS)
    assert grown.content_hash == whole.content_hash
    assert grown.columns == whole.columns
    assert store.test_sets.save("grown", ROWS) == (grown, False)


SMALL_ROWS = st.lists(
    st.dictionaries(st.sampled_from("ab"), st.integers(0, 2), min_size=1), min_size=1, max_size=6
)


@settings(max_examples=min(60, settings().max_examples))
@given(st.lists(SMALL_ROWS, min_size=1, max_size=6))
def test_any_history_can_be_read_back(history: list[list[dict[str, Any]]]) -> None:
    store = open_store()
    try:
        kept: list[tuple[TestSetVersion, list[dict[str, Any]]]] = []
        for rows in history:
            version, is_new = store.test_sets.save("history", rows)
            assert is_new == (not kept or kept[-1][1] != rows)
            if is_new:
                kept.append((version, rows))
        for version, rows in kept:
            assert contents(store, version) == rows
        store.test_sets.delete("history")
    finally:
        store.close()


def test_a_part_of_the_rows_can_be_read(store: Store) -> None:
    version, _ = store.test_sets.save("many", [{"n": number} for number in range(1300)])
    found = [row["n"] for row in store.test_sets.rows(version, start=498, limit=505)]
    assert found == list(range(498, 1003))
    assert list(store.test_sets.rows(version, start=1299, limit=9)) == [{"n": 1299}]
    assert list(store.test_sets.rows(version, start=1300)) == []


def test_nothing_is_kept_if_reading_breaks_on_the_way(store: Store) -> None:
    def breaks() -> Iterator[dict[str, Any]]:
        for number in range(1000):
            yield {"n": number}
        raise InputError("line 1001 is odd")

    with pytest.raises(InputError, match="line 1001"):
        store.test_sets.save("fresh", breaks())
    assert store.test_sets.all() == []
    version, _ = store.test_sets.save("fresh", ROWS)
    with pytest.raises(InputError, match="line 1001"):
        store.test_sets.save("fresh", breaks())
    assert store.test_sets.versions("fresh") == [version]
    assert contents(store, version) == ROWS


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "no rows for the test set 'bad'"),
        ([{"a": 1}, {}], "Row 2 is empty"),
        ([{"": 1}], "Row 1 has a column without a name"),
        ([{"a": float("nan")}], "Row 1 cannot be stored as JSON"),
        ([{"a": object()}], "Row 1 cannot be stored as JSON"),
    ],
)
def test_rows_that_will_not_do(rows: list[dict[str, Any]], words: str) -> None:
    store = open_store()
    with pytest.raises(InputError, match=words):
        store.test_sets.save("bad", rows)
    assert store.test_sets.all() == []
    store.close()


@pytest.mark.parametrize("name", ["", "  ", "a@1", "x" * 201, "two\nlines"])
def test_names_that_will_not_do(name: str) -> None:
    store = open_store()
    with pytest.raises(InputError, match="name"):
        store.test_sets.save(name, ROWS)
    store.close()


def test_what_is_not_there_is_told(store: Store) -> None:
    store.test_sets.save("capitals", ROWS)
    with pytest.raises(UnknownName, match="Did you mean 'capitals'"):
        store.test_sets.find("capitols")
    with pytest.raises(InputError, match="has no version 2: it has 1"):
        store.test_sets.find("capitals", 2)
    store.test_sets.add("capitals", ROWS)
    with pytest.raises(InputError, match="has no version 0: it has 1 to 2"):
        store.test_sets.find("capitals", 0)


def test_all_lists_the_latest_of_each(store: Store) -> None:
    store.test_sets.save("b", ROWS)
    store.test_sets.save("a", ROWS)
    store.test_sets.add("b", ROWS)
    assert [str(one) for one in store.test_sets.all()] == ["a@1", "b@2"]


def test_a_test_set_stays_while_an_evaluation_needs_it(store: Store) -> None:
    version, _ = store.test_sets.save("capitals", ROWS)
    store.test_sets.add("capitals", ROWS)
    record = sample_evaluation(version)
    store.evaluations.create(record)
    with pytest.raises(InputError, match="The evaluation 'evaluation' uses the test set"):
        store.test_sets.delete("capitals")
    assert contents(store, version) == ROWS
    store.evaluations.delete(record)
    store.test_sets.delete("capitals")
    assert store.test_sets.all() == []
    assert kept_rows(store) == 0


def test_many_writers_lose_nothing(store: Store) -> None:
    other = open_store()

    def add(number: int) -> None:
        chosen = (store, other)[number % 2]
        for step in range(5):
            chosen.test_sets.add("shared", [{"writer": number, "step": step}])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))
    latest = store.test_sets.find("shared")
    assert (latest.version, latest.row_count) == (20, 20)
    found = {(row["writer"], row["step"]) for row in contents(store, latest)}
    assert found == {(writer, step) for writer in range(4) for step in range(5)}
    other.close()


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_hundred_thousand_rows_take_little_memory() -> None:
    store = open_store()

    def rows() -> Iterator[dict[str, Any]]:
        for number in range(100_000):
            yield {"messages": [{"role": "user", "content": f"{number} " * 30}], "n": number}

    tracemalloc.start()
    version, _ = store.test_sets.save("large", rows())
    assert sum(1 for _ in store.test_sets.rows(version)) == 100_000
    assert store.test_sets.save("large", rows()) == (version, False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    store.close()
    assert peak < 20 * 2**20, f"{peak / 2**20:.0f} MiB"
