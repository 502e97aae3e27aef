"""Killed at any moment: an import is there as a whole or not at all."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from greenroom.store import open_store

ROWS = 30_000
KILLS = 8


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_an_import_that_is_killed_leaves_no_half(tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    file.write_text("".join(f"{json.dumps({'n': n, 'text': 'x' * 50})}\n" for n in range(ROWS)))
    open_store().close()
    program = "from greenroom.cli import main; main()"
    command = [sys.executable, "-c", program, "testset", "import", str(file)]
    draw = random.Random(7)
    for _ in range(KILLS):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.4, 1.6))
        process.send_signal(signal.SIGKILL)
        process.wait()
        store = open_store()
        for version in store.test_sets.all():
            assert (version.version, version.row_count) == (1, ROWS)
            assert sum(1 for _ in store.test_sets.rows(version)) == ROWS
        store.close()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    store = open_store()
    latest = store.test_sets.find("large")
    assert (latest.version, latest.row_count) == (1, ROWS)
    store.close()
