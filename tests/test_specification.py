"""The page that maps requirements to modules and tests names only what exists."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.conftest import ROOT

PAGE = ROOT / "docs/specification.md"
ROWS = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and "`" in line]
COMMANDS = {"greenroom conformance", "--as completion"}


@cache
def names_of_tests() -> set[str]:
    texts = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    return {name for text in texts for name in re.findall(r"def (test_\w+)\(", text)}


def exists(place: str) -> bool:
    return any(
        next((ROOT / top).glob(place.rstrip("/")), None) for top in ("src/greenroom", "tests")
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:40])
def test_a_requirement_names_a_module_and_a_test_that_exist(row: str):
    _, requirement, where, shown, _ = re.split(r"(?<!\\)\|", row)
    assert requirement.strip()
    for cell in (where, shown):
        named = re.findall(r"`([^`]+)`", cell)
        assert named or "](" in cell or cell is shown, f"{requirement}: nothing is named"
        for one in named:
            if one in COMMANDS:
                continue
            if one.startswith("test_") and "." not in one:
                assert one in names_of_tests(), one
            else:
                assert exists(one if "/" in one or one.endswith(".py") else f"agents/{one}*"), one


def test_there_are_requirements_of_both_specifications():
    assert len(ROWS) > 40
