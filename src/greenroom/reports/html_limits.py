"""How much of a report a page holds: what a person can read and a browser can open.

A page of any size of run stays below 20 MB. What is left out is told where it would stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TypeVar

from greenroom.reports import sections
from greenroom.reports.sections import AnySection, Report
from greenroom.reports.texts import plural

T = TypeVar("T")

MOST_CONVERSATIONS = 2_000
CONVERSATION_BYTES = 9_000_000
"""Of all conversations of a page together."""

_MOST_ROWS = 2_000
_MOST_CELLS = 5_000
_SECTION_BYTES = 2_500_000
_LONGEST_TEXT = 200_000


def readable(report: Report) -> Report:
    """The report with as much of each long section as a page holds."""
    return report.model_copy(update={"sections": [_cut(one) for one in report.sections]})


def weight(value: object) -> int:
    """The bytes that a value takes on a page, at most."""
    return len(escape(repr(value)).encode("utf-8", "replace"))


def within(items: Iterable[T], most: int, size: int) -> Iterator[T]:
    """The first items, as many as are wanted and as fit; one that is too large is left out."""
    left = size
    for item in items:
        needed = weight(item)
        if needed <= left:
            left, most = left - needed, most - 1
            yield item
        if not most:
            return


def _cut(section: AnySection) -> AnySection:
    if isinstance(section, sections.Failures):
        listed = within(section.failures, _MOST_ROWS, _SECTION_BYTES)
        return section.model_copy(update={"failures": list(listed)})
    if isinstance(section, sections.Grid):
        return _cut_grid(section)
    if isinstance(section, sections.Table):
        rows = list(within(section.rows, _MOST_ROWS, _SECTION_BYTES))
        return _told(section, {"rows": rows}, len(section.rows) - len(rows), "row")
    if isinstance(section, sections.Chart):
        series = [
            one.model_copy(update={"points": one.points[:_MOST_ROWS]}) for one in section.series
        ]
        left = sum(max(0, len(one.points) - _MOST_ROWS) for one in section.series)
        return _told(section, {"series": series}, left, "point")
    if isinstance(section, sections.Text):
        left = len(section.text) - _LONGEST_TEXT
        return _told(section, {"text": section.text[:_LONGEST_TEXT]}, left, "character")
    return section


def _cut_grid(grid: sections.Grid) -> AnySection:
    trials = grid.trials[: max(1, _MOST_CELLS // max(1, min(len(grid.items), _MOST_ROWS)))]
    narrow = (
        item.model_copy(update={"outcomes": item.outcomes[: len(trials)]}) for item in grid.items
    )
    items = list(within(narrow, _MOST_ROWS, _SECTION_BYTES))
    cut = _told(grid, {"items": items}, len(grid.items) - len(items), grid.item)
    return _told(cut, {"trials": trials}, len(grid.trials) - len(trials), grid.trial)


def _told(section: AnySection, kept: dict[str, object], left: int, noun: str) -> AnySection:
    if left <= 0:
        return section
    note = f"{plural(left, f'more {noun}')} not on this page: an export has everything."
    return section.model_copy(update={**kept, "notes": [*section.notes, note]})
