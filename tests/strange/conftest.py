from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from greenroom import store as stores
from tests.cli.running import Greenroom


@pytest.fixture
def greenroom(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Generator[Greenroom]:
    """The command. Each opens the store for itself, which in life ends with its process."""
    opened: list[stores.Store] = []
    open_store = stores.open_store

    def noted(*given: Any, **options: Any) -> stores.Store:
        opened.append(open_store(*given, **options))
        return opened[-1]

    monkeypatch.setattr(stores, "open_store", noted)
    yield Greenroom(capsys)
    for store in opened:
        store.close()
