"""What is spent is counted, limited and told, however a command ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from greenroom.store import Usage, open_store
from tests.cli.paying import COST
from tests.cli.running import Greenroom
from tests.conftest import ROOT

TALKER = f"{Path(__file__).with_name('paying.py')}:talker"


def used_by(name: str) -> Usage:
    store = open_store()
    try:
        return Usage.total(store.runs.usages(store.runs.find(name).id))
    finally:
        store.close()


@pytest.mark.slow
def test_what_a_workflow_reports_counts_towards_the_budget(greenroom: Greenroom) -> None:
    run = ("run", "--agent-strategy", TALKER, "--num-trials", 3, "--end-index", 20)
    stopped = greenroom(*run, "--max-cost", 0.0105, "--name", "few")
    assert stopped.status == 3
    assert "The budget of $0.01 is spent ($0.0110)" in stopped.err
    used = used_by("few")
    assert (used.calls, used.cost) == (11, pytest.approx(11 * COST))
    shown = " ".join(greenroom("runs", "show", "few").out.split())
    assert "Cost $0.0110 in all" in shown, "interrupted attempts included"
    whole = greenroom("resume", "few", "--max-cost", 1)
    assert whole.status == 0
    assert "$0.06 of $1.00" in whole.err, "progress"
    assert used_by("few").cost == pytest.approx(60 * COST)
    assert "in all; $0.0010 per episode" in " ".join(whole.out.split())


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_keeps_the_account_of_paid_calls(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    log = tmp_path / "paid.log"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.paying"],
        cwd=ROOT,
        env={**os.environ, "PAYING_LOG": str(log)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and (not log.exists() or len(log.read_text()) < 200):
        time.sleep(0.01)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == status, err
    assert "Go on with: greenroom resume paid" in err
    used, paid = used_by("paid"), len(log.read_text().splitlines())
    assert used.cost is not None
    counted = round(used.cost / COST)
    assert counted <= paid <= counted + used.lost_calls
    assert used.calls == counted + used.lost_calls


@pytest.mark.slow
@pytest.mark.parametrize("command", ["greenroom", "run.py"])
def test_a_slow_local_model_holds_up_neither_report_nor_exit(command: str, tmp_path: Path) -> None:
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.slow_local", command, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Stored as 'act-retail-1'" in done.stdout
    assert time.monotonic() - started < 40
    used = used_by("act-retail-1")
    assert (used.calls, used.lost_calls, used.cost) == (3, 0, 0.0)
