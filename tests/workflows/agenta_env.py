"""The agenta SDK, which lives in an environment of its own: its Python, and its app as a server."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-agenta/bin/python"
MISSING = (
    "The agenta SDK is not installed: 'make test' and 'make bench' set up .venv-agenta for it."
)
ENVIRONMENT = {
    "AGENTA_HOST": "http://127.0.0.1:9",  # where nobody listens
    "AGENTA_SERVICES_MIDDLEWARE_AUTH_ENABLED": "false",
    "AGENTA_LOG_CONSOLE_ENABLED": "false",  # it would write several lines per call
    "AGENTA_INSECURE_EGRESS_ALLOWED": "true",  # so that it may call loopback
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}

_SECONDS_TO_START = 110
"""Its import alone takes 5 to 30 seconds."""


def agenta_python(*arguments: str) -> list[str]:
    """A command for the SDK's interpreter."""
    if not PYTHON.exists():
        raise RuntimeError(MISSING)
    return [str(PYTHON), *arguments]


@contextmanager
def running_agenta(app: str = "agenta_app:app", *, directory: Path | None = None) -> Generator[str]:
    """An app of the SDK, served by uvicorn in a process of its own: its address."""
    port = _free_port()
    command = agenta_python(
        *("-m", "uvicorn", app, "--app-dir", str(directory or Path(__file__).parent)),
        *("--host", "127.0.0.1", "--port", str(port), "--log-level", "critical", "--no-access-log"),
    )
    with subprocess.Popen(
        command,
        env=os.environ | ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address, process)
            yield address
        finally:
            process.terminate()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < until:
        if process.poll() is not None:
            assert process.stderr is not None
            raise RuntimeError(f"The agenta app did not start: {process.stderr.read().decode()}")
        try:
            with urlopen(f"{address}/health", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"The agenta app is not ready after {_SECONDS_TO_START} seconds")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
