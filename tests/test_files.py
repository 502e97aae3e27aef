"""Files are written whole, through links and devices, and only where a directory is."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from greenroom.errors import DataError
from greenroom.store import StoreError, backup, open_store
from greenroom.util.files import write_whole
from tests.cli.running import Greenroom


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text("before")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    write_whole(link, "after")
    assert link.is_symlink()
    assert target.read_text() == "after"


def test_a_dangling_link_stays(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to("new.txt")
    write_whole(link, "after")
    assert link.is_symlink()
    assert (tmp_path / "new.txt").read_text() == "after"


def test_a_fifo_is_written_through(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(fifo.read_text()))
    reader.start()
    write_whole(fifo, "words")
    reader.join(10)
    assert heard == ["words"]
    assert fifo.is_fifo()


def test_a_device_is_written_through(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    write_whole(link, "words")
    assert link.is_symlink()
    assert Path("/dev/null").is_char_device()


def test_a_missing_directory_is_not_created(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(DataError, match="There is no directory"):
        write_whole(tmp_path / "a" / "b.txt", "words")
    done = Greenroom(capsys)("generate", "-o", tmp_path / "c" / "d")
    assert (done.status, "There is no directory" in done.err) == (2, True), done.err
    assert list(tmp_path.iterdir()) == []


def test_a_failed_backup_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(sqlite3.Connection):
        def backup(self, *_: object, **__: object) -> None:
            raise sqlite3.OperationalError("disk I/O error")

    store = open_store()
    connect = partial(sqlite3.connect, factory=Broken)
    monkeypatch.setattr("greenroom.store.migrations.sqlite3.connect", connect)
    target = tmp_path / "copy.db"
    with pytest.raises(StoreError, match="disk I/O error"):
        backup(store.engine, target)
    store.close()
    assert not target.exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from greenroom.util.files import write_whole

def pieces():
    yield b"the beginning"
    yield b"x" * 100_000
    os.kill(os.getpid(), signal.SIGKILL)
    yield b"the end"

write_whole(Path(sys.argv[1]), pieces())
"""


@pytest.mark.slow
@pytest.mark.parametrize("before", [None, "what was there"])
def test_a_process_that_is_killed_leaves_no_half_file(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "report.eval"
    if before is not None:
        path.write_text(before)
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (path.read_text() if path.exists() else None) == before


def test_several_writers_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "report.eval"
    texts = [str(number) * 200_000 for number in range(8)]

    def write(text: str) -> None:
        write_whole(path, (text[start : start + 1000] for start in range(0, len(text), 1000)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, texts))
    assert path.read_text() in texts
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
