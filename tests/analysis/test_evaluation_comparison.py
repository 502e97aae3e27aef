"""Evaluations against each other, row by row."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis import ComparedEvaluation, compare_evaluations
from greenroom.analysis.compared import EvaluationComparison
from greenroom.store import ResultRecord, ScoreRecord
from tests.evaluation.figured import result


def scored(label: str, scores: Sequence[float | None], alias: str = "a") -> ComparedEvaluation:
    """An evaluation with a score for each row; None is a call without an answer."""
    results: list[ResultRecord] = []
    for row, score in enumerate(scores):
        if score is None:
            results.append(result(row, error="down"))
        else:
            kept = ScoreRecord(score=score, passed=score >= 0.5, reason=f"score {score:g}")
            results.append(result(row).model_copy(update={"scores": {alias: kept}}))
    return ComparedEvaluation(label, results, [alias], len(scores))


def compared(before: Sequence[float | None], after: Sequence[float | None]) -> EvaluationComparison:
    found = compare_evaluations([scored("before", before), scored("after", after)])
    return found.comparisons[0]


def test_what_broke_and_what_healed_is_named() -> None:
    one = compared([1.0] * 12 + [0.0], [0.0] * 12 + [1.0])
    (difference,) = one.evaluators
    assert (one.verdict, difference.verdict) == ("worse", "worse")
    assert [flip.row for flip in difference.flips if flip.direction == "broke"] == list(
        range(1, 13)
    )
    assert [flip.row for flip in difference.flips if flip.direction == "healed"] == [13]
    assert difference.flips[0].why == "score 0"
    pairs = difference.pairs
    assert (pairs.only_baseline, pairs.only_run, pairs.both, pairs.neither) == (12, 1, 0, 0)
    assert one.sentence.startswith("after is worse than before: a 0.08 against 0.92")


def test_only_rows_with_a_score_in_both_are_paired() -> None:
    one = compared([1.0, 1.0, None, 0.0], [1.0, None, 1.0, 0.0])
    (difference,) = one.evaluators
    assert (difference.rows, one.only_baseline, one.only_run) == (2, 1, 1)
    assert difference.difference.value == 0.0
    assert one.verdict == "no_difference_shown"


def test_without_a_common_evaluator_nothing_is_compared() -> None:
    found = compare_evaluations([scored("before", [1.0]), scored("after", [1.0], alias="b")])
    assert "have no scores in common" in found.comparisons[0].sentence


def test_each_evaluator_pays_for_the_others() -> None:
    draw = random.Random(3)
    before = [float(draw.random() < 0.5) for _ in range(40)]
    after = [float(draw.random() < 0.75) for _ in range(40)]
    first = scored("before", list(before))
    sides = [scored(name, list(after)) for name in ("b", "c", "d")]
    alone = compare_evaluations([first, sides[0]]).comparisons[0].evaluators[0]
    among = compare_evaluations([first, *sides]).comparisons[0].evaluators[0]
    assert among.p_value == alone.p_value == alone.p_adjusted
    assert among.p_adjusted == pytest.approx(min(1.0, 3 * alone.p_value))


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=30), st.randoms())
def test_the_difference_changes_its_sign_with_the_sides(
    before: Sequence[float | None], draw: random.Random
) -> None:
    after: Sequence[float | None] = [draw.choice([0.0, 0.5, 1.0]) for _ in before]
    there, back = compared(before, after), compared(after, before)
    (one,), (other,) = there.evaluators, back.evaluators
    assert one.difference.value == pytest.approx(-other.difference.value)
    assert one.p_value == pytest.approx(other.p_value)
    assert one.difference.low <= one.difference.value <= one.difference.high
    words = {"better": "worse", "worse": "better"}
    assert back.verdict == words.get(there.verdict, there.verdict)


def test_equal_evaluations_are_rarely_called_different() -> None:
    draw = random.Random(11)
    called = 0
    for _ in range(150):
        chances = [draw.random() for _ in range(30)]
        before: Sequence[float | None] = [float(draw.random() < chance) for chance in chances]
        after: Sequence[float | None] = [float(draw.random() < chance) for chance in chances]
        called += compared(before, after).verdict != "no_difference_shown"
    assert called <= 0.09 * 150
