"""The project's own promises: what is missing is named, and floors that are missed are noticed."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks import __main__ as bench
from benchmarks.measures import Measure
from tools import install

from tests.conftest import ROOT, WHOLLY_SLOW


def need_python(python: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({"PATH": path} if path is not None else {})
    return subprocess.run(
        ["/bin/sh", "tools/need-python", python],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )


def test_a_missing_python_is_named_with_the_way_to_get_it() -> None:
    result = need_python("python9.9")
    assert result.returncode == 2
    assert "no 'python9.9' here. Install Python 3.11" in result.stderr


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('case "$2" in *sys.exit*) exit 1;; *) echo Python 3.8.1;; esac', "needs Python 3.11"),
        ('case "$2" in *ensurepip*) exit 1;; esac', "apt-get install python3-venv"),
    ],
)
def test_a_python_that_will_not_do(tmp_path: Path, answer: str, words: str) -> None:
    fake = tmp_path / "python3"
    fake.write_text(f"#!/bin/sh\n{answer}\n")
    fake.chmod(0o755)
    result = need_python(str(fake))
    assert (result.returncode, words in result.stderr) == (2, True), result.stderr


def measures(*values: float) -> Iterator[Measure]:
    for value in values:
        yield Measure("speed", "1 s", "9 s", value, "x", at_least=3.0)


@pytest.mark.parametrize(
    ("value", "check", "status"), [(9.0, "1", 0), (1.0, "1", 1), (1.0, "", 0), (9.0, "", 0)]
)
def test_a_missed_floor_fails_the_benchmark_when_asked(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    value: float,
    check: str,
    status: int,
) -> None:
    monkeypatch.setattr(bench, "BENCHMARKS", (lambda: measures(5.0, value),))
    monkeypatch.setenv("CHECK", check)
    assert bench.main() == status
    out, err = capsys.readouterr()
    assert ("MISSED" in out) == (value < 3.0)
    assert ("Floors missed: speed" in err) == (status == 1)


def test_a_floor_may_have_two_sides() -> None:
    both = Measure("coverage", "", "", 95.0, " %", at_least=92, at_most=98)
    assert (both.holds, both.floor) == (True, "92 to 98 %")
    assert not Measure("coverage", "", "", 99.0, " %", at_least=92, at_most=98).holds


def test_modules_that_are_slow_as_a_whole_have_a_reason() -> None:
    marked = {
        str(path.relative_to(ROOT / "tests"))
        for path in (ROOT / "tests").rglob("test_*.py")
        if "mark.slow" in module_marks(path.read_text())
    }
    assert marked == set(WHOLLY_SLOW)
    assert "mark.slow" in module_marks(
        "pytestmark = [\n    pytest.mark.anyio,\n    pytest.mark.slow]"
    )
    assert "mark.slow" not in module_marks("pytestmark = pytest.mark.anyio\nx = pytest.mark.slow")


def module_marks(source: str) -> str:
    """What a module sets as the marks of all its tests."""
    if "pytestmark" not in source:
        return ""
    assigned = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    marks = [node.value for node in assigned if ast.unparse(node.targets[0]) == "pytestmark"]
    return " ".join(map(ast.unparse, marks))


def test_no_lock_file_with_addresses_is_kept() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = listed.stdout.splitlines()
    assert "pyproject.toml" in files
    # The lock file of the pages has hashes and no addresses: tests/playground/test_build.py.
    locks = [name for name in files if name.endswith((".lock", "package-lock.json"))]
    assert locks == ["ui/package-lock.json"]


HEAVY = ("litellm", "mcp", "scipy", "fastapi", "aiohttp", "numpy")


def without_extras(*commands: list[str]) -> subprocess.CompletedProcess[str]:
    """Commands in a process that cannot import what `pip install greenroom` leaves out."""
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('litellm', 'mcp', 'scipy')))\n"
        "from greenroom.cli.app import run_command\n"
        f"statuses = [run_command(command) for command in {commands!r}]\n"
        f"print(statuses, [name for name in {HEAVY!r} if sys.modules.get(name)], file=sys.stderr)\n"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_the_first_hour_needs_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = ["run", "--task-ids", "1", "2", "3", "--num-trials", "2", "--agent-strategy"]
    played = without_extras(
        [*run, "synthetic", "--name", "a"], [*run, "oracle", "--name", "b"], ["compare", "a", "b"]
    )
    assert "[0, 0, 0] ['numpy']" in played.stderr
    assert "Too few trials to tell b from a" in played.stdout
    # Reading results waits for nothing but the store, and for numbers where there are any.
    explained = without_extras(["errors", "a"])
    assert explained.stderr.splitlines()[-1] == "[0] []"
    reported = without_extras(["runs", "report", "a"])
    assert reported.stderr.splitlines()[-1] == "[0] ['numpy']"
    other = without_extras(["run", "--model", "anthropic/x", "--agent-strategy", "act"])
    assert "pip install 'greenroom[litellm]'" in other.stderr
    assert other.stderr.splitlines()[-1].startswith("[2]")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            "Downloading numpy-2.4.6-cp311-cp311-linux_x86_64.whl (16.9 MB)",
            "  numpy 2.4.6 (16.9 MB)",
        ),
        ("Using cached rich-15.0.0-py3-none-any.whl (310 kB)", "  rich 15.0.0 (310 kB)"),
        ("Processing /wheels/rich-15.0.0-py3-none-any.whl", "  rich 15.0.0"),
        ("  Using cached idna-3.20-py3-none-any.whl (from anyio>=4.6->greenroom)", "  idna 3.20"),
        ("Installing collected packages: rich, numpy", "  unpacking 2 packages ..."),
        ("  Downloading numpy-2.4.6-cp311-cp311-linux_x86_64.whl.metadata (62 kB)", None),
        ("Requirement already satisfied: rich", None),
    ],
)
def test_installing_shows_each_package(line: str, shown: str | None) -> None:
    assert install.step(line) == shown


@pytest.mark.parametrize("status", [0, 3])
def test_what_pip_said_is_shown_if_it_fails(
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake = tmp_path / "python3"
    words = "Using cached rich-15.0.0-py3-none-any.whl (310 kB)"
    fake.write_text(f'#!/bin/sh\necho "{words}"\necho "args: $*" >&2\nexit {status}\n')
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    assert install.main(["-e", "."]) == status
    out, err = capsys.readouterr()
    assert out == "  rich 15.0.0 (310 kB)\n"
    assert ("-m pip install" in err and "-e ." in err) == (status != 0)


@pytest.mark.slow
def test_the_quick_check_leaves_slow_tests_out() -> None:
    """Marks that are set while tests are collected count, too."""
    quick = ["-m", "not slow", "tests/playground/test_notes.py", "tests/store/test_store.py"]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:xdist", *quick]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    on_postgres = [line for line in listed.splitlines() if "[postgres" in line]
    assert on_postgres
    assert all(line.startswith("tests/store/") for line in on_postgres)
