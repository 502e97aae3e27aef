"""`make pictures`: the pictures of the playground in docs/, from a store made for them.

python -m tools.pictures                 write the pictures of docs/
python -m tools.pictures --all FOLDER    every page, wide and narrow, light and dark
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page
from tests.browser import running_browser
from tests.playground.addresses import PAGES
from tests.playground.conftest import Running, running_playground, settle
from tests.playground.seeding import DESK, names_of, seed
from tests.playground.stores import fresh_store

ROOT = Path(__file__).resolve().parent.parent
DOCS = {
    "playground-chat": "/boards/{chat}",
    "playground-run": "/runs/monday",
    "playground-episode": "/runs/monday/episodes/{task}/{trial}",
    "playground-evaluation": "/evaluations/desk",
    "playground-test-set": "/test-sets/questions",
}
WIDTHS = {"wide": (1280, 900), "narrow": (390, 844)}
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")


def main(arguments: Sequence[str]) -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description="Take pictures of the playground.")
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every page, for review")
    parser.add_argument("--only", default="", help="pages whose address has this text")
    asked = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory() as folder,
        fresh_store(Path(folder) / "pictures.db") as store,
    ):
        seed(store)
        with running_playground(store, [str(DESK)]) as running, running_browser() as browser:
            names = names_of(running)
            if asked.all is None:
                for name, path in DOCS.items():
                    page = _entered(browser, running, "wide", "light")
                    _take(page, running, path.format(**names), ROOT / f"docs/{name}.png")
                return
            asked.all.mkdir(parents=True, exist_ok=True)
            pages = [path for path in PAGES if asked.only in path]
            _take_all(browser, running, [path.format(**names) for path in pages], asked.all)


def _take_all(browser: Browser, running: Running, paths: Sequence[str], folder: Path) -> None:
    for width in WIDTHS:
        for theme in THEMES:
            page = _entered(browser, running, width, theme)
            for path in paths:
                name = path.strip("/").replace("/", "_").replace("?", "_") or "start"
                _take(page, running, path, folder / f"{name[:60]}-{width}-{theme}.png")
            page.context.close()


def _entered(browser: Browser, running: Running, width: str, theme: Theme) -> Page:
    across, down = WIDTHS[width]
    size: Any = {"width": across, "height": down}
    context = browser.new_context(viewport=size, color_scheme=theme)
    page = context.new_page()
    page.goto(running.link)
    page.wait_for_url(f"{running.address}/")
    return page


def _take(page: Page, running: Running, path: str, file: Path) -> None:
    page.goto(f"{running.address}{path}")
    settle(page)
    page.screenshot(path=file)
    print(f"Wrote {file}")


if __name__ == "__main__":
    main(sys.argv[1:])
