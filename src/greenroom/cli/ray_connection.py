"""Joining a Ray cluster, or starting one of this machine: quietly, and with an end."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from greenroom.errors import InputError, redacted
from greenroom.util.owned_folders import OwnedFolder

_SMALLEST_OBJECT_STORE = 80 * 2**20
_KNOCK_SECONDS = 10.0
_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _SETTINGS
"""The beginning of HTTP/2, which head nodes speak."""
_ONE_MOMENT = 1.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, *filter(None, [getattr(signal, "SIGHUP", None)]))
_QUIET = {
    # It tells its makers how it is used, unless it is told not to.
    "RAY_USAGE_STATS_ENABLED": "0",
    # What its C++ code logs goes to standard error. Errors reach Python, too.
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    # It would end this process after a minute without the head node: this process says so itself.
    "RAY_gcs_rpc_server_reconnect_timeout_s": "86400",
}
"""Variables for Ray, unless they are set."""
_TRIES = "RAY_NUM_REDIS_GET_RETRIES"
_TRIES_TO_START = "120"
"""A try takes a second: a busy machine may need some."""
_TRIES_TO_JOIN = "5"
"""A try takes a second where a token is refused, and most of a minute where nobody answers."""
_LONGEST_REASON = 200


class StoppedBySignal(Exception):
    """A signal came while Ray started or ended."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def connected_ray(address: str | None) -> Generator[Any]:
    """Ray, connected to a cluster; one that it has started ends with it, also if this is killed."""
    ray = _imported(local=not address)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    folder: OwnedFolder | None = None
    if address:
        _check_address(address)
    else:
        folder = OwnedFolder("greenroom-ray-", _socket_folder())
        options |= {"include_dashboard": False, "object_store_memory": _SMALLEST_OBJECT_STORE}
        options["_temp_dir"] = str(folder.path)
    try:
        with _signals_wait(), _nothing_on_stderr():
            try:
                ray.init(address=address or "local", **options)
            except Exception as error:  # Ray raises bare ones, too
                raise InputError(_why_not(address, error)) from error
        yield ray
    finally:
        with _signals_wait():
            ray.shutdown()
            if folder is not None:
                folder.close()


def _imported(*, local: bool) -> Any:
    """Ray, which reads variables when it is imported."""
    for name, value in (*_QUIET.items(), (_TRIES, _TRIES_TO_START if local else _TRIES_TO_JOIN)):
        os.environ.setdefault(name, value)
    if local and "RAY_AUTH_MODE" not in os.environ:
        # Otherwise it makes a token and keeps it in the home folder.
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise InputError("--executor ray needs Ray: pip install 'greenroom[ray]'.") from error


@contextmanager
def _signals_wait() -> Generator[None]:
    """Keep signals until Ray has started, or ended: half of it would stay behind.

    Signals in the same moment count as one. A later one breaks the waiting off.
    """
    set_handler: Any = signal.signal
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    kept = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    first: tuple[int, float] | None = None

    def note(number: int, _: object) -> None:
        nonlocal first
        if first is None:
            first = (number, time.monotonic())
        elif time.monotonic() - first[1] > _ONE_MOMENT:
            raise KeyboardInterrupt

    def refuse(number: int, handler: Any) -> Any:
        """Ray takes SIGTERM for itself, and would end in the middle of its start."""
        return note if number in kept else set_handler(number, handler)

    for number in kept:
        set_handler(number, note)
    signal.signal = refuse  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        signal.signal = set_handler
        for number in kept:
            set_handler(number, before[number] or signal.SIG_DFL)
        if first is not None:
            raise StoppedBySignal(first[0])


@contextmanager
def _nothing_on_stderr() -> Generator[None]:
    """Ray's C++ code says there what it has read from its variables."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _check_address(address: str) -> None:
    """Say at once that nobody is there: Ray tries for minutes."""
    if "://" in address:
        raise InputError(
            f"--ray-address {redacted(address)}: run the command on a node of the cluster, and "
            "give HOST:PORT of its head node, or auto."
        )
    if address == "auto":
        return
    if reason := knocked(address):
        raise InputError(f"No Ray cluster answers at {address}: {reason}.")


def knocked(address: str) -> str:
    """Why no Ray cluster answers at HOST:PORT; empty if one does."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        return "give HOST:PORT of its head node, or auto"
    to = (host.strip("[]"), int(port))
    try:
        with socket.create_connection(to, timeout=_KNOCK_SECONDS) as line:
            if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
                return ""
            line.sendall(_HELLO)
            answer = line.makefile("rb").read(len(_SETTINGS))
    except OSError as error:
        return error.strerror or str(error)
    # Both begin with how they want to talk; a frame's kind is its fourth byte.
    return "" if answer[3:4] == _SETTINGS[3:4] else "what answers is no head node"


def _why_not(address: str | None, error: Exception) -> str:
    """Why Ray cannot be started or joined, and what to do."""
    why = last_line(error)
    if not address:
        return f"Ray cannot be started: {why}."
    if "any running Ray instance" in why:
        return "No Ray cluster runs on this machine: give HOST:PORT of its head node."
    variables = "RAY_AUTH_TOKEN, with RAY_AUTH_MODE=token"
    if "token" in why:
        return f"The Ray cluster at {address} asks for its token: set {variables}."
    return (
        f"The Ray cluster at {address} cannot be joined: {why}. Is {variables}, the token of the "
        "cluster, and is this a node of it, with the same versions of Ray and Python?"
    )


def _socket_folder() -> str:
    # The paths of Ray's sockets must be short.
    return os.environ.get("RAY_TMPDIR") or "/tmp"  # noqa: S108


def last_line(error: Exception) -> str:
    """What an error of Ray says in the end, in a line without secrets."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[-1] if lines else type(error).__name__
    text = redacted(text.partition(" Some common causes")[0])
    if len(text) > _LONGEST_REASON:
        text = f"{text[:_LONGEST_REASON].rpartition(' ')[0]} ..."
    return text.rstrip(".") if not text.endswith("...") else text
