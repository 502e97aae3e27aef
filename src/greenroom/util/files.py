"""Reading and writing files: regular ones within a limit, whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from greenroom.errors import DataError
from greenroom.util.characters import writable

PACK_LIMIT = 256 * 2**20
"""The most bytes that a pack or a checkout may hold, and so each of its files."""


def read_regular(path: Path, limit: int = PACK_LIMIT) -> bytes:
    """The content of a regular file.

    Raises DataError for a missing, large or irregular file. A FIFO or a device is never waited for.
    """
    try:
        # A FIFO opened like this returns at once, and what was opened is what is checked.
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise DataError(f"{path} is not a regular file: only those are read.")
            content = file.read(limit + 1)
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > limit:
        raise DataError(f"{path} is larger than {limit // 2**20} MB.")
    return content


def read_unpacked(path: Path, limit: int = PACK_LIMIT) -> bytes:
    """The content of a regular file; one that ends in .gz is unpacked, up to the same limit."""
    content = read_regular(path, limit)
    if path.suffix != ".gz":
        return content
    try:
        # A few bytes may unpack to more than this machine has.
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            unpacked = packed.read(limit + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"{path} cannot be unpacked: {error}.") from error
    if len(unpacked) > limit:
        raise DataError(f"{path} unpacks to more than {limit // 2**20} MB.")
    return unpacked


def check_inside(root: Path, paths: Iterable[Path], limit: int = PACK_LIMIT) -> None:
    """Raise DataError for a path that leads out of the root, and for too many bytes in all.

    A link could otherwise put any file of this machine into prompts, records and pages.
    """
    home, total = root.resolve(), 0
    for path in paths:
        try:
            inside = path.resolve().is_relative_to(home)
            total += path.stat().st_size if inside and path.is_file() else 0
        except (OSError, RuntimeError) as error:  # a link to itself is a RuntimeError
            raise DataError(f"{path} cannot be read: {error}.") from error
        if not inside:
            raise DataError(f"{path} leads out of {root}: links must stay inside. Copy the file.")
    if total > limit:
        raise DataError(f"{root} holds more than {limit // 2**20} MB.")


def check_directory(path: Path) -> None:
    """Raise DataError unless the directory of a file to be written exists: none is created."""
    if not path.resolve().parent.is_dir():
        raise DataError(f"There is no directory {path.parent}: create it, or name another.")


def write_whole(path: Path, content: str | bytes | Iterable[str | bytes]) -> None:
    """Write a file, all at once or piece by piece.

    Until all of it is on the disk, whatever was there before stays as it is. A link stays: its
    target is written. A device or a FIFO is written through. The directory must exist.
    """
    pieces = [content] if isinstance(content, (str, bytes)) else content
    draft = None
    try:
        place = path.resolve()
        if place.exists() and not place.is_file():
            with place.open("wb") as file:
                _write(file, pieces)
            return
        check_directory(path)
        draft = place.parent / f".{uuid4().hex}.tmp"
        with draft.open("xb") as file:
            _write(file, pieces)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(place)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        if draft is not None:
            _remove(draft)


def _remove(path: Path) -> None:
    # Once moved, it is gone. An error here must not hide the first one.
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return


def _write(file: BinaryIO, pieces: Iterable[str | bytes]) -> None:
    for piece in pieces:
        file.write(writable(piece).encode() if isinstance(piece, str) else piece)
