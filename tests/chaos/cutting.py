"""A way to PostgreSQL that breaks in the worst moment: a statement is run, and nobody is told."""

from __future__ import annotations

import selectors
import shutil
import socket
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

_LARGEST = 2**16


class Cutter:
    """Forwards connections to a server, and cuts every other statement that has the `marker`."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.marker = b""
        """What is cut; nothing if it is empty."""
        self.most = 100
        """How many cuts there are at most."""
        self.cuts = 0
        self._found = 0
        self._server = server
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / server.name))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        # A thread that waits for connections does not notice that its socket is closed.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(str(self._server))
            selector = selectors.DefaultSelector()
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in selector.select():
                    source: socket.socket = key.fileobj  # pyright: ignore[reportAssignmentType]
                    data = source.recv(_LARGEST)
                    if not data:
                        return
                    key.data.sendall(data)
                    if source is client and self._cuts(data):
                        server.recv(_LARGEST)  # it is done
                        self.cuts += 1
                        return

    def _cuts(self, data: bytes) -> bool:
        if not self.marker or self.marker not in data or self.cuts >= self.most:
            return False
        self._found += 1
        return self._found % 2 == 1


@contextmanager
def cutting(server: Path) -> Generator[tuple[Cutter, Path]]:
    """A cutter before the server that listens there, and the folder of its own socket."""
    folder = Path(tempfile.mkdtemp(prefix="greenroom-cut-", dir="/tmp"))
    cutter = Cutter(folder, server)
    try:
        yield cutter, folder
    finally:
        cutter.close()
        shutil.rmtree(folder)
