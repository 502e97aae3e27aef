"""The rows of the page of requirements."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.broken_code import ROOT

PAGE = ROOT / "docs/specification.md"


@dataclass(frozen=True)
class Row:
    """A requirement, the places of its code, and the tests that show it."""

    requirement: str
    places: list[str]
    tests: list[str]


def _row(line: str) -> Row:
    requirement, where, shown = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:4])
    places = [one for one in re.findall(r"`([^`]+)`", where) if not one.startswith("--")]
    return Row(requirement, places, re.findall(r"`([^`]+)`", shown))


ROWS = [
    _row(line)
    for line in PAGE.read_text().splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| Requirement"))
]
