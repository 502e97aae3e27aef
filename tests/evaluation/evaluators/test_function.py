from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from greenroom.errors import InputError
from greenroom.evaluation import make_evaluator
from tests.evaluation.evaluators.scoring import said, score

CODE = """
from greenroom.evaluation import Score

def polite(output):
    return "please" in output

async def short(output, expected, limit=10):
    return {"score": 1.0 if len(output) < limit else 0.0, "reason": f"{len(output)} characters"}

def everything(case, outputs, inputs, is_chat, conversation, parameters, seconds, cost, **rest):
    assert case.outputs == outputs
    return Score(0.5, None, outputs, inputs, "by hand")

def nothing():
    return None

def breaks(output):
    raise ValueError("gears hush-hush")

def too_much(output):
    return 7

def wants_more(output, colour):
    return True

NUMBER = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "checks.py"
    path.write_text(CODE)
    return path


def checked(file: Path, name: str, **case: Any) -> Any:
    case = {"outputs": said("Yes, please."), "is_chat": True} | case
    return score(f"python:function={file}:{name}", **case)


def test_a_truth_is_a_score(file: Path) -> None:
    found = checked(file, "polite")
    assert (found.score, found.passed, found.compared) == (1.0, True, "Yes, please.")
    assert checked(file, "polite", outputs=said("No.")).passed is False


def test_a_coroutine_with_a_default_and_a_reason(file: Path) -> None:
    found = checked(file, "short", expected=said("Yes"))
    assert (found.score, found.passed, found.reason) == (0.0, False, "12 characters")
    assert found.against == "Yes"


def test_a_function_may_ask_for_everything_and_say_everything(file: Path) -> None:
    found = checked(file, "everything", inputs={"a": 1})
    assert (found.score, found.passed, found.against) == (0.5, None, {"a": 1})
    assert found.reason == "by hand"


def test_none_is_no_score(file: Path) -> None:
    found = checked(file, "nothing")
    assert (found.score, found.passed, found.broken) == (None, None, False)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("breaks", "ValueError: gears [SOME_API_KEY]"),
        ("too_much", "it returned 7: a score is a number from 0 to 1"),
    ],
)
def test_a_function_that_does_not_work_leaves_no_score(
    file: Path, name: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hush-hush")
    found = checked(file, name)
    assert (found.score, found.passed, found.broken) == (None, None, True)
    assert words in found.reason
    assert found.compared == "Yes, please."


def test_a_function_of_a_module(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    file.rename(file.with_name("greenroom_test_checks.py"))
    monkeypatch.setattr(sys, "path", [str(file.parent), *sys.path])
    found = score("python:function=greenroom_test_checks:polite", outputs="please")
    assert found.passed is True


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("{file}", "names no function: write file.py:function"),
        ("{file}:", "names no function"),
        (":polite", "names no function"),
        ("{file}:polit", "Did you mean 'polite'"),
        ("{file}:NUMBER", "Unknown function"),
        ("{file}:wants_more", "Unknown parameter of .* 'colour'.* Known: case, conversation"),
        ("{folder}/none.py:f", r"There is no file .*none\.py"),
        ("no_such_module_here:f", "There is no module 'no_such_module_here'"),
        ("{folder}/broken.py:f", r"broken\.py, line 1: SyntaxError"),
    ],
)
def test_functions_that_cannot_be_had(file: Path, target: str, words: str) -> None:
    (file.parent / "broken.py").write_text("def f(:")
    with pytest.raises(InputError, match=words):
        make_evaluator(
            {
                "name": "python",
                "settings": {"function": target.format(file=file, folder=file.parent)},
            }
        )
