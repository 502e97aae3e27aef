"""Many open a new SQLite file at the same moment: all of them get in."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from greenroom.util.sqlite_files import use_wal

OPENERS = 8


@pytest.mark.slow
def test_all_who_open_a_new_file_at_once_get_in(tmp_path: Path):
    for number in range(20):
        path, together = tmp_path / f"{number}.db", Barrier(OPENERS)

        def opened(_: int, path: Path = path, together: Barrier = together) -> str:
            connection = sqlite3.connect(path, timeout=10)
            try:
                together.wait()
                use_wal(connection, 10)
                connection.execute("CREATE TABLE IF NOT EXISTS things (name TEXT)")
                return str(connection.execute("PRAGMA journal_mode").fetchone()[0])
            finally:
                connection.close()

        with ThreadPoolExecutor(OPENERS) as pool:
            assert set(pool.map(opened, range(OPENERS))) == {"wal"}


def test_what_is_no_database_is_told_at_once(tmp_path: Path):
    file = tmp_path / "notes.txt"
    file.write_text("this is no database, however long it may be; " * 40)
    connection = sqlite3.connect(file)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        use_wal(connection, 60)
    connection.close()


class NeverFree:
    def execute(self, _: str) -> None:
        raise sqlite3.OperationalError("database is locked")


def test_one_who_waits_too_long_gives_up():
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        use_wal(NeverFree(), 0.05)
