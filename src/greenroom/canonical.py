"""One canonical text per record, following Tau Bench's equality.

Tau Bench compares databases by the hash of a canonical text: mappings become key-sorted pairs and
lists become tuples before Python prints them. So `1` and `1.0` differ, an empty list equals an
empty mapping, and the order of keys does not matter. Greenroom compares records the same way, so
that scores agree with Tau Bench.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def canonical_text(value: Any) -> str:
    """The text of a value; two values have the same text if Tau Bench treats them as equal."""
    return repr(_ordered(value))


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return tuple([(key, _ordered(fields[key])) for key in sorted(fields)])
    if isinstance(value, list):
        return tuple([_ordered(item) for item in cast("list[Any]", value)])
    return value


def database_hash(tables: Mapping[str, Iterable[tuple[str, str]]]) -> str:
    """Tau Bench's hash of a whole database, from the canonical text of each of its records."""
    body = _pairs((name, _pairs(sorted(records))) for name, records in sorted(tables.items()))
    return sha256(body.encode()).hexdigest()


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    # The repr() of a tuple of (key, value) pairs whose values are already printed.
    texts = [f"({key!r}, {text})" for key, text in pairs]
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
