"""A report as Markdown: for a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenroom.reports import tabular, texts
from greenroom.reports.sections import Column, Failures, Grid, GridItem, Report, Row
from greenroom.reports.templates import Names, template
from greenroom.store.outcomes import OUTCOMES

MOST = {"worst": 10, "listed": 120, "explained": 60, "rows": 60}
"""How much is listed: a comment on a pull request has room for 65,536 characters."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~!$])")
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_LIST_START = re.compile(r"^(\d+(?=[.)](?:\s|$))|(?=[-+=]))")
_BLANK_LINES = re.compile(r"\n{3,}")


def render_markdown(report: Report) -> str:
    """The report with its headline first and its details folded."""
    text = template("report.md.jinja", _words).render(report=report, most=MOST)
    return _BLANK_LINES.sub("\n\n", text).strip() + "\n"


def escape(text: str, limit: int | None = None) -> str:
    """Text from data as one line of Markdown that means nothing but itself."""
    line = texts.one_line(text, limit)
    line = _SPECIAL.sub(r"\\\1", line).replace("://", "\\://")
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _LIST_START.sub(r"\1\\", line)
    # No one is notified because a task mentions them.
    return _MENTION.sub("@\u200b", line)


def _words() -> tuple[Names, Names]:
    filters = {
        "cells": _cells,
        "fenced": _fenced,
        "md": escape,
        "plural": texts.plural,
        "rule": _rule,
        "unsolved": _unsolved,
    }
    symbols = ", ".join(f"{one.symbol} {one.label.lower()}" for one in OUTCOMES.values())
    return filters, {"labels": _labels, "legend": symbols, "tabular": tabular}


def _cells(row: Row, columns: Sequence[Column]) -> list[str]:
    shown = [
        escape(texts.cell_text(cell, column), 200 if column.format == "text" else None)
        for cell, column in zip(row.cells, columns, strict=True)
    ]
    return [f"**{text}**" if row.strong and text else text for text in shown]


def _rule(column: Column) -> str:
    return "---:" if column.right else "---"


def _unsolved(grid: Grid) -> list[GridItem]:
    """The items that were not always solved, the worst first."""
    return tabular.worst_first(one for one in grid.items if one.score is not None and one.score < 1)


def _labels(section: Failures) -> dict[str, str]:
    return {kind.kind: kind.label for kind in section.kinds}


def _fenced(text: str) -> str:
    """Text of several lines in a fence that it cannot close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = "\n".join(texts.one_line(line, spaces=True) for line in text.splitlines())
    return f"{fence}text\n{lines}\n{fence}"
