"""The temporary folders of FastWorkflow's processes go with their owner, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from greenroom.agents.fastworkflow import fastworkflow_adapter
from greenroom.agents.fastworkflow.owned_folders import OwnedFolder
from tests.cli.running import Greenroom

_OWNER = """
import sys
from greenroom.agents.fastworkflow.owned_folders import OwnedFolder
folder = OwnedFolder()
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)


def started() -> tuple[subprocess.Popen[str], Path]:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    return owner, Path(owner.stdout.readline().strip())


def test_the_folder_of_a_killed_process_is_removed_by_the_next_start(tmp_path: Path):
    killed, abandoned = started()
    alive, used = started()
    try:
        assert abandoned.is_dir()
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        # Neither of an owner of ours: no lock, and a link to a folder of somebody else.
        unknown = Path(tempfile.mkdtemp(prefix="greenroom-fastworkflow-"))
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "owner.lock").touch()
        (unknown.parent / "greenroom-fastworkflow-link").symlink_to(tmp_path / "mine")
        folder, other = OwnedFolder(), OwnedFolder()
        assert not abandoned.exists()
        assert all(one.is_dir() for one in (used, unknown, folder.path, other.path))
        assert (tmp_path / "mine").is_dir()
        folder.close()
        other.close()
        assert not folder.path.exists()
    finally:
        alive.communicate()


def test_a_missing_key_is_told_before_fastworkflow_is_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def loaded(*_: object) -> None:
        raise AssertionError("FastWorkflow is loaded")

    monkeypatch.setattr(fastworkflow_adapter, "prepare_workers", loaded)
    for more in (
        ("--model", "gpt-4o"),
        ("--model", "x", "--api-base", "http://127.0.0.1:9/v1", "--user-model", "gpt-4o"),
    ):
        result = Greenroom(capsys)(
            "run", "--agent-strategy", "fastworkflow", "--task-ids", 1, *more
        )
        assert result.status == 2
        assert result.err.startswith("error: OpenAI wants a key: set OPENAI_API_KEY.")
