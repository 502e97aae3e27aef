"""A client that disappears without a word: in a network of its own, which is then cut off."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.waiting import wait_for

CLIENT = """
import socket, sys, time
from pathlib import Path

host, port, path, token, seen = sys.argv[1:]
body = b'{"messages": [{"role": "user", "content": "hello"}], "stream": true}'
head = f"POST {path} HTTP/1.1\\r\\nHost: {host}\\r\\nAuthorization: Bearer {token}\\r\\n"
connection = socket.create_connection((host, int(port)))
connection.sendall(f"{head}Content-Length: {len(body)}\\r\\n\\r\\n".encode() + body)
assert connection.recv(20).startswith(b"HTTP/1.1 200"), "the answer begins"
Path(seen).touch()
time.sleep(600)  # without reading, and without closing
"""


@dataclass
class Network:
    """A network with this machine at one end, and clients at the other."""

    name: str
    host: str
    clients: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    def start_client(self, port: int, path: str, token: str, seen: Path) -> None:
        """Start a client, and wait until it has the beginning of its answer."""
        command = ["ip", "netns", "exec", self.name, sys.executable, "-c", CLIENT]
        self.clients.append(
            subprocess.Popen([*command, self.host, str(port), path, token, str(seen)])
        )
        wait_for(seen.exists, f"the beginning of {path}")

    def cut(self) -> None:
        """Cut it off: nothing comes through any more, no goodbye either."""
        _ip("link", "set", self.name, "down")


def _ip(*arguments: str) -> bool:
    return not subprocess.run(["ip", *arguments], capture_output=True, check=False).returncode


@contextmanager
def network() -> Generator[Network | None]:
    """A network of its own; None where it may not be made."""
    number = os.getpid() % 60_000
    name, inner = f"gr{number}", f"gi{number}"
    place = f"10.{200 + number // 2**14}.{number // 2**6 % 2**8}.{number % 2**6 * 4}"
    start, last = place.rsplit(".", 1)
    host, client = f"{start}.{int(last) + 1}", f"{start}.{int(last) + 2}"
    made = (
        ("netns", "add", name),
        ("link", "add", name, "type", "veth", "peer", "name", inner),
        ("link", "set", inner, "netns", name),
        ("addr", "add", f"{host}/30", "dev", name),
        ("link", "set", name, "up"),
        ("-n", name, "addr", "add", f"{client}/30", "dev", inner),
        ("-n", name, "link", "set", inner, "up"),
    )
    found = Network(name, host)
    try:
        yield found if all(_ip(*step) for step in made) else None
    finally:
        for process in found.clients:
            process.kill()
            process.wait()
        _ip("netns", "del", name)
        _ip("link", "del", name)
