from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event

from greenroom.store import CellFilter, ResultRecord, ScoreRecord, Store
from tests.store.samples import (
    MOMENT,
    sample_episode,
    sample_evaluation,
    sample_result,
    sample_run,
)

RUN = "id-sample"
EVALUATION = "id-evaluation"


@pytest.fixture
def asked(store: Store) -> list[str]:
    """The statements that the store is asked from here on."""
    found: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *call: found.append(call[2]))
    return found


def test_pages_of_jobs_come_newest_first_and_none_is_skipped_or_repeated(store: Store) -> None:
    # Two are created at the same moment: their ids tell them apart.
    for number in range(7):
        when = MOMENT + timedelta(seconds=number // 2)
        store.runs.create(sample_run(f"run-{number}", created_at=when))
    names: list[str] = []
    after = None
    while page := store.runs.pages.jobs(after=after, limit=3):
        names += [one.job.name for one in page]
        after = (page[-1].job.created_at.isoformat(), page[-1].job.id)
    assert names == [f"run-{number}" for number in (6, 5, 4, 3, 2, 1, 0)]
    assert [one.job.name for one in store.runs.standings()] == names


def test_a_page_of_jobs_is_one_statement_and_says_how_each_stands(
    store: Store, asked: list[str]
) -> None:
    store.runs.create(sample_run("sample"))
    store.runs.create(sample_run("empty", created_at=MOMENT - timedelta(days=1)))
    failed = {"outcome": "failure", "reward": 0.0}
    store.runs.add(RUN, [sample_episode(0, 0), sample_episode(0, 1, **failed), sample_episode(1)])
    asked.clear()
    sample, empty = store.runs.pages.jobs(limit=5)
    assert len(asked) == 1
    assert (sample.finished, sample.mean, sample.job.status) == (3, 0.75, "interrupted")
    assert (empty.finished, empty.mean) == (0, None)
    assert store.runs.pages.standing(RUN) == sample
    assert store.runs.pages.standing("none") is None


def test_jobs_are_found_by_name_subject_and_dataset_in_any_case(store: Store) -> None:
    version, _ = store.test_sets.save("capitals", [{"country": "France"}])
    store.evaluations.create(sample_evaluation(version, name="First 100%"))
    store.evaluations.create(
        sample_evaluation(version, id="b", name="second", workflow="app.py:guide")
    )

    def found(text: str) -> set[str]:
        return {one.job.name for one in store.evaluations.pages.jobs(text=text)}

    assert found("first") == {"First 100%"}
    assert found("GUIDE") == {"second"}
    assert found("capitals@1") == {"First 100%", "second"}
    assert found("100%") == {"First 100%"}
    assert found("%") == {"First 100%"}  # it is no wildcard
    assert found("nowhere\0") == set()


@pytest.fixture
def filled(store: Store) -> Store:
    rows = [{"country": f"Country {number}"} for number in range(6)]
    version, _ = store.test_sets.save("capitals", rows)
    store.evaluations.create(sample_evaluation(version))
    store.evaluations.add(EVALUATION, [*_results()])
    return store


def _results() -> list[ResultRecord]:
    low = {"exact_match": ScoreRecord(score=0.25, passed=False, reason='said "no"\nto it')}
    return [
        sample_result(0, 0),
        sample_result(0, 1, scores=low),
        sample_result(1, 0, outcome="crashed", error="ValueError: bad", scores=low),
        sample_result(2, 0, outcome="infrastructure_error", error="away", scores={}),
        sample_result(3, 0, outputs="Zürich 100%", scores={"exact_match": ScoreRecord(score=1)}),
    ]


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        (CellFilter(), [(0, 0), (0, 1), (1, 0), (2, 0), (3, 0)]),
        (CellFilter(outcomes=["crashed", "infrastructure_error"]), [(1, 0), (2, 0)]),
        (CellFilter(outcomes=[]), []),
        (CellFilter(item=0), [(0, 0), (0, 1)]),
        (CellFilter(at_least=0.5), [(0, 0), (3, 0)]),
        (CellFilter(at_most=0.5), [(0, 1), (1, 0)]),
        (CellFilter(text="PARIS"), [(0, 0), (0, 1), (1, 0), (2, 0)]),
        (CellFilter(text='"no"\nTo'), [(0, 1), (1, 0)]),
        (CellFilter(text="Zürich 100%"), [(3, 0)]),
        (CellFilter(text="%"), [(3, 0)]),
        (CellFilter(text="\ud800"), []),
    ],
)
def test_results_are_filtered_by_the_database(
    filled: Store, wanted: CellFilter, keys: list[tuple[int, int]]
) -> None:
    pages = filled.evaluations.pages
    assert [one.key for one in pages.records(EVALUATION, wanted=wanted)] == keys
    summaries = pages.summaries(EVALUATION, wanted=wanted)
    assert [(one.row, one.repeat) for one in summaries] == keys
    assert pages.count(EVALUATION, wanted) == len(keys)
    assert sum(pages.outcomes(EVALUATION, wanted).values()) == len(keys)


def test_results_are_counted_by_outcome(filled: Store) -> None:
    counted = filled.evaluations.pages.outcomes(EVALUATION)
    assert counted == {"answered": 3, "crashed": 1, "infrastructure_error": 1}
    assert filled.evaluations.pages.outcomes("none") == {}


def test_results_of_single_cells_are_read_at_once(filled: Store, asked: list[str]) -> None:
    asked.clear()
    found = filled.evaluations.pages.records_of(EVALUATION, [(0, 1), (3, 0), (5, 5)])
    assert len(asked) == 1
    assert list(found) == [(0, 1), (3, 0)]
    assert filled.evaluations.pages.records_of(EVALUATION, []) == {}


@given(limit=st.integers(1, 7), start=st.none() | st.tuples(st.integers(0, 4), st.integers(0, 2)))
def test_pages_put_together_are_the_whole(
    limit: int, start: tuple[int, int] | None, paged: Store
) -> None:
    pages = paged.evaluations.pages
    whole = [(one.row, one.repeat) for one in pages.summaries(EVALUATION)]
    found: list[tuple[int, int]] = []
    after = start
    while page := pages.records(EVALUATION, after=after, limit=limit):
        assert len(page) <= limit
        found += [one.key for one in page]
        after = page[-1].key
    assert found == [key for key in whole if start is None or key > start]


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from sqlalchemy import make_url

    from greenroom.store import open_engine

    path = tmp_path_factory.mktemp("pages") / "store.db"
    store = Store(open_engine(make_url(f"sqlite:///{path}")))
    version, _ = store.test_sets.save("capitals", [{"country": "France"}] * 4)
    store.evaluations.create(sample_evaluation(version))
    store.evaluations.add(EVALUATION, [sample_result(row, n) for row in range(4) for n in range(3)])
    yield store
    store.close()
