"""The wheel that is published: it holds every file, and works without the repository."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.browser import running_browser
from tests.conftest import ROOT

# Building a wheel fetches the build backend.
pytestmark = [pytest.mark.slow, pytest.mark.network, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"),
            *("--disable-pip-version-check", "--wheel-dir", str(folder), str(ROOT)),
        ],
        check=True,
        timeout=170,
    )
    (file,) = folder.glob("*.whl")
    return file


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    files = {name.removeprefix("src/") for name in tracked}
    endings = {Path(name).suffix for name in files}
    assert endings >= {".py", ".typed", ".sql", ".json", ".jinja", ".css", ".js"}
    held = set(zipfile.ZipFile(wheel).namelist())
    assert files - held == set()
    assert "greenroom/playground/static/index.html" in held


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


def test_an_installed_wheel_opens_the_playground(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "empty"], check=True)
    python = tmp_path / "empty/bin/python"
    installed = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*installed, "-c", ROOT / "constraints.txt", wheel], check=True)
    with subprocess.Popen(
        [tmp_path / "empty/bin/greenroom", "playground", "--json", "--port", "0"],
        cwd=tmp_path,
        env=os.environ | {"XDG_DATA_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            link = json.loads(process.stdout.readline())["link"]
            with running_browser() as browser:
                page = browser.new_page()
                page.goto(link)
                page.get_by_role("link", name="Runs").first.click()
                page.get_by_role("heading", name="Runs").wait_for()
        finally:
            process.terminate()


def test_an_sdist_has_the_pages_and_needs_no_node(tmp_path: Path) -> None:
    build = "import sys; sys.path.insert(0, 'tools'); import build_backend as backend; "
    made = subprocess.run(
        [sys.executable, "-c", f"{build}print(backend.build_sdist({str(tmp_path)!r}))"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    with tarfile.open(tmp_path / made.stdout.split()[-1]) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert not (unpacked / "ui").exists()
    assert (unpacked / "src/greenroom/playground/static/index.html").is_file()
    needs = subprocess.run(
        [sys.executable, "-c", f"{build}print(backend.get_requires_for_build_wheel())"],
        cwd=unpacked,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "node" not in needs
