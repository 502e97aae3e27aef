from __future__ import annotations

from hashlib import sha256
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from greenroom.canonical import canonical_text, database_hash
from greenroom.domains.world import Base, World

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
databases = st.dictionaries(
    st.text(min_size=1, max_size=4),
    st.dictionaries(
        st.text(max_size=4), st.dictionaries(st.text(max_size=4), st.integers(0, 9)), max_size=3
    ),
    max_size=3,
)


@given(values)
def test_the_canonical_text_follows_the_definition(value: Any) -> None:
    assert canonical_text(value) == repr(_sorted_by_key(value))


def _sorted_by_key(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return tuple((key, _sorted_by_key(fields[key])) for key in sorted(fields))
    if isinstance(value, list):
        return tuple(_sorted_by_key(item) for item in cast("list[Any]", value))
    return value


@given(databases)
def test_the_hash_of_a_database_is_that_of_its_canonical_form(
    database: dict[str, dict[str, dict[str, int]]],
) -> None:
    expected = sha256(str(_sorted_by_key(database)).encode()).hexdigest()
    assert World(Base(database)).hash() == expected


def test_equality_is_tau_benchs() -> None:
    assert canonical_text(1) != canonical_text(1.0)
    assert canonical_text(True) != canonical_text(1)
    assert canonical_text({"b": 1, "a": 2}) == canonical_text({"a": 2, "b": 1})
    assert canonical_text([]) == canonical_text({})
    assert canonical_text([["a", 1]]) == canonical_text({"a": 1})
    assert canonical_text(["a"]) != canonical_text("a")


def test_a_table_with_one_record_hashes_as_a_tuple_of_one() -> None:
    expected = sha256(b"(('t', (('k', (('x', 1),)),)),)").hexdigest()
    assert database_hash({"t": [("k", canonical_text({"x": 1}))]}) == expected
