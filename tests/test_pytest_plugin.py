from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module

import pytest

from greenroom.store import open_store
from tests.conftest import ROOT

pytest_plugins = ["pytester"]

APP = """
from greenroom import chat_workflow

@chat_workflow
def support(messages):
    return {"role": "assistant", "content": messages[-1]["content"].upper()}
"""
ROWS = "question,expected\nhello,HELLO\nbye,BYE\nwhat,why\n"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with a workflow and rows beside its tests; only this plugin is loaded."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    checks = pytester.mkdir("checks")
    (checks / "app.py").write_text(APP)
    (checks / "rows.csv").write_text(ROWS)
    return pytester


def run(project: pytest.Pytester, code: str) -> pytest.RunResult:
    (project.path / "checks/test_it.py").write_text(code)
    return project.runpytest_subprocess("-p", "greenroom.pytest_plugin", "-W", "error")


@pytest.mark.slow
def test_a_gate_that_holds_passes(project: pytest.Pytester) -> None:
    result = run(
        project,
        """
def test_support(greenroom_eval):
    result = greenroom_eval("app.py:support", "rows.csv", evaluators=["exact_match"], name="ci")
    result.assert_gate("exact_match>=0.6", "errors<=0")
    assert result.figures.evaluators[0].scored == 3
    assert [one.scores["exact_match"].compared for one in result.results()][0] == "HELLO"
""",
    )
    result.assert_outcomes(passed=1)
    assert open_store().evaluations.find("ci").status == "complete"


@pytest.mark.slow
def test_a_gate_that_fails_shows_what_was_compared(project: pytest.Pytester) -> None:
    result = run(
        project,
        """
import app
from pathlib import Path

def test_support(greenroom_eval):
    result = greenroom_eval(app.support, Path("rows.csv"), ["exact_match"], repeats=2)
    result.assert_gate("exact_match>=0.9", strict=True)
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*FAILED  exact_match>=0.9: exact_match.mean is 0.667*",
            "*row 3, repeat 1, exact_match: compared 'WHAT' against 'why'*",
            "*greenroom evals show support-rows-1*",
        ]
    )


@pytest.mark.slow
def test_what_is_wrong_is_told(project: pytest.Pytester) -> None:
    result = run(
        project,
        """
def test_support(greenroom_eval):
    greenroom_eval("app.py:suport", "rows.csv", evaluators=["exact_match"])
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Unknown workflow 'suport'. Did you mean 'support'?*"])


def test_pytest_finds_it_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module = import_module(project["entry-points"]["pytest11"]["greenroom"])
    assert hasattr(module, "greenroom_eval")


def test_unused_it_costs_nothing() -> None:
    code = (
        "import pytest, sys; before = set(sys.modules); import greenroom.pytest_plugin;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["greenroom", "greenroom._version", "greenroom.pytest_plugin"]
