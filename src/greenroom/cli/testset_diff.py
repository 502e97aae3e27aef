"""The differences of two versions of a test set, for `greenroom testset diff`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from greenroom.cli.output import console
from greenroom.store import Store, TestSetVersion
from greenroom.store.test_set_differences import CellDifference, RowDifference, cell_differences
from greenroom.util.raw_json import raw_text

_SHOWN_CHARACTERS = 200


def difference_facts(
    store: Store,
    before: TestSetVersion,
    after: TestSetVersion,
    found: Sequence[RowDifference],
    limit: int,
) -> dict[str, Any]:
    """The differences as JSON; rows count from 1."""
    return {
        "from": str(before),
        "to": str(after),
        "counts": dict(Counter(one.kind for one in found)),
        "rows": [
            {
                "kind": one.kind,
                "before": None if one.before is None else one.before + 1,
                "after": None if one.after is None else one.after + 1,
                "cells": {
                    cell.column: {
                        side: value
                        for side, value in (("before", cell.before), ("after", cell.after))
                        if cell.absent != side
                    }
                    for cell in cells
                },
            }
            for one, cells in _cells(store, before, after, found[:limit])
        ],
    }


def print_differences(
    store: Store,
    before: TestSetVersion,
    after: TestSetVersion,
    found: Sequence[RowDifference],
    limit: int,
) -> None:
    """The differences for people."""
    out = console()
    counts = Counter(one.kind for one in found)
    words = ", ".join(
        f"{number} {'row' if number == 1 else 'rows'} {kind}" for kind, number in counts.items()
    )
    out.print(f"{before} to {after}: {words or 'the same rows'}", soft_wrap=True)
    for one, cells in _cells(store, before, after, found[:limit]):
        out.print(_line(one), soft_wrap=True, markup=False)
        for cell in cells:
            was = "-" if cell.absent == "before" else _short(cell.before)
            now = "-" if cell.absent == "after" else _short(cell.after)
            shown = {"added": now, "removed": was, "moved": now}.get(one.kind, f"{was} -> {now}")
            out.print(f"  {cell.column}: {shown}", soft_wrap=True, style="dim", markup=False)
    if len(found) > limit:
        out.print(f"{len(found) - limit} more: see --rows", soft_wrap=True)


def _cells(
    store: Store, before: TestSetVersion, after: TestSetVersion, found: Sequence[RowDifference]
) -> Iterator[tuple[RowDifference, list[CellDifference]]]:
    for one in found:
        # Of a row that moved, both sides are the same.
        old = {} if one.kind == "moved" else _row(store, before, one.before)
        yield one, cell_differences(old, _row(store, after, one.after))


def _row(store: Store, version: TestSetVersion, position: int | None) -> dict[str, Any]:
    return {} if position is None else next(store.test_sets.rows(version, start=position, limit=1))


def _line(one: RowDifference) -> str:
    was, now = (one.before or 0) + 1, (one.after or 0) + 1
    if one.kind == "moved":
        return f"Row {was} moved to row {now}"
    if one.kind == "changed" and was != now:
        return f"Row {now}, which was row {was}, changed"
    number = was if one.kind == "removed" else now
    return f"Row {number} {'changed' if one.kind == 'changed' else f'was {one.kind}'}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else raw_text(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]} ..."
