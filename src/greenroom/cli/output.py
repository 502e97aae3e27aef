"""How commands print: rich on a terminal, plain text and JSON elsewhere."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Where results are printed; wide when piped, so that no line is cut."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120, highlight=False)


def print_table(
    title: str | None,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[str] = (),
    title_justify: Literal["left", "center"] = "left",
    **column: Any,
) -> None:
    """Print a table; its texts are never read as markup. `right` names columns of numbers."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=None if title is None else Text(title), title_justify=title_justify)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", **column)
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


def print_json(value: Any) -> None:
    """Print a result as JSON; what has no value, such as an average of nothing, is null."""
    text = json.dumps(_plain(value), indent=2, ensure_ascii=False)
    # Half a surrogate pair is no character: no stream takes it.
    sys.stdout.write(text.encode("utf-8", "replace").decode() + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast("list[Any]", value)]
    return value
