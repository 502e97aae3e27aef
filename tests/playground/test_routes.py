"""The addresses of the pages: each one is walked by the tests of all pages."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from tests.conftest import ROOT
from tests.playground.addresses import PAGES

_PATH = re.compile(r'\bpath: "(/[^"]*)"')


def declared() -> list[str]:
    """The paths that the pages declare, with `$name` for a part that varies."""
    sources = (ROOT / "ui/src").rglob("*.tsx")
    return sorted({path for file in sources for path in _PATH.findall(file.read_text("utf-8"))})


def test_every_page_is_walked() -> None:
    assert len(declared()) > 10
    walked = [urlsplit(page).path for page in PAGES]
    for path in declared():
        pattern = re.compile(re.sub(r"\$\w+", "[^/]+", path))
        assert any(map(pattern.fullmatch, walked)), f"tests/playground/addresses.py lacks {path}"
