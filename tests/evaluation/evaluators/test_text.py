from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.evaluation import Case, Score, make_evaluator
from greenroom.util import patterns
from tests.evaluation.evaluators.scoring import chat_score, said, score

ANSWER = "Your order #W123 was cancelled."


@pytest.mark.parametrize(
    ("evaluator", "expected", "passed"),
    [
        ("exact_match", ANSWER, True),
        ("exact_match", f" {ANSWER}\n", False),
        ("exact_match:strip=true", f" {ANSWER}\n", True),
        ("exact_match:ignore_case=true", ANSWER.upper(), True),
        ("contains", "#W123", True),
        ("contains", "#w123", False),
        ("contains:ignore_case=1", "#w123", True),
        ("contains", ["#W123", "cancelled"], True),
        ("contains", '["#W123", "refunded"]', False),
        ("contains:values=#W123,refunded", None, False),
        ("contains:values=#W123,refunded,mode=any", None, True),
        ("contains:values=lost,refunded,mode=any", None, False),
        ('contains={"values": ["a, b"]}', None, False),
        ("starts_with", "Your order", True),
        ("starts_with:value=your,ignore_case=true", None, True),
        ("starts_with:value=order", None, False),
        ("ends_with", "cancelled.", True),
        ("ends_with:value=cancelled", None, False),
        (r"regex:pattern=#W\d{3}", None, True),
        (r"regex:pattern=#w\d+,ignore_case=true", None, True),
        (r"regex:pattern=#W\d+,full=true", None, False),
        ("regex", r"order #W\d+ was \w+\.$", True),
    ],
)
def test_texts(evaluator: str, expected: Any, passed: bool) -> None:
    for found in (
        score(evaluator, outputs=ANSWER, expected=expected),
        chat_score(evaluator, [said("Wait."), said(ANSWER)], expected=expected),
    ):
        assert (found.passed, found.score) == (passed, float(passed)), found
        assert found.compared == ANSWER


def test_a_field_of_the_output() -> None:
    found = score(
        "ends_with:value=cancelled.,field=items[0].text", outputs={"items": [{"text": ANSWER}]}
    )
    assert (found.passed, found.compared) == (True, ANSWER)


def test_what_is_missing_is_named() -> None:
    found = score("contains:values=a,zz,yy", outputs="a")
    assert found.reason == "missing: 'zz', 'yy'"
    assert found.against == ["a", "zz", "yy"]


def test_where_texts_differ_is_told() -> None:
    assert score("exact_match", outputs="abcd", expected="abxd").reason == (
        "not equal from character 3 on"
    )
    assert score("exact_match", outputs="ab", expected="abc").reason == (
        "not equal from character 3 on"
    )


def test_an_expected_pattern_that_is_none_is_not_scored() -> None:
    found = score("regex", outputs="x", expected="(")
    assert (found.score, found.against) == (None, "(")
    assert "no regular expression" in found.reason


def test_a_field_that_is_missing_is_the_outputs_fault() -> None:
    found = score("contains:values=x,field=answer.text", outputs={"answer": "x"})
    assert (found.score, found.passed) == (0.0, False)
    assert found.reason == "the output: there is no answer.text"
    found = chat_score("exact_match:field=a", said("no JSON"), expected="x")
    assert (found.score, found.reason) == (0.0, "the output: it is not JSON")


def test_a_field_of_what_a_chat_says() -> None:
    spoken = 'Here it is:\n```json\n{"city": "Paris"}\n```'
    for expected in ("Paris", {"city": "Paris"}, '{"city": "Paris", "n": 1}'):
        found = chat_score("exact_match:field=city", said(spoken), expected=expected)
        assert (found.passed, found.compared, found.against) == (True, "Paris", "Paris")


@given(st.text(), st.text(), st.text())
def test_a_part_is_contained_begun_and_ended_with(before: str, part: str, after: str) -> None:
    def passed(name: str, outputs: str) -> Score:
        return score({"name": name}, outputs=outputs, expected=part)

    there = True if part else None  # every text begins and ends with an empty one
    assert passed("starts_with", part + after).passed is there
    assert passed("ends_with", before + part).passed is there
    if part and not part.lstrip().startswith("["):
        assert passed("contains", before + part + after).passed is True
    equal = passed("exact_match", before + part + after)
    assert equal.passed is (before + part + after == part)
    if equal.passed:
        assert passed("starts_with", before + part + after).passed is there


