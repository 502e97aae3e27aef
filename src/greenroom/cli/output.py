"""How commands print: rich on a terminal, plain text and JSON elsewhere."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Where results are printed; wide when piped, so that no line is cut."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120, highlight=False)


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


@contextmanager
def progress(title: str, total: int, *, shown: bool = True) -> Generator[Callable[[str], None]]:
    """Show how far a long job is: a bar on a terminal, a line per fifth of it elsewhere.

    Call what it gives once per finished piece, with a word on how things stand.
    """
    if not shown:
        yield lambda note: None
    elif sys.stderr.isatty():
        with _bar(title, total) as advance:
            yield advance
    else:
        yield _line_printer(title, total)


@contextmanager
def _bar(title: str, total: int) -> Generator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, note="")
        yield lambda note: bar.update(task, advance=1, note=note)


def _line_printer(title: str, total: int) -> Callable[[str], None]:
    marks = {math.ceil(total * fifth / 5) for fifth in range(1, 6)} if total >= 5 else {total}
    done = 0

    def advance(note: str) -> None:
        nonlocal done
        done += 1
        if done in marks:
            sys.stderr.write(f"{title}: {done}/{total}{f' ({note})' if note else ''}\n")

    return advance
