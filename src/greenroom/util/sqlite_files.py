"""SQLite files that several processes share."""

from __future__ import annotations

import time
from typing import Any

_PAUSE_SECONDS = 0.01


def use_wal(connection: Any, seconds: float) -> None:
    """Have readers and a writer go on side by side in a connection's file, from now on.

    The first processes to open a new file switch it at the same moment. SQLite then says at once
    that it is locked, whatever the connection's time limit; so the waiting is done here.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except Exception as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return
