"""Each rule of the page on security names a module and a test that exist."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tests.test_specification import places_of_tests

PAGE = (ROOT / "docs/security.md").read_text()
ENFORCED = PAGE.partition("## What is enforced")[2].partition("\n##")[0]
ROWS = [line for line in ENFORCED.splitlines() if line.startswith("| ") and "`" in line]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:60])
def test_an_enforced_rule_names_its_module_and_its_tests(row: str) -> None:
    _, rule, where, shown, _ = row.split("|")
    tests = re.findall(r"`(test_\w+)`", shown)
    assert rule.strip()
    assert tests, "no test is named"
    assert set(tests) <= places_of_tests().keys()
    for module in re.findall(r"`([^`]+)`", where):
        assert (ROOT / "src/greenroom" / module).is_file(), module


def test_every_enforced_rule_is_read() -> None:
    rules = [line for line in ENFORCED.splitlines() if line.startswith("| ")]
    headings = [line for line in rules if "**" in line or line.startswith(("| Rule", "| ---"))]
    assert len(ROWS) == len(rules) - len(headings) >= 20
