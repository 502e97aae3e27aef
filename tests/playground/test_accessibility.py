"""Every page, light and dark: nothing that axe-core calls serious or critical."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.conftest import ROOT
from tests.playground.addresses import PAGES
from tests.playground.conftest import Enter, Running, running_playground, settle
from tests.playground.seeding import DESK, names_of, seed
from tests.playground.stores import fresh_store

pytestmark = pytest.mark.slow

AXE = (ROOT / "ui/node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Running, dict[str, Any]]]:
    """A playground with something of everything, and the names that addresses need."""
    with fresh_store(tmp_path_factory.mktemp("pages") / "all.db") as store:
        seed(store)
        with running_playground(store, [str(DESK)]) as running:
            yield running, names_of(running)


CALM = """Promise.all(document.getAnimations()
  .filter((one) => one.effect.getComputedTiming().endTime !== Infinity)
  .map((one) => one.finished.catch(() => null)))"""
"""What is being faded in is looked at when it is there."""


def violations(page: Page) -> list[str]:
    """What axe-core finds grave in a page."""
    page.evaluate(AXE)
    page.evaluate(CALM)
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{one['impact']} {one['id']}: {one['nodes'][0]['target']} ({len(one['nodes'])})"
        for one in found
        if one["impact"] in GRAVE
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_a_grave_fault(
    path: str, theme: str, seeded: tuple[Running, dict[str, Any]], enter: Enter
) -> None:
    running, names = seeded
    page = enter(running)
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto(f"{running.address}{path.format(**names)}")
    settle(page)
    assert violations(page) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_parts_of_a_page_scroll_and_never_the_window(
    width: int, seeded: tuple[Running, dict[str, Any]], enter: Enter
) -> None:
    running, names = seeded
    page = enter(running, width=width)
    for path in PAGES:
        page.goto(f"{running.address}{path.format(**names)}")
        settle(page)
        beyond = page.evaluate(
            "[[document.documentElement, innerWidth, innerHeight], "
            "[document.querySelector('main'), document.querySelector('main').clientWidth, 1e9]]"
            ".map(([part, width, height]) => "
            "[Math.max(0, part.scrollWidth - width), Math.max(0, part.scrollHeight - height)])"
        )
        assert beyond == [[0, 0], [0, 0]], path
