from __future__ import annotations

import builtins
import logging
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.errors import InputError
from greenroom.evaluation import make_evaluator
from greenroom.evaluation.evaluators import semantic
from tests.evaluation.evaluators.scoring import chat_score, said, score

MEASURES = ["levenshtein", "similarity", "similarity:method=token_set"]


@pytest.mark.parametrize(
    ("evaluator", "outputs", "expected", "value"),
    [
        ("levenshtein", "kitten", "sitting", 1 - 3 / 7),
        ("levenshtein", "", "", 1.0),
        ("levenshtein", "", "abc", 0.0),
        ("levenshtein:ignore_case=true", "PARIS", "paris", 1.0),
        ("similarity", "abcd", "abxd", 0.75),
        ("similarity:method=token_set", "refund the order", "order the refund", 1.0),
        ("similarity", "", "", 1.0),
    ],
)
def test_likeness(evaluator: str, outputs: str, expected: str, value: float) -> None:
    assert score(evaluator, outputs=outputs, expected=expected).score == pytest.approx(value)
    found = chat_score(evaluator, said(outputs), expected=said(expected))
    assert found.score == pytest.approx(value)
    assert (found.compared, found.against) == (outputs, expected)


def test_the_threshold_decides() -> None:
    assert score("levenshtein:threshold=0.5", outputs="kitten", expected="sitting").passed is True
    found = score("levenshtein:threshold=0.6", outputs="kitten", expected="sitting")
    assert (found.passed, found.reason) == (False, "0.571, passed from 0.6 on")


@pytest.mark.parametrize("evaluator", MEASURES)
@given(one=st.text(max_size=12), other=st.text(max_size=12))
def test_likeness_is_symmetric_and_within_its_range(evaluator: str, one: str, other: str) -> None:
    there = score(evaluator, outputs=one, expected=other).score
    back = score(evaluator, outputs=other, expected=one).score
    assert there is not None
    assert there == pytest.approx(back)
    assert 0 <= there <= 1
    assert score(evaluator, outputs=one, expected=one).score == 1.0


@settings(max_examples=25)
@given(one=st.text(max_size=12), other=st.text(max_size=12))
def test_likeness_of_meaning_is_symmetric_and_within_its_range(one: str, other: str) -> None:
    there = score("semantic_similarity", outputs=one, expected=other).score
    back = score("semantic_similarity", outputs=other, expected=one).score
    assert there is not None
    assert there == pytest.approx(back)
    assert 0 <= there <= 1
    assert score("semantic_similarity", outputs=one, expected=one).score == 1.0


def test_meaning_is_more_than_wording() -> None:
    refunded = "The refund was issued to your card."

    def meaning(other: str) -> float:
        return score("semantic_similarity", outputs=other, expected=refunded).score or 0.0

    assert meaning("We have refunded your credit card.") > 0.7
    assert meaning("Your flight leaves at noon.") < 0.3
    assert meaning("") == 0.0


@pytest.mark.slow
def test_the_weights_come_with_the_package() -> None:
    code = """
import socket
import sys

def refuse(*_):
    raise AssertionError("it went to the network")

socket.socket.connect = socket.getaddrinfo = refuse
from greenroom.evaluation.evaluators.semantic import semantic_model

print(semantic_model().similarity("a cat", "a cat sat") > 0.5)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_without_the_package_it_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "wordllama":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setitem(sys.modules, "wordllama", None)
    monkeypatch.setattr(builtins, "__import__", without)
    semantic.import_wordllama.cache_clear()
    with pytest.raises(InputError, match=r"pip install 'greenroom\[semantic\]'"):
        make_evaluator("semantic_similarity")


def test_logging_is_left_alone() -> None:
    handlers, level = list(logging.getLogger().handlers), logging.getLogger().level
    semantic.import_wordllama.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "wordllama"]:
        if name == "wordllama":
            del sys.modules[name]
    make_evaluator("semantic_similarity")
    assert logging.getLogger().handlers == handlers
    assert logging.getLogger().level == level
