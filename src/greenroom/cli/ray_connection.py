"""Joining a Ray cluster, or starting one of this machine: quietly, and with an end."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from greenroom.errors import InputError, redacted

_SMALLEST_OBJECT_STORE = 80 * 2**20
_KNOCK_SECONDS = 10.0
_STOPPED = 128


@contextmanager
def connected_ray(address: str | None) -> Generator[Any]:
    """Ray, connected to a cluster; one that it has started ends with it, also if this is killed."""
    ray = _imported(local=address is None)
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    folder: Path | None = None
    handler = signal.getsignal(signal.SIGTERM)
    try:
        if address is None:
            folder = Path(tempfile.mkdtemp(prefix="greenroom-ray-", dir=_socket_folder()))
            quiet |= {"include_dashboard": False, "object_store_memory": _SMALLEST_OBJECT_STORE}
            quiet["_temp_dir"] = str(folder)
        else:
            _check_address(address)
        try:
            with _first_interrupt_waits():
                ray.init(address=address or "local", **quiet)
        except SystemExit:
            # Ray has taken SIGTERM for itself.
            raise typer.Exit(_STOPPED + signal.SIGTERM) from None
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            if address is None:
                raise InputError(f"Ray cannot be started: {last_line(error)}.") from error
            raise InputError(
                f"The Ray cluster at {address} cannot be joined: {last_line(error)}. Is "
                "RAY_AUTH_TOKEN, with RAY_AUTH_MODE=token, the token of the cluster?"
            ) from error
        signal.signal(signal.SIGTERM, handler)
        yield ray
    finally:
        ray.shutdown()
        signal.signal(signal.SIGTERM, handler)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _imported(*, local: bool) -> Any:
    """Ray, which reads these variables when it is imported."""
    # It tells its makers how it is used, unless it is told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if local and "RAY_AUTH_MODE" not in os.environ:
        # Otherwise it makes a token and keeps it in the home folder.
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise InputError("--executor ray needs Ray: pip install 'greenroom[ray]'.") from error


@contextmanager
def _first_interrupt_waits() -> Generator[None]:
    """Keep Ctrl-C until Ray has started: what is half started may crash when it is ended."""
    before = signal.getsignal(signal.SIGINT)
    came = False

    def note(_: int, __: object) -> None:
        nonlocal came
        if came:
            raise KeyboardInterrupt
        came = True

    if before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def _check_address(address: str) -> None:
    """Say at once that nobody is there: Ray tries for many minutes."""
    if "://" in address:
        raise InputError(
            f"--ray-address {redacted(address)}: run the command on a node of the cluster, and "
            "give HOST:PORT of its head node, or auto."
        )
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdecimal():
        return  # a name that Ray knows, such as auto
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"No Ray cluster answers at {address}: {error}.") from error


def _socket_folder() -> str:
    # The paths of Ray's sockets must be short.
    return os.environ.get("RAY_TMPDIR") or "/tmp"  # noqa: S108


def last_line(error: Exception) -> str:
    """What an error of Ray says in the end, in a line without secrets."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[-1] if lines else type(error).__name__
    text = text.partition(" Some common causes")[0]
    return redacted(text)[:300].rstrip(".")
