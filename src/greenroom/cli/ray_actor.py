"""The actor that runs a worker on a node of a Ray cluster. Ray imports this module there."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from greenroom import __version__
from greenroom.cli.processes import REFUSED, Ending, WorkerProcess, start_worker


@dataclass(frozen=True)
class Order:
    """What a worker is started with."""

    number: int
    arguments: tuple[str, ...]
    """Those of Python."""
    folder: str
    version: str
    """The version of Greenroom that gives the order."""
    machine: str | None
    """The only machine that reaches the store; None if all do."""
    variables: Mapping[str, str] = field(repr=False)
    """What its environment gets beside that of its node: passwords and keys, too."""


@dataclass(frozen=True)
class Place:
    """Where an actor is."""

    node: str
    """Ray's id of the node."""
    machine: str


class WorkerActor:
    """Runs one worker, as a process of its own: signals and environment are as anywhere else.

    The worker ends with its actor, however the actor ends.
    """

    def __init__(self) -> None:
        self._worker: WorkerProcess | None = None
        self._stopped = threading.Event()

    def place(self) -> Place:
        """Where this is."""
        import ray

        return Place(ray.get_runtime_context().get_node_id(), socket.gethostname())

    def work(self, order: Order) -> Ending:
        """Run the worker until it ends."""
        if refused := _refusal(order):
            return Ending(REFUSED, (refused,), "refused")
        # Ray's processes take no Ctrl-C; what a worker starts may be ended by it.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        folder = Path(order.folder)
        self._worker = start_worker(
            order.number,
            order.arguments,
            environment={**os.environ, **order.variables},
            folder=folder if folder.is_dir() else None,
        )
        if self._stopped.is_set():
            self._worker.stop()
        self._worker.popen.wait()
        ending = self._worker.ending()
        assert ending is not None
        return ending

    def stop(self) -> None:
        """Ask the worker to stop."""
        self._stopped.set()
        if self._worker is not None:
            self._worker.stop()


def _refusal(order: Order) -> str:
    machine = socket.gethostname()
    if order.version != __version__:
        return (
            f"The Ray node {machine} has Greenroom {__version__}, and this is {order.version}: "
            "install the same on all of them."
        )
    if order.machine not in (None, machine):
        return (
            f"The store is a file of {order.machine}, which workers on {machine} cannot reach: "
            "use PostgreSQL."
        )
    return ""
