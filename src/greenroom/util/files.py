"""Writing files: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

from greenroom.errors import DataError


def write_whole(path: Path, content: str | bytes | Iterable[str | bytes]) -> None:
    """Write a file, all at once or piece by piece.

    Until all of it is on the disk, whatever was there before stays as it is.
    """
    draft = path.parent / f".{uuid4().hex}.tmp"
    pieces = [content] if isinstance(content, (str, bytes)) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("xb") as file:
            for piece in pieces:
                file.write(piece.encode() if isinstance(piece, str) else piece)
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
