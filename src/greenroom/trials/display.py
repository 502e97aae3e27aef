"""The progress display: a bar on a terminal or in a notebook, lines elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from greenroom.util.terminal import console, echo

_Show = Callable[[int, int, str], None]
"""Shows how many pieces are finished, given how many were so before."""


@dataclass
class Display:
    """How far a long job is. Call it once per finished piece, with a word on how things stand."""

    _show: _Show
    _done: int = 0

    def __call__(self, note: str) -> None:
        self.stand(self._done + 1, note)

    def stand(self, done: int, note: str) -> None:
        """Show that so many pieces are finished."""
        before, self._done = self._done, done
        self._show(before, done, note)


@contextmanager
def progress_bar(title: str, total: int, *, shown: bool = True) -> Generator[Display]:
    """Show how far a long job is: a bar, or a line per fifth of the work."""
    if not shown:
        yield Display(lambda before, done, note: None)
    elif sys.stderr.isatty() or "ipykernel" in sys.modules:
        with _bar(title, total) as show:
            yield Display(show)
    else:
        yield Display(_line_printer(title, total))


@contextmanager
def _bar(title: str, total: int) -> Generator[_Show]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    # In a narrow terminal the note is cut, and not the numbers.
    numbers = Column(no_wrap=True, min_width=2 * len(str(total)) + 1)
    seconds, note = Column(no_wrap=True, min_width=7), Column(ratio=1, no_wrap=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(table_column=numbers),
        TimeElapsedColumn(table_column=seconds),
        TextColumn("{task.fields[note]}", style="dim", markup=False, table_column=note),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, note="")
        yield lambda before, done, note: bar.update(task, completed=done, note=note)


def _line_printer(title: str, total: int) -> _Show:
    marks = {math.ceil(total * fifth / 5) for fifth in range(1, 6)} if total >= 5 else {total}

    def show(before: int, done: int, note: str) -> None:
        if any(before < mark <= done for mark in marks):
            echo(f"{title}: {done}/{total}{f' ({note})' if note else ''}", err=True)

    return show
