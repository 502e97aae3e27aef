"""Temporary folders that do not outlive their process for long.

A folder's owner holds a lock on a file in it. The system releases the lock when the owner ends, in
whatever way. Whoever makes the next folder deletes those whose lock is free.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

_LOCK: Final = "owner.lock"


class OwnedFolder:
    """A temporary folder of this process; `close` deletes it.

    Its name begins with `prefix`, which tells what may be deleted. It is in `above`, or where the
    system has temporary files.
    """

    def __init__(self, prefix: str, above: str | None = None) -> None:
        above = above or tempfile.gettempdir()
        _remove_abandoned(prefix, above)
        self.path: Final = Path(tempfile.mkdtemp(prefix=prefix, dir=above))
        draft = self.path / f"{_LOCK}.new"
        self._lock = draft.open("xb")
        _try_lock(self._lock)
        # The file gets its name when it is locked: a folder in the making is not taken for free.
        draft.rename(self.path / _LOCK)

    def close(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def _remove_abandoned(prefix: str, above: str) -> None:
    """Delete the folders of this user whose process is gone."""
    if sys.platform == "win32":
        return
    for folder in Path(above).glob(f"{prefix}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with (folder / _LOCK).open("rb") as lock:
                if _try_lock(lock):
                    shutil.rmtree(folder, ignore_errors=True)


def _try_lock(file: BinaryIO) -> bool:
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
