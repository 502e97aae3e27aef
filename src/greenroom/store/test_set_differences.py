"""The differences of two versions of a test set: rows added, removed, changed and moved.

Rows are aligned by their content. A row that both versions have is the same or has moved. Of the
others, those between the same neighbours that share values are one row that changed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

from sqlalchemy import Engine, select

from greenroom.store.database import transaction
from greenroom.store.evaluation_records import TestSetVersion
from greenroom.store.schema import test_set_rows
from greenroom.store.test_set_writer import of_version
from greenroom.util.raw_json import raw_text, raw_value

_MOST_PAIRS = 2_500
"""How many pairs of rows between two neighbours are compared value by value."""

DifferenceKind = Literal["added", "removed", "changed", "moved"]


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that is not in the same place with the same content in both versions."""

    kind: DifferenceKind
    before: int | None
    """Its position in the first version; None for a row that was added."""
    after: int | None
    """Its position in the second version; None for a row that was removed."""


@dataclass(frozen=True, slots=True)
class CellDifference:
    """A cell that differs; a side without the cell is absent."""

    column: str
    before: Any
    after: Any
    absent: Literal["before", "after"] | None = None


def row_differences(
    engine: Engine, before: TestSetVersion, after: TestSetVersion
) -> list[RowDifference]:
    """The rows in which two versions of a test set differ, in the order of the second."""
    old, new = _differing(engine, before, after), _differing(engine, after, before)
    matched = _matched(before, old, new)
    kept = _longest_rising(matched)
    kept_set = set(kept)
    found = [RowDifference("moved", i, j) for i, j in matched if (i, j) not in kept_set]
    taken_old = {i for i, _ in matched}
    taken_new = {j for _, j in matched}
    lost = [i for i in sorted(old) if i not in taken_old]
    fresh = [j for j in sorted(new) if j not in taken_new]
    rows = _Rows(engine, before, after)
    for gone, come in _gaps(kept, lost, fresh):
        pairs = rows.paired(gone, come)
        paired_old, paired_new = {i for i, _ in pairs}, {j for _, j in pairs}
        found += [RowDifference("changed", i, j) for i, j in pairs]
        found += [RowDifference("removed", i, None) for i in gone if i not in paired_old]
        found += [RowDifference("added", None, j) for j in come if j not in paired_new]
    changed = [(one.before, one.after) for one in found if one.kind == "changed"]
    return _ordered(found, sorted([*kept, *((i or 0, j or 0) for i, j in changed)]))


def cell_differences(before: dict[str, Any], after: dict[str, Any]) -> list[CellDifference]:
    """The cells in which two rows differ."""
    found: list[CellDifference] = []
    for column in {**before, **after}:
        if column not in after:
            found.append(CellDifference(column, before[column], None, "after"))
        elif column not in before:
            found.append(CellDifference(column, None, after[column], "before"))
        elif raw_text(before[column]) != raw_text(after[column]):
            found.append(CellDifference(column, before[column], after[column]))
    return found


def _differing(engine: Engine, one: TestSetVersion, other: TestSetVersion) -> dict[int, bytes]:
    """The rows of one version that are not stored for both, as hashes by position."""
    columns = test_set_rows.c.position, test_set_rows.c.content
    found: dict[int, bytes] = {}
    start = 0
    while True:
        statement = (
            select(*columns)
            .where(of_version(one), ~of_version(other), test_set_rows.c.position >= start)
            .order_by(test_set_rows.c.position)
            .limit(1_000)
        )
        with transaction(engine) as connection:
            batch = connection.execute(statement).all()
        for position, content in batch:
            found[position] = blake2b(content.encode(), digest_size=16).digest()
        if len(batch) < 1_000:
            return found
        start = batch[-1].position + 1


