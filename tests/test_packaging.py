"""The wheel that is published: it holds every file, and works without the repository."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Building a wheel fetches the build backend.
pytestmark = [pytest.mark.slow, pytest.mark.network]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"),
            *("--disable-pip-version-check", "--wheel-dir", str(folder), str(ROOT)),
        ],
        check=True,
        timeout=55,
    )
    (file,) = folder.glob("*.whl")
    return file


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "src/greenroom"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    files = {name.removeprefix("src/") for name in tracked}
    endings = {Path(name).suffix for name in files}
    assert endings >= {".py", ".typed", ".sql", ".json", ".jinja", ".css", ".js"}
    assert files - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_an_installed_wheel_plays_reports_and_migrates(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    database = tmp_path / "store.db"
    former = (ROOT / "tests/store/version_2.sql").read_text(encoding="utf-8")
    with sqlite3.connect(database) as connection:
        connection.executescript(former.replace("@FOLDER@", str(tmp_path)))
    connection.close()

    def python(code: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env=os.environ
            | {"PYTHONPATH": str(installed), "GREENROOM_DATABASE_URL": f"sqlite:///{database}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert python("import greenroom; print(greenroom.__file__)").startswith(str(installed))
    commands = [
        ["run", "--agent-strategy", "oracle", "--task-ids", "1", "--name", "new"],
        ["runs", "report", "complete", "-o", "page.html"],
        ["compare", "complete", "new", "-o", "page.md"],
        ["runs", "report", "complete", "-o", "junit.xml"],
    ]
    call = f"[greenroom.cli.app.run_command(one) for one in {commands!r}]"
    printed = python(f"import greenroom.cli.app; print({call})")
    assert printed.splitlines()[-1] == "[0, 0, 0, 0]"
    assert "<script" in (tmp_path / "page.html").read_text(encoding="utf-8")
