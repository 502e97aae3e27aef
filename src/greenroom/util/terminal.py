"""The one way to a terminal: texts are never markup, and never control it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment

# Controls but tab and newline, what turns the direction of text, halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


# JSON escapes the controls before the space by itself.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text without characters that could control a terminal."""
    return text if text.isprintable() else _UNSAFE.sub("", text)


def printable_json(text: str) -> str:
    """JSON text with those characters escaped, which leaves its value as it is."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class _Stderr:
    """Standard error. Nothing fails if nobody reads it any more: the terminal may be closed."""

    def write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)


def console(*, stderr: bool = False) -> Console:
    """Where results are printed; wide when piped, so that no line is cut.

    Square brackets and words such as :smile: are printed as they are; use `style=` for styles.
    """
    stream = sys.stderr if stderr else sys.stdout
    return _console_type()(
        stderr=stderr,
        file=cast("IO[str]", _Stderr()) if stderr else None,
        width=None if stream.isatty() else 120,
        markup=False,
        emoji=False,
        highlight=False,
    )


@cache
def _console_type() -> type[Console]:
    # rich takes a while to import, so it is imported when something is printed.
    from rich.console import Console, ConsoleOptions, RenderableType

    class SafeConsole(Console):
        """A console that cleans all texts; rich's own escape sequences stay."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else _cleaned(segment)

    return SafeConsole


def _cleaned(segment: Segment) -> Segment:
    text = printable(segment.text)
    return segment if text is segment.text else segment._replace(text=text)


def echo(text: Any, *, err: bool = False) -> None:
    """Print a line of text to standard output, or to standard error."""
    stream = _Stderr() if err else sys.stdout
    stream.write(f"{printable(str(text))}\n")
    stream.flush()