@pytest.mark.parametrize(
    ("pattern", "text", "start"),
    [
        (r"(a+)+$", "b" + "a" * 10, 2),
        (r"x*y", "x" * 3_000 + "y", 1),
        (r"x*y\ud800", "x" * 3_000, None),
        (r"(?i)(HELLO )+world", "say hello hello world", 5),
    ],
)
def test_a_costly_pattern_matches_in_a_process_of_its_own(
    pattern: str, text: str, start: int | None
) -> None:
    found = anyio.run(make_evaluator("regex").evaluate, Case(outputs=text, expected=pattern))
    reason = "no match" if start is None else f"matches at character {start}"
    assert (found.reason, found.passed) == (reason, start is not None)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*$", r"(?:a*)*$", "a*" * 30 + "$"])
def test_a_pattern_cannot_hang_an_evaluation(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MATCH_SECONDS", 0.5)
    case = Case(outputs="a" * 60 + "b", expected=pattern)
    began = time.monotonic()
    found = anyio.run(make_evaluator("regex").evaluate, case)
    assert time.monotonic() - began < 10
    assert (found.score, found.broken) == (None, False)
    assert found.reason == "the pattern needs more than 0.5 seconds for this text"


def test_a_blank_that_nobody_sees_is_told() -> None:
    found = score("exact_match", outputs="Paris", expected="Paris ")
    assert (found.passed, found.reason.split(":")[0]) == (False, "only blanks at the ends differ")
    assert score("exact_match:strip=true", outputs="Paris", expected="Paris ").passed is True


class _Started(list["subprocess.Popen[str]"]):
    """The processes that match patterns, as they are started."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Started]:
    patterns.end_idle_workers()
    found, real = _Started(), subprocess.Popen[str]

    def popen(*arguments: Any, **options: Any) -> Any:
        found.append(real(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    yield found
    patterns.end_idle_workers()


def _harmless(number: int) -> Case:
    return Case(outputs=f"hello world {number}", expected=r"^(\w+\s?)+$")


def test_costly_patterns_share_processes(started: _Started) -> None:
    evaluator = make_evaluator("regex")

    async def score_all() -> None:
        for _ in range(50):
            async with anyio.create_task_group() as group:
                for number in range(4):
                    group.start_soon(expect_match, number)

    async def expect_match(number: int) -> None:
        assert (await evaluator.evaluate(_harmless(number))).passed is True

    anyio.run(score_all)
    anyio.run(score_all)  # processes belong to no event loop
    assert 1 <= len(started) <= 4
    anyio.run(evaluator.close)
    assert all(one.poll() is not None for one in started)


def test_a_process_that_died_is_replaced(started: _Started) -> None:
    evaluator = make_evaluator("regex")
    assert anyio.run(evaluator.evaluate, _harmless(1)).passed is True
    started[0].kill()
    started[0].wait()
    assert anyio.run(evaluator.evaluate, _harmless(2)).passed is True
    assert len(started) == 2


@pytest.mark.slow
def test_an_interrupted_match_ends_its_process_at_once(started: _Started) -> None:
    async def interrupted() -> None:
        with anyio.move_on_after(0.5):
            case = Case(outputs="a" * 60 + "b", expected=r"(a+)+$")
            await make_evaluator("regex").evaluate(case)

    began = time.monotonic()
    anyio.run(interrupted)
    assert time.monotonic() - began < patterns.MATCH_SECONDS
    assert [one.poll() is not None for one in started] == [True]


def test_without_an_interpreter_a_costly_pattern_has_no_score(
    started: _Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    found = anyio.run(make_evaluator("regex").evaluate, _harmless(1))
    assert (found.score, found.broken, list(started)) == (None, True, [])
    assert found.reason.endswith("a costly pattern needs a Python interpreter to be matched in")
    assert score("regex", outputs="hello", expected="l+o").passed is True
