"""The progress display: a bar on a terminal or in a notebook, lines elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from greenroom.util.terminal import console, echo


@contextmanager
def progress_bar(title: str, total: int, *, shown: bool = True) -> Generator[Callable[[str], None]]:
    """Show how far a long job is: a bar, or a line per fifth of the work.

    Call what it gives once per finished piece, with a word on how things stand.
    """
    if not shown:
        yield lambda note: None
    elif sys.stderr.isatty() or "ipykernel" in sys.modules:
        with _bar(title, total) as advance:
            yield advance
    else:
        yield _line_printer(title, total)


@contextmanager
def _bar(title: str, total: int) -> Generator[Callable[[str], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", style="dim", markup=False),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, note="")
        yield lambda note: bar.update(task, advance=1, note=note)


def _line_printer(title: str, total: int) -> Callable[[str], None]:
    marks = {math.ceil(total * fifth / 5) for fifth in range(1, 6)} if total >= 5 else {total}
    done = 0

    def advance(note: str) -> None:
        nonlocal done
        done += 1
        if done in marks:
            echo(f"{title}: {done}/{total}{f' ({note})' if note else ''}", err=True)

    return advance