def _matched(
    before: TestSetVersion, old: dict[int, bytes], new: dict[int, bytes]
) -> list[tuple[int, int]]:
    """Positions of the same content in both, each used once, in the order of the first."""
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    for position, content in reversed(new.items()):
        places[content].append(position)
    matched: list[tuple[int, int]] = []
    for position in range(before.row_count):
        content = old.get(position)
        if content is None:
            matched.append((position, position))  # one stored row
        elif places[content]:
            matched.append((position, places[content].pop()))
    return matched


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most pairs that are in the same order in both."""
    ends: list[int] = []  # the second position at the end of the best chain of each length
    chains: list[int] = []  # the pair at that end
    links: list[int] = []
    for number, (_, after) in enumerate(pairs):
        length = bisect_left(ends, after)
        links.append(chains[length - 1] if length else -1)
        ends[length : length + 1] = [after]
        chains[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    number = chains[-1] if chains else -1
    while number >= 0:
        found.append(pairs[number])
        number = links[number]
    return found[::-1]


def _gaps(
    kept: Sequence[tuple[int, int]], lost: Sequence[int], fresh: Sequence[int]
) -> Iterator[tuple[list[int], list[int]]]:
    """Removed and added rows between the same two rows that stayed."""
    gaps: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    old_places, new_places = [i for i, _ in kept], [j for _, j in kept]
    for position in lost:
        gaps[bisect_left(old_places, position)][0].append(position)
    for position in fresh:
        gaps[bisect_left(new_places, position)][1].append(position)
    yield from gaps.values()


def _ordered(found: list[RowDifference], kept: Sequence[tuple[int, int]]) -> list[RowDifference]:
    """In the order of the second version; a removed row stands behind the row that it followed."""
    old_places = [i for i, _ in kept]

    def place(one: RowDifference) -> tuple[float, int]:
        if one.after is not None:
            return one.after, 1
        number = bisect_left(old_places, one.before or 0)
        return (kept[number - 1][1] + 0.5 if number else -1.0), one.before or 0

    return sorted(found, key=place)


def _filled(
    pairs: Sequence[tuple[int, int]], old_count: int, new_count: int
) -> Iterator[tuple[int, int]]:
    """The pairs, and as many rows on both sides between two of them one by one."""
    before = (-1, -1)
    for pair in (*pairs, (old_count, new_count)):
        if pair[0] - before[0] == pair[1] - before[1]:
            yield from zip(
                range(before[0] + 1, pair[0]), range(before[1] + 1, pair[1]), strict=True
            )
        if pair[0] < old_count:
            yield pair
        before = pair


class _Rows:
    """Pairs rows of two versions by what they have in common."""

    def __init__(self, engine: Engine, before: TestSetVersion, after: TestSetVersion) -> None:
        self._engine = engine
        self._before = before
        self._after = after

    def paired(self, gone: Sequence[int], come: Sequence[int]) -> list[tuple[int, int]]:
        """Removed and added rows that are one row which changed, in their order."""
        if not gone or not come:
            return []
        if len(gone) * len(come) > _MOST_PAIRS:
            return list(zip(gone, come, strict=False))
        old, new = self._values(self._before, gone), self._values(self._after, come)
        pairs: list[tuple[int, int]] = []
        first = 0
        for number, values in enumerate(old):
            alike = [len(values & new[other]) for other in range(first, len(come))]
            if alike and max(alike) > 0:
                chosen = first + alike.index(max(alike))
                pairs.append((number, chosen))
                first = chosen + 1
        filled = _filled(pairs, len(gone), len(come))
        return [(gone[i], come[j]) for i, j in filled]

    def _values(self, version: TestSetVersion, positions: Sequence[int]) -> list[set[str]]:
        statement = (
            select(test_set_rows.c.content)
            .where(of_version(version), test_set_rows.c.position.in_(positions))
            .order_by(test_set_rows.c.position)
        )
        with transaction(self._engine) as connection:
            rows = [raw_value(text) for text in connection.execute(statement).scalars()]
        return [{f"{name}:{raw_text(value)}" for name, value in row.items()} for row in rows]
