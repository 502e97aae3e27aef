from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.store import Store, TestSetVersion, open_store
from greenroom.store.test_set_search import MOST_READ, RowFilter, find_rows


def positions(store: Store, version: TestSetVersion, **wanted: Any) -> list[int]:
    """All that a filter finds, page by page."""
    found: list[int] = []
    start: int | None = 0
    while start is not None:
        page = find_rows(store.engine, version, start=start, limit=7, wanted=RowFilter(**wanted))
        assert len(page.rows) <= 7
        found += [position for position, _ in page.rows]
        assert page.next is None or page.next > start
        start = page.next
    return found


ODD: list[dict[str, Any]] = [
    {"question": "Where is Ärö?", "expected": "in Denmark", "empty": ""},
    {"question": 'Say "hi" to 100%_', "expected": {"role": "assistant", "content": "hi\\there"}},
    {"question": '[{"role": "user", "content": "say \\"ho\\" twice"}]', "expected": 1234567890123},
    {"question": "<script>alert(1)</script>", "expected": None, "half": "\ud800x"},
]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"text": "ÄRÖ"}, [0]),
        ({"text": "denmark"}, [0]),
        ({"text": "expected"}, []),
        ({"text": "question"}, []),
        ({"text": "role"}, [1, 2]),
        ({"text": '"hi"'}, [1]),
        ({"text": "100%_"}, [1]),
        ({"text": "100_"}, []),
        ({"text": "hi\\t"}, [1]),
        ({"text": 'say "ho"'}, [2]),
        ({"text": "4567890"}, [2]),
        ({"text": "hi", "column": "expected"}, [1]),
        ({"text": "hi", "column": "question"}, [1]),
        ({"kind": "empty", "column": "expected"}, [3]),
        ({"kind": "empty", "column": "empty"}, [0, 1, 2, 3]),
        ({"kind": "chat"}, [2]),
        ({"kind": "message", "text": "user"}, []),
        ({"text": "<script>"}, [3]),
        ({}, [0, 1, 2, 3]),
    ],
)
def test_values_are_searched(store: Store, wanted: dict[str, Any], found: list[int]) -> None:
    version, _ = store.test_sets.save("odd", ODD)
    assert positions(store, version, **wanted) == found


def test_pages_are_bounded_however_rare_the_text(store: Store) -> None:
    rows = [{"needle": "hay", "n": number} for number in range(2 * MOST_READ)]
    version, _ = store.test_sets.save("hay", [*rows, {"needle": "needle"}])
    # Every row has the text in the name of a column, so the database finds all of them.
    first = find_rows(store.engine, version, limit=5, wanted=RowFilter(text="needle"))
    assert (first.rows, first.next) == ([], MOST_READ)
    assert positions(store, version, text="needle") == [2 * MOST_READ]


def test_rows_are_those_of_the_version(store: Store) -> None:
    first, _ = store.test_sets.save("many", [{"n": number} for number in range(120)])
    changed = [{"n": number} for number in range(1, 121)]
    second, _ = store.test_sets.save("many", changed)
    assert [
        row["n"] for _, row in find_rows(store.engine, first, start=100, limit=90).rows
    ] == list(range(100, 120))
    page = find_rows(store.engine, second, start=50, limit=60)
    assert ([row["n"] for _, row in page.rows], page.next) == (list(range(51, 111)), 110)


TEXTS = st.text(st.sampled_from('aAbÄßé"\\\n%_ 1{[') | st.characters(codec="utf-8"), max_size=6)


@settings(max_examples=min(100, settings().max_examples))
@given(st.lists(TEXTS, min_size=1, max_size=8), st.integers(0, 7), st.integers(0, 3))
def test_a_part_of_a_text_is_found(texts: list[str], chosen: int, first: int) -> None:
    needle = texts[chosen % len(texts)][first : first + 3]
    store = open_store()
    try:
        version, _ = store.test_sets.save("texts", [{"text": text} for text in texts])
        found = positions(store, version, text=needle, column="text")
        holding = [number for number, text in enumerate(texts) if needle in text]
        assert set(holding) <= set(found)
        store.test_sets.delete("texts")
    finally:
        store.close()
