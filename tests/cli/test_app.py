from __future__ import annotations

import subprocess
import sys

import pytest

from greenroom import __version__
from greenroom.cli import tasks
from greenroom.cli.app import COMMANDS, load_command
from tests.cli.running import Greenroom

WORKING = ("anyio", "sqlalchemy", "numpy", "scipy", "litellm", "fastapi", "aiohttp", "jsonschema")
HEAVY = ("pydantic_core", "jsonschema", "anyio", "asyncio", "orjson", "numpy", "sqlalchemy")


def test_help_and_version(greenroom: Greenroom) -> None:
    shown = greenroom("--help")
    assert shown.status == 0
    for command in (
        "run",
        "resume",
        "compare",
        "errors",
        "runs",
        "replay",
        "store",
        "data",
        "tasks",
    ):
        assert command in shown.out
    assert greenroom("--version").out == f"greenroom {__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from greenroom.cli.app import run_command; run_command(['--help']);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_the_summaries_are_those_of_the_commands() -> None:
    for name, summary in COMMANDS.items():
        command = load_command(name)
        assert (command.help or "").partition("\n")[0].strip() == summary, name


def test_a_command_imports_nothing_heavy_until_it_works() -> None:
    # One process for all: the first command that imports something heavy is the one to look at.
    code = f"""
import sys
from greenroom.cli.app import run_command
for command in {list(COMMANDS)!r}:
    assert not run_command([command, "--help"])
    print(command, *(name for name in {WORKING!r} if name in sys.modules), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == list(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dance"], "No such command 'dance'"),
        (["run", "--bogus"], "No such option: --bogus"),
        (["tasks", "show"], "Missing argument"),
        (["resume", "--max-cost", "much"], "--max-cost"),
    ],
)
def test_what_was_mistyped_is_told_with_status_2(
    greenroom: Greenroom, arguments: list[str], words: str
) -> None:
    result = greenroom(*arguments)
    assert result.status == 2
    assert result.err.startswith("error: ")
    assert words in result.err
    assert "Try 'greenroom" in result.err
    assert "Traceback" not in result.err


def test_a_bug_is_told_as_one(greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("gears")

    monkeypatch.setattr("greenroom.domains.domain.load_domain", fail)
    result = greenroom("tasks", "list")
    assert result.status == 1
    assert result.err.startswith("error: Unexpected RuntimeError: gears\nThis is a bug.")
    assert "Traceback" in greenroom("--debug", "tasks", "list").err


def test_stopping_is_no_error_of_the_program(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("greenroom.domains.domain.load_domain", interrupt)
    result = greenroom("tasks", "list")
    assert (result.status, result.err) == (130, "")


def test_errors_behind_concurrency_are_told_like_any_other(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(*_: object) -> None:
        raise ExceptionGroup("several", [PermissionError(13, "Permission denied", "/x")])

    monkeypatch.setattr("greenroom.domains.domain.load_domain", deny)
    result = greenroom("tasks", "list")
    assert (result.status, result.err) == (2, "error: /x: Permission denied.\n")


def test_groups_explain_themselves(greenroom: Greenroom) -> None:
    assert "validate" in greenroom("tasks", "--help").out
    assert tasks.app.info.help
