"""Writing files: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

from greenroom.errors import DataError


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file. Until all of it is on the disk, whatever was there before stays as it is."""
    draft = path.parent / f".{uuid4().hex}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("xb") as file:
            # Half of a surrogate pair is no character: no file takes it.
            data = content.encode("utf-8", "replace") if isinstance(content, str) else content
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        _remove(draft)


def _remove(path: Path) -> None:
    # Moved into place it is gone already; what cannot be removed must not hide why.
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
