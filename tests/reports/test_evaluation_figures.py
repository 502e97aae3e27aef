from __future__ import annotations

import pytest
from sqlalchemy import event

from greenroom.reports import build_report, compare_stored
from greenroom.reports.evaluation_figures import build_figures
from greenroom.store import ScoreRecord, Store
from tests.store.samples import sample_evaluation, sample_result

KEY = "id-evaluation"


@pytest.fixture
def filled(store: Store) -> Store:
    version, _ = store.test_sets.save("capitals", [{"country": str(n)} for n in range(12)])
    config = {"gates": ["exact_match.mean>=0.9", "errors<=0"]}
    store.evaluations.create(sample_evaluation(version, config=config, repeats=1))
    low = {"exact_match": ScoreRecord(score=0.0, passed=False, reason="differs")}
    none = {"exact_match": ScoreRecord(score=None, reason="nothing is expected")}
    store.evaluations.add(
        KEY,
        [
            *(sample_result(row) for row in range(5)),
            *(sample_result(row, scores=low) for row in (5, 6)),
            *(sample_result(row, scores=none) for row in (7, 8)),
            sample_result(9, outcome="crashed", error="ValueError: bad", scores=low),
            sample_result(10, outcome="infrastructure_error", error="away", scores={}),
        ],
    )
    return store


def test_figures_are_those_of_the_report(filled: Store) -> None:
    evaluation = filled.evaluations.find(KEY)
    whole, quick = build_report(filled, evaluation), build_figures(filled, evaluation)
    assert quick.headline == whole.headline
    assert quick.notes == whole.notes
    assert any("nothing is expected" in note for note in quick.notes)
    assert quick.facts == whole.facts
    assert quick.gates == whole.gates
    assert [gate.passed for gate in quick.gates] == [True, False]
    kept = [section.id for section in quick.sections]
    left_out = [section.id for section in whole.sections if section.id not in kept]
    assert quick.sections == [section for section in whole.sections if section.id in kept]
    assert {"figures", "outcomes", "costs"} <= {*kept}
    assert left_out == ["cells", "failures"]


def test_figures_do_not_read_results_in_full(filled: Store) -> None:
    asked: list[str] = []
    event.listen(filled.engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    build_figures(filled, filled.evaluations.find(KEY))
    whole = [one for one in asked if "results.record" in one]
    assert len(whole) == 1  # those without a score, to say why
    assert "LIMIT" in whole[0]


def test_a_comparison_without_reasons_comes_to_the_same(filled: Store) -> None:
    version = filled.test_sets.find("capitals")
    filled.evaluations.create(sample_evaluation(version, id="b", name="b", repeats=1))
    filled.evaluations.add("b", [sample_result(row) for row in range(3, 12)])
    pair = [filled.evaluations.find(KEY), filled.evaluations.find("b")]
    whole, quick = compare_stored(filled, pair), compare_stored(filled, pair, reasons=False)
    assert quick.headline == whole.headline
    assert quick.section("sides") == whole.section("sides")
    assert quick.section("differences") == whole.section("differences")
