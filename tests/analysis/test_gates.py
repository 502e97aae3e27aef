from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis import check_gates, parse_gate, parse_gates
from greenroom.analysis.evaluations import EvaluationFigures, gate_names
from greenroom.analysis.gates import GateResult
from greenroom.errors import InputError, UnknownName
from tests.evaluation.figured import measured, shares, summary


def check(figures: EvaluationFigures, text: str, *, strict: bool = False) -> GateResult:
    (found,) = check_gates([parse_gate(text)], figures.named(), strict=strict)
    return found


@pytest.mark.parametrize(
    ("text", "subject", "operator", "limit"),
    [
        ("exact_match>=0.9", "exact_match", ">=", 0.9),
        ("  my.alias-2 <= 1e-3 ", "my.alias-2", "<=", 0.001),
        ("a.passed > 90 %", "a.passed", ">", 0.9),
        ("errors<1", "errors", "<", 1.0),
        ("x>=-1", "x", ">=", -1.0),
    ],
)
def test_a_gate_is_a_subject_an_operator_and_a_number(
    text: str, subject: str, operator: str, limit: float
) -> None:
    gate = parse_gate(text)
    assert (gate.subject, gate.operator, gate.limit) == (subject, operator, limit)
    assert gate.text == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "exact_match",
        "exact_match=0.9",
        "a==1",
        ">=1",
        "a>=",
        "a>=b",
        "a>=1e",
        "a>=nan",
        "a>=1,5",
    ],
)
def test_what_is_no_gate_is_said_with_how_to_write_one(text: str) -> None:
    with pytest.raises(InputError, match="write SUBJECT OPERATOR NUMBER"):
        parse_gate(text)


def test_unknown_subjects_are_found_before_anything_runs() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'exact_match'") as error:
        parse_gates(["exact_mach>=0.9"], gate_names(["exact_match"]))
    assert "exact_match.passed" in str(error.value)
    assert "latency_p95" in str(error.value)
    with pytest.raises(UnknownName):
        parse_gates(["a.median>=0.9"], gate_names(["a"]))


def test_a_gate_fails_only_if_its_whole_interval_is_on_the_wrong_side() -> None:
    near = measured(shares(17, 3))
    assert near.evaluators[0].mean.value == 0.85
    found = check(near, "a>=0.9")
    assert found.passed
    assert found.inconclusive
    assert str(found).startswith("INCONCLUSIVE  a>=0.9: ")
    assert "which chance may account for" in found.reason
    far = check(measured(shares(8, 12)), "a>=0.9")
    assert not far.passed
    assert "a.mean is 0.4 (" in far.reason
    assert str(far).startswith("FAILED  a>=0.9: ")


def test_strictly_the_plain_figure_counts() -> None:
    near = measured(shares(17, 3))
    assert not check(near, "a>=0.9", strict=True).passed
    assert check(near, "a>=0.85", strict=True).passed
    assert not check(near, "a>0.85", strict=True).passed


def test_for_a_limit_from_above_the_low_end_counts() -> None:
    figures = measured([summary(row, 1.0, seconds=row / 10) for row in range(1, 41)])
    p95 = figures.latency["call"].p95
    assert p95.value == pytest.approx(3.8)
    assert check(figures, f"latency_p95<={p95.low}").passed
    assert not check(figures, f"latency_p95<{p95.low}").passed
    assert not check(figures, "latency_p95<=3.7", strict=True).passed
    assert check(figures, "latency_mean<=2.05").passed
    assert not check(figures, "latency_mean<2.05").passed


def test_facts_have_no_interval_to_hide_in() -> None:
    broken = [summary(0, 1.0), summary(1, error="down"), summary(2, error="down")]
    figures = measured(broken, planned=4)
    found = check(figures, "errors<=2")
    assert not found.passed, "a call that was not made gave no answer either"
    assert found.reason == "errors is 3"
    assert check(figures, "errors<=3").passed
    costs = measured([summary(0, 1.0, cost=0.5), summary(1, 1.0, cost=0.25)])
    assert check(costs, "cost<=0.75").passed
    assert not check(costs, "cost<0.75").passed
    scores = measured([summary(0, 1.0), summary(1, None), summary(2, None, broken=True)])
    assert check(scores, "a.unscored<=2").passed
    assert not check(scores, "a.unscored<=1").passed


@pytest.mark.parametrize("text", ["a>=0", "a.passed>=0", "latency_p95<=100", "latency_mean<=100"])
@pytest.mark.parametrize("strict", [True, False])
def test_where_there_is_no_figure_a_gate_fails(text: str, strict: bool) -> None:
    found = check(measured([summary(0, error="down")]), text, strict=strict)
    assert not found.passed
    assert math.isnan(found.value)
    assert "is not known" in found.reason


def test_a_cost_that_is_not_told_is_not_nothing() -> None:
    figures = measured([summary(0, 1.0, cost=0.1), summary(1, 1.0, cost=None)])
    found = check(figures, "cost<=1000")
    assert not found.passed
    assert found.reason == "cost is not known: results do not tell what they cost"


def test_a_gate_on_every_evaluator_is_held_against_each() -> None:
    figures = measured([summary(row, 1.0, 0.0) for row in range(20)], evaluators="ab")
    found = check_gates(parse_gates(["passed>=0.9"], gate_names("ab")), figures.named())
    assert [(one.subject, one.passed) for one in found] == [("a.passed", True), ("b.passed", False)]


def test_an_evaluator_of_the_same_name_comes_first() -> None:
    figures = measured([summary(0, 1.0)])
    renamed = figures.evaluators[0].model_copy(update={"alias": "errors"})
    figures = figures.model_copy(update={"evaluators": [renamed]})
    assert check(figures, "errors>=1").subject == "errors.mean"


@given(
    right=st.integers(0, 30),
    wrong=st.integers(0, 30),
    operator=st.sampled_from([">=", ">", "<=", "<"]),
    limit=st.integers(0, 20),
)
def test_what_holds_strictly_holds_anyway(
    right: int, wrong: int, operator: str, limit: int
) -> None:
    figures = measured(shares(right, wrong))
    gate = f"a{operator}{limit / 20}"
    strictly, anyway = check(figures, gate, strict=True), check(figures, gate)
    assert anyway.passed or not strictly.passed
