"""The tour of docs/tour.md, taken step by step as a new user takes it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, Page

from tests.conftest import ROOT
from tests.playground.conftest import Enter, running_playground, settle
from tests.playground.seeding import DESK, play
from tests.playground.stores import fresh_store

pytestmark = pytest.mark.slow

TOUR = (ROOT / "docs/tour.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^```tour\n(.*?)^```", TOUR, re.MULTILINE | re.DOTALL)
ROLES = ("button", "link", "tab", "menuitem", "option", "cell", "row")


@pytest.mark.timeout(180)
def test_the_tour_can_be_taken(tmp_path: Path, enter: Enter) -> None:
    assert len(STEPS) >= 6
    with fresh_store(tmp_path / "demo.db") as store:
        play(store, "oracle", "oracle", tasks=12, trials=4)
        play(store, "synthetic", "synthetic", tasks=12, trials=4)
        with running_playground(store, [str(DESK)]) as running:
            page = enter(running)
            for line in (line for step in STEPS for line in step.splitlines()):
                try:
                    _take(page, running.address, line)
                except PlaywrightError as error:
                    page.screenshot(path=tmp_path / "here.png")
                    pytest.fail(f"{line} ({tmp_path}/here.png): {error}")


def _take(page: Page, address: str, line: str) -> None:
    """Do what a line says: open, click, fill, choose, press, see."""
    match shlex.split(line):
        case ["open", path]:
            page.goto(f"{address}{path}")
            settle(page)
        case ["click", name]:
            _named(page, name).click()
        case ["fill", name, "with", text]:
            page.get_by_label(name).last.fill(text)
        case ["choose", option, "in", name]:
            field = page.get_by_label(name).first
            found = field.locator("option", has_text=option).first
            found.wait_for(state="attached")
            field.select_option(found.get_attribute("value"))
        case ["press", key]:
            page.keyboard.press(key)
        case ["see", text]:
            page.get_by_text(text).filter(visible=True).first.wait_for()
        case _:
            pytest.fail(f"docs/tour.md has a line that nobody can follow: {line}")


def _named(page: Page, name: str) -> Locator:
    """What can be clicked under this name."""
    found = page.get_by_role(ROLES[0], name=name, exact=True)
    for role in ROLES[1:]:
        found = found.or_(page.get_by_role(role, name=name, exact=True))
    return found.first
