"""Code of others that asks Python to end: it has failed, and this process goes on."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


class CalledExit(Exception):
    """Code that was to do something called `sys.exit` instead."""


@contextmanager
def no_exit() -> Generator[None]:
    """Let `sys.exit` in the block be an error as any other."""
    try:
        yield
    except SystemExit as error:
        raise CalledExit(f"sys.exit({error.code!r}) was called") from error


__all__ = ["CalledExit", "no_exit"]
