"""Stores for fixtures that outlive a test."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import make_url

from greenroom.store import Store, open_engine


@contextmanager
def fresh_store(path: Path) -> Generator[Store]:
    """An empty store in a file."""
    store = Store(open_engine(make_url(f"sqlite:///{path}")))
    yield store
    store.close()
