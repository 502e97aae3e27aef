from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis import check_gates, parse_gate
from greenroom.reports import render_junit
from greenroom.store import ScoreRecord
from tests.evaluation.figured import measured, reported, result, shares

# What the schema that CI systems share allows: attributes (those with ! are needed), children.
SCHEMA = {
    "testsuites": (set[str](), {"testsuite"}),
    "testsuite": (
        {"name!", "tests!", "failures!", "errors!", "skipped", "time", "timestamp"},
        {"testcase"},
    ),
    "testcase": ({"name!", "classname!", "time"}, {"failure", "error", "skipped"}),
    "failure": ({"message", "type!"}, set[str]()),
    "error": ({"message", "type!"}, set[str]()),
    "skipped": ({"message"}, set[str]()),
}
RIGHT = ScoreRecord(score=1.0, passed=True, compared="x", against="x")
WRONG = ScoreRecord(score=0.0, passed=False, compared="Paris", against="Rome", reason="not equal")
UNSCORED = ScoreRecord(score=None, reason="the row has no expected output")
BROKEN = ScoreRecord(score=None, reason="the judge is down", broken=True)
PLAIN = ScoreRecord(score=0.4)


def check_schema(element: Element) -> None:
    allowed, children = SCHEMA[element.tag]
    assert set(element.attrib) <= {name.rstrip("!") for name in allowed}
    assert {name.rstrip("!") for name in allowed if name.endswith("!")} <= set(element.attrib)
    assert len(element) <= 1 or element.tag in ("testsuites", "testsuite")
    for child in element:
        assert child.tag in children
        check_schema(child)


def read(text: str) -> Element:
    root = ElementTree.fromstring(text.encode())
    check_schema(root)
    for suite in root:
        counts = {
            "tests": len(suite),
            "failures": len(suite.findall("testcase/failure")),
            "errors": len(suite.findall("testcase/error")),
            "skipped": len(suite.findall("testcase/skipped")),
        }
        assert {name: int(suite.attrib[name]) for name in counts} == counts
    return root


def test_every_result_and_evaluator_is_a_test_case() -> None:
    results = [
        result(0, a=RIGHT, b=WRONG),
        result(1, a=UNSCORED, b=BROKEN),
        result(2, error="ConnectionError: down"),
        result(3, a=PLAIN),
    ]
    root = read(render_junit(reported(results, aliases="ab", rows=4)))
    (suite,) = root
    cases = [
        (case.attrib["classname"], case.attrib["name"], case[0].tag if len(case) else None)
        for case in suite
    ]
    assert cases == [
        ("demo.a", "row 1", None),
        ("demo.b", "row 1", "failure"),
        ("demo.a", "row 2", "skipped"),
        ("demo.b", "row 2", "error"),
        ("demo.a", "row 3", "error"),
        ("demo.b", "row 3", "error"),
        ("demo.a", "row 4", None),
        ("demo.b", "row 4", "skipped"),
    ]
    failure = suite[1][0]
    assert failure.attrib["message"] == "not equal"
    assert failure.text == "compared: Paris\nagainst: Rome\nscore: 0"
    assert suite[4][0].attrib["message"] == "ConnectionError: down"
    assert float(suite.attrib["time"]) == 1.0, "the workflow's time is counted once per row"
    assert suite.attrib["timestamp"] == "2026-05-04T03:02:01"


def test_repeats_have_names_of_their_own() -> None:
    results = [result(0, repeat=n, a=RIGHT) for n in range(2)]
    (suite,) = read(render_junit(reported(results, repeats=2)))
    assert [case.attrib["name"] for case in suite] == ["row 1, repeat 1", "row 1, repeat 2"]


def test_gates_are_a_suite_of_their_own() -> None:
    figures = measured(shares(1, 19))
    gates = check_gates([parse_gate("a>=0.9"), parse_gate("errors<=0")], figures.named())
    results, both = read(render_junit(reported([result(0, a=RIGHT)], gates=gates)))
    assert results.attrib["name"] == "demo"
    assert [len(case) for case in both] == [1, 0]
    assert both[0].attrib["name"] == "a>=0.9 (a.mean)"
    assert "chance does not account for it" in both[0][0].attrib["message"]


anything = st.text(st.characters(codec=None))


@given(text=anything, name=anything)
def test_whatever_was_said_the_document_is_well_formed(text: str, name: str) -> None:
    wrong = ScoreRecord(score=0.0, passed=False, compared=text, against={text: [text]}, reason=text)
    results = [result(0, a=wrong), result(1, error=text)]
    (suite,) = read(render_junit(reported(results, name=name)))
    assert len(suite) == 2


@pytest.mark.parametrize("text", ["\x00", "\x1b[31m", "\ud800", "\ufffe", "]]>", "<&\">'"])
def test_characters_that_xml_cannot_hold_are_replaced(text: str) -> None:
    wrong = ScoreRecord(score=0.0, passed=False, compared=text, against="x", reason=text)
    (suite,) = read(render_junit(reported([result(0, a=wrong)])))
    assert "compared: " in (suite[0][0].text or "")


def test_long_texts_are_cut() -> None:
    wrong = ScoreRecord(
        score=0.0, passed=False, compared="x" * 10**6, against="", reason="y" * 10**6
    )
    assert len(render_junit(reported([result(0, a=wrong)]))) < 20_000
