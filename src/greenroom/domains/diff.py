"""Field-level differences between two versions of a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from greenroom.domains.canonical import canonical_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenroom.domains.world import Record, RecordKey


class Absent:
    """Stands for a field or record that is not there."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field that is not what the ground truth leaves behind."""

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
    """What differs between the record as expected and as found; None means that it is absent."""
    before = ABSENT if expected is None else expected
    after = ABSENT if actual is None else actual
    return [
        FieldDifference(place.table, place.id, path, left, right)
        for path, left, right in _walk("", before, after)
    ]


def _walk(path: str, expected: Any, actual: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        keys: list[str] = list(dict.fromkeys([*expected, *actual]))  # pyright: ignore
        for key in keys:
            inner = f"{path}.{key}" if path else key
            yield from _walk(inner, expected.get(key, ABSENT), actual.get(key, ABSENT))  # pyright: ignore
    elif isinstance(expected, list) and isinstance(actual, list):
        for index in range(max(len(expected), len(actual))):  # pyright: ignore
            left = expected[index] if index < len(expected) else ABSENT  # pyright: ignore
            right = actual[index] if index < len(actual) else ABSENT  # pyright: ignore
            yield from _walk(f"{path}[{index}]", left, right)
    elif canonical_text(expected) != canonical_text(actual):
        yield path, expected, actual
