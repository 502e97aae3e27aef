"""A file that is written in memory, piece by piece."""

from __future__ import annotations

import io
from typing import Any


class Pieces(io.RawIOBase):
    """A file whose content is taken away while it is being written."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._before = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._content += data
        return len(data)

    def tell(self) -> int:
        return self._before + len(self._content)

    def taken(self) -> bytes:
        content = bytes(self._content)
        self._before += len(content)
        self._content.clear()
        return content
