"""A Ray cluster of several node processes on this machine, each of which can be killed."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

_SCRIPT = Path(sys.executable).with_name("ray")
_OPTIONS = (
    "--block",
    "--disable-usage-stats",
    "--include-log-monitor=false",
    *("--node-ip-address", "127.0.0.1"),
    *("--object-store-memory", str(80 * 2**20)),
    # Those of its own choice would be the same for all nodes of a machine.
    *("--min-worker-port", "0", "--max-worker-port", "0"),
)


class Node:
    """A node: its raylet, and all that this has started."""

    def __init__(self, log: Path, *options: str) -> None:
        self._log = log
        with log.open("wb") as printed:
            self.process = subprocess.Popen(
                [_SCRIPT, "start", *options, *_OPTIONS],
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_until_ready(self) -> None:
        """Wait until it has joined its cluster."""
        deadline = time.monotonic() + 120
        while "Ray runtime started" not in (said := self._log.read_text(errors="replace")):
            assert self.process.poll() is None, said
            assert time.monotonic() < deadline, said
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill its raylet, as a machine that is lost; what it started has to end by itself."""
        for pid in children(self.process.pid):
            if "raylet/raylet" in command(pid):
                os.kill(pid, signal.SIGKILL)

    def leave(self) -> None:
        """Leave the cluster as a machine that is shut down: nobody has to find out."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        self.end()

    def end(self) -> None:
        """End all of its processes."""
        # Those of a group end together, also where one was killed.
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Cluster:
    """A head node, and nodes that join it."""

    def __init__(self, folder: Path, cpus: int) -> None:
        self._folder = folder
        self._nodes: list[Node] = []
        self.session = folder / "ray"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        self.address = f"127.0.0.1:{port}"
        options = ("--head", "--port", port, "--include-dashboard", "false", "--no-monitor")
        self._add(cpus, *options, "--temp-dir", str(self.session))

    @contextmanager
    def joined(self, cpus: int) -> Generator[Node]:
        """A node with room for so many workers, which leaves in the end."""
        node = self._add(cpus, "--address", self.address)
        try:
            yield node
        finally:
            node.leave()

    def _add(self, cpus: int, *options: str) -> Node:
        log = self._folder / f"node-{len(self._nodes)}.log"
        node = Node(log, *options, "--num-cpus", str(cpus))
        self._nodes.append(node)
        try:
            # Two nodes that start at once would choose the same names for their sockets.
            node.wait_until_ready()
        except BaseException:
            self.close()
            raise
        return node

    def close(self) -> None:
        """End all nodes, and what has lost its node and is about to end."""
        for node in reversed(self._nodes):
            node.end()
        for pid in _processes():
            words = command(pid)
            of_ray = words.startswith("ray::") or "/ray/" in words or "greenroom worker" in words
            if of_ray and _has_token(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@contextmanager
def ray_environment() -> Generator[dict[str, str]]:
    """The variables with which Ray asks for a token that is not kept in anybody's home."""
    added = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    before = {name: os.environ.get(name) for name in (*added, "RAY_ADDRESS")}
    os.environ.pop("RAY_ADDRESS", None)
    os.environ.update(added)
    try:
        yield added
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def running_cluster(cpus: int) -> Generator[Cluster]:
    """A cluster of one node with room for so many workers; it needs `ray_environment`."""
    # The paths of Ray's sockets must be short.
    folder = Path(tempfile.mkdtemp(prefix="greenroom-nodes-", dir="/tmp"))
    try:
        with closing(Cluster(folder, cpus)) as cluster:
            yield cluster
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def children(pid: int) -> list[int]:
    """The processes that a process has started and that are there."""
    return [one for one in _processes() if _parent(one) == pid]


def descendants(pid: int) -> list[int]:
    """Those, and the ones that they have started."""
    return [one for child in children(pid) for one in (child, *descendants(child))]


def command(pid: int) -> str:
    """The words of a process; empty once it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return ""


def _has_token(pid: int) -> bool:
    """Whether a process belongs to the cluster with the token of this environment."""
    with suppress(OSError):
        token = os.environ["RAY_AUTH_TOKEN"].encode()
        return token in Path(f"/proc/{pid}/environ").read_bytes()
    return False


def _processes() -> list[int]:
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdecimal()]


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return -1
