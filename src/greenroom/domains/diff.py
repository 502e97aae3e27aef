"""Field-level differences between two versions of a record."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, cast

from greenroom.canonical import canonical_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.domains.world import Record, RecordKey


class Absent:
    """Stands for a missing field or record."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field that differs from the ground truth's result."""

    table: str
    record: str
    path: str
    expected: Any
    actual: Any

    def __str__(self) -> str:
        place = f"{self.table}[{self.record}]" + (f".{self.path}" if self.path else "")
        return f"{place}: expected {self.expected!r}, got {self.actual!r}"

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; a side that is absent has no key."""
        sides = {"expected": self.expected, "actual": self.actual}
        return {"table": self.table, "record": self.record, "path": self.path} | {
            side: value for side, value in sides.items() if value is not ABSENT
        }


def record_differences(
    place: RecordKey, expected: Record | None, actual: Record | None
) -> list[FieldDifference]:
    """The differences between the expected and the actual record; None stands for no record."""
    before = ABSENT if expected is None else expected
    after = ABSENT if actual is None else actual
    return [
        FieldDifference(place.table, place.id, path, left, right)
        for path, left, right in _walk("", before, after)
    ]


def _walk(path: str, expected: Any, actual: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        before, after = cast("Record", expected), cast("Record", actual)
        for key in dict.fromkeys([*before, *after]):
            inner = f"{path}.{key}" if path else key
            yield from _walk(inner, before.get(key, ABSENT), after.get(key, ABSENT))
    elif isinstance(expected, list) and isinstance(actual, list):
        pairs = zip_longest(
            cast("list[Any]", expected), cast("list[Any]", actual), fillvalue=ABSENT
        )
        for index, (left, right) in enumerate(pairs):
            yield from _walk(f"{path}[{index}]", left, right)
    elif canonical_text(expected) != canonical_text(actual):
        yield path, expected, actual
