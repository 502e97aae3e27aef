"""How commands print: rich on a terminal, plain text and JSON elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

import typer

from greenroom.errors import InputError
from greenroom.util.raw_json import plain
from greenroom.util.terminal import console, echo, printable, printable_json


def print_table(
    title: str | None,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[str] = (),
    title_justify: Literal["left", "center"] = "left",
    **column: Any,
) -> None:
    """Print a table. `right` names columns of numbers."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=None if title is None else Text(title), title_justify=title_justify)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", **column)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console().print(table)


def confirm(question: str) -> None:
    """Ask before something is deleted; raise where nobody agrees or can be asked."""
    if not sys.stdin.isatty():
        raise InputError(f"{question} Nobody can be asked here: pass --yes.")
    if not typer.confirm(printable(question)):
        raise typer.Exit(1)


def print_json(value: Any) -> None:
    """Print a result as JSON; what has no value, such as an average of nothing, is null."""
    text = json.dumps(plain(value), indent=2, ensure_ascii=False)
    sys.stdout.write(printable_json(text) + "\n")


__all__ = ["confirm", "console", "echo", "print_json", "print_table", "printable"]
