from __future__ import annotations

import pytest

from greenroom.reports.report import shown_outcome
from greenroom.store import ResultFilter, ResultRecord, ScoreRecord, Store, cell_filter
from greenroom.store.evaluation_pages import FINE, shown_outcomes
from tests.store.samples import sample_evaluation, sample_result

KEY = "id-evaluation"
PASS, FAIL = ScoreRecord(score=1.0, passed=True), ScoreRecord(score=0.0, passed=False)
NONE, BROKEN = ScoreRecord(score=None), ScoreRecord(score=None, broken=True)


def _results() -> list[ResultRecord]:
    return [
        sample_result(0, scores={"a": PASS, "b": PASS}),
        sample_result(1, scores={"a": FAIL, "b": PASS}),
        sample_result(2, scores={"a": PASS, "b": FAIL}),
        sample_result(3, scores={"a": NONE, "b": BROKEN}),
        sample_result(4, scores={"a": PASS, "b": BROKEN}),
        sample_result(5, outcome="crashed", error="ValueError: ü", scores={"a": FAIL, "b": FAIL}),
        sample_result(6, outcome="infrastructure_error", error="away", scores={}),
        sample_result(7, scores={}),
        sample_result(8, scores={"a.b": FAIL, "a": PASS}, outputs="NUL \0 \ud800"),
    ]


@pytest.fixture
def filled(store: Store) -> Store:
    store.test_sets.save("capitals", [{"country": "an older version"}])
    rows = [{"country": f"Country {number}", "said": '"so"\n'} for number in range(9)]
    version, _ = store.test_sets.save("capitals", rows)
    store.test_sets.save("capitals", [{"country": "a newer version"}])
    store.evaluations.create(sample_evaluation(version))
    store.evaluations.add(KEY, _results())
    return store


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (ResultFilter(), [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (ResultFilter(failed=True), [1, 2, 5, 6, 8]),
        (ResultFilter(outcome="passed"), [0, 4]),
        (ResultFilter(outcome="not_passed"), [1, 2, 8]),
        (ResultFilter(outcome="answered"), [3, 7]),
        (ResultFilter(outcome="crashed"), [5]),
        (ResultFilter(outcome="nonsense"), []),
        (ResultFilter(evaluator="b"), [0, 1, 2, 3, 4, 5]),
        (ResultFilter(evaluator="b", failed=True), [2, 5]),
        (ResultFilter(evaluator="a.b", failed=True), [8]),
        (ResultFilter(unscored_by="b"), [3, 4]),
        (ResultFilter(text="country 3"), [3]),
        (ResultFilter(text='"so"\n'), [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (ResultFilter(text="valueerror: ü"), [5]),
        (ResultFilter(text="version"), []),
        (ResultFilter(text="country", failed=True, row=2), [2]),
    ],
)
def test_results_are_filtered_by_what_evaluators_said(
    filled: Store, wanted: ResultFilter, rows: list[int]
) -> None:
    evaluation = filled.evaluations.find(KEY)
    found = cell_filter(filled.engine, evaluation, wanted)
    assert [one.row for one in filled.evaluations.pages.records(KEY, wanted=found)] == rows


def test_outcomes_are_counted_as_reports_show_them(filled: Store) -> None:
    expected: dict[str, int] = {}
    for result in _results():
        expected[shown_outcome(result)] = expected.get(shown_outcome(result), 0) + 1
    assert shown_outcomes(filled.engine, KEY) == expected
    evaluation = filled.evaluations.find(KEY)
    failed = cell_filter(filled.engine, evaluation, ResultFilter(failed=True))
    fine = sum(expected[name] for name in FINE)
    assert filled.evaluations.pages.count(KEY, failed) == len(_results()) - fine
