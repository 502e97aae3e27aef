"""Docstrings of tools, read as tau2-bench reads them.

The first line is the short description, what follows before the first section the long one. The
sections are Google's: `Args:` with an indented entry per argument.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_SECTIONS: Final = (
    "Arguments|Args|Parameters|Params|Raises|Exceptions|Except|Attributes|Example|Examples|Returns"
    "|Yields"
)
_TITLE: Final = re.compile(rf"^({_SECTIONS}):[ \t\r\f\v]*$", re.MULTILINE)
_ARGUMENTS: Final = ("Arguments", "Args", "Parameters", "Params")
_TYPED: Final = re.compile(r"\s*(.+?)\s*\(\s*(.*[^\s]+)\s*\)")

_UNLOCKED_ARGUMENT: Final = re.compile(r"^\s*(\w+)\s*(?:\(([^)]+)\))?\s*:\s*(.+?)$", re.MULTILINE)
_DONE: Final = "Action completed successfully."


@dataclass(frozen=True)
class Docstring:
    """What a docstring says of a tool and of its arguments."""

    short: str = ""
    long: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def description(self) -> str:
        """The description that a model reads."""
        return f"{self.short}\n\n{self.long}" if self.long else self.short


def read_docstring(text: str | None) -> Docstring:
    """Read a docstring.

    >>> read_docstring('''Light a lamp.
    ...
    ...     Ask first.
    ...
    ...     Args:
    ...         lamp: Which one.
    ...     ''')
    Docstring(short='Light a lamp.', long='Ask first.', arguments={'lamp': 'Which one.'})
    """
    clean = inspect.cleandoc(text or "")
    titles = list(_TITLE.finditer(clean))
    described = clean[: titles[0].start()] if titles else clean
    short, _, rest = described.partition("\n")
    arguments: dict[str, str] = {}
    for place, title in enumerate(titles):
        end = titles[place + 1].start() if place + 1 < len(titles) else len(clean)
        if title[1] in _ARGUMENTS:
            arguments |= dict(_entries(clean[title.end() : end]))
    return Docstring(short, rest.strip(), arguments)


def _entries(section: str) -> Iterator[tuple[str, str]]:
    # A line without indentation ends the section.
    ended = re.search(r"\n\S", section)
    chunk = (section[: ended.start()] if ended else section).strip("\n")
    indent = re.match(r"[ \t]*", chunk)
    starts = [
        found.start()
        for found in re.finditer(rf"^{indent[0] if indent else ''}(?=\S)", chunk, re.MULTILINE)
    ]
    for start, end in zip(starts, [*starts[1:], len(chunk)], strict=True):
        name, colon, text = chunk[start:end].strip("\n").partition(":")
        typed = _TYPED.match(name)
        if colon:
            yield (typed[1] if typed else name.strip()), _description(text)


def _description(text: str) -> str:
    first, newline, rest = text.removeprefix(" ").partition("\n")
    return (first + newline + inspect.cleandoc(rest)).strip("\n") if newline else first


def unlock_text(name: str, text: str | None) -> dict[str, Any]:
    """What is told of a discoverable tool: description, parameters, and what it says at the end."""
    described, *sections = re.split(r"\n\s*Args:\s*\n", inspect.cleandoc(text or ""), maxsplit=1)
    arguments, *results = (
        re.split(r"\n\s*Returns:\s*\n", sections[0], maxsplit=1) if sections else [""]
    )
    return {
        "name": name,
        "description": described.strip(),
        "parameters": {
            argument: _parameter(kind or "string", words)
            for argument, kind, words in _UNLOCKED_ARGUMENT.findall(arguments)
        },
        "success_message": results[0].strip().split("\n")[0].strip() if results else _DONE,
    }


def _parameter(kind: str, words: str) -> dict[str, Any]:
    bare = re.sub(r",?\s*optional", "", kind, flags=re.IGNORECASE).strip()
    return {
        "type": bare or "string",
        "description": words.strip(),
        "required": "optional" not in kind.lower(),
    }


__all__ = ["Docstring", "read_docstring", "unlock_text"]
