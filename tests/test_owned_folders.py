"""Temporary folders go with their owner, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from greenroom.util.owned_folders import OwnedFolder

_OWNER = """
import sys
from greenroom.util.owned_folders import OwnedFolder
folder = OwnedFolder("mine-", sys.argv[1])
print(folder.path, flush=True)
sys.stdin.read()
"""


def started(above: Path) -> tuple[subprocess.Popen[str], Path]:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, above],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    return owner, Path(owner.stdout.readline().strip())


def test_the_folder_of_a_killed_process_is_removed_by_the_next_start(tmp_path: Path) -> None:
    killed, abandoned = started(tmp_path)
    alive, used = started(tmp_path)
    try:
        assert abandoned.is_dir()
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        # Neither of an owner of ours: no lock, and a link to a folder of somebody else.
        unknown = Path(tempfile.mkdtemp(prefix="mine-", dir=tmp_path))
        (tmp_path / "others").mkdir()
        (tmp_path / "others" / "owner.lock").touch()
        (unknown.parent / "mine-link").symlink_to(tmp_path / "others")
        folder, other = (OwnedFolder("mine-", str(tmp_path)) for _ in range(2))
        assert not abandoned.exists()
        assert all(one.is_dir() for one in (used, unknown, folder.path, other.path))
        assert (tmp_path / "others").is_dir()
        folder.close()
        other.close()
        assert not folder.path.exists()
    finally:
        alive.communicate()
