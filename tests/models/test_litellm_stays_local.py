"""litellm fetches its price map when it is imported, unless it is told to stay local."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

OFFLINE = """
import socket, sys, tempfile
from pathlib import Path

asked = []

def refuse(*where, **_):
    asked.append(where)
    raise OSError("no network here")

socket.getaddrinfo = socket.create_connection = refuse
"""
LOADED = """
assert len(sys.modules["litellm"].model_cost) > 100
assert not asked, asked
"""

TRANSPORT = "from greenroom.models import litellm_transport; litellm_transport._imported()"
DSPY_MODELS = "import greenroom.agents.fastworkflow.models"
WORKER = (
    "from greenroom.agents.fastworkflow.processes import load_package\n"
    "load_package(Path(tempfile.mkdtemp()), {})\n"
    "import litellm"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(TRANSPORT, id="transport"),
        pytest.param(DSPY_MODELS, id="dspy"),
        pytest.param(WORKER, id="worker"),
    ],
)
def test_nothing_is_fetched_when_litellm_is_imported(program: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("LITELLM_")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"{OFFLINE}\n{program}\n{LOADED}"],
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
