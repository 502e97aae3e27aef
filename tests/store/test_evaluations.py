from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import inf, nan
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from greenroom.errors import InputError, UnknownName
from greenroom.store import (
    Attempt,
    LeaseOwner,
    ScoreRecord,
    ScoreSummary,
    Store,
    StoreError,
    Usage,
    open_store,
    this_process,
)
from greenroom.store.records import small_usage
from tests.store.samples import MOMENT, hold, sample_evaluation, sample_result

KEY = "id-evaluation"


@pytest.fixture
def filled(store: Store) -> Store:
    version, _ = store.test_sets.save("capitals", [{"country": "France"}, {"country": "Peru"}])
    store.evaluations.create(sample_evaluation(version))
    return store


def test_an_evaluation_is_kept_and_found_by_name_or_id(filled: Store) -> None:
    version = filled.test_sets.find("capitals")
    expected = sample_evaluation(version, status="interrupted")
    assert filled.evaluations.find("evaluation") == expected
    assert filled.evaluations.find(KEY) == expected
    assert filled.evaluations.all() == [expected]
    with pytest.raises(UnknownName, match="Did you mean 'evaluation'"):
        filled.evaluations.find("evalution")


def test_two_evaluations_cannot_have_one_name(filled: Store) -> None:
    again = sample_evaluation(filled.test_sets.find("capitals"), id="another")
    with pytest.raises(InputError, match="an evaluation named 'evaluation' already"):
        filled.evaluations.create(again)
    assert filled.evaluations.free_name("evaluation") == "evaluation-1"


def test_an_evaluation_needs_its_test_set(store: Store) -> None:
    version, _ = store.test_sets.save("capitals", [{"country": "France"}])
    stray = sample_evaluation(version, test_set_version=7)
    with pytest.raises(StoreError):
        store.evaluations.create(stray)


def test_a_result_comes_back_as_it_was(filled: Store) -> None:
    record = sample_result(
        outputs=[{"role": "assistant", "content": "\ud800 \0 ü"}, 12345678901234567890123],
        conversation=[{"role": "user", "content": "hi"}],
        trace_id="abc",
    )
    assert filled.evaluations.add(KEY, [record]) == [True]
    assert list(filled.evaluations.results(KEY)) == [record]
    assert filled.evaluations.result(KEY, (0, 0)) == record
    assert filled.evaluations.result(KEY, (0, 1)) is None
    (summary,) = filled.evaluations.summaries(KEY)
    assert (summary.row, summary.repeat, summary.outcome, summary.cost) == (0, 0, "answered", 0.25)
    assert summary.scores == {"exact_match": ScoreSummary(1.0, True)}
    assert summary.usage == small_usage(record.usage)


def test_what_has_no_score_has_none_and_not_zero(filled: Store) -> None:
    scores = {
        "a": ScoreRecord(score=None, reason="no expected output"),
        "b": ScoreRecord(score=nan, broken=True),
    }
    filled.evaluations.add(KEY, [sample_result(scores=scores)])
    (found,) = filled.evaluations.results(KEY)
    assert [one.score for one in found.scores.values()] == [None, None]
    (summary,) = filled.evaluations.summaries(KEY)
    assert summary.scores == {
        "a": ScoreSummary(None, None),
        "b": ScoreSummary(None, None, broken=True),
    }


def test_numbers_that_json_has_no_word_for_become_null(filled: Store) -> None:
    filled.evaluations.add(KEY, [sample_result(outputs={"loss": inf})])
    (found,) = filled.evaluations.results(KEY)
    assert found.outputs == {"loss": None}


def test_a_result_is_kept_once(filled: Store) -> None:
    first, second = sample_result(), sample_result(outputs="Rome")
    assert filled.evaluations.add(KEY, [first, second]) == [True, False]
    assert filled.evaluations.add(KEY, [second]) == [False]
    assert list(filled.evaluations.results(KEY)) == [first]


def test_an_error_is_replaced_by_an_answer_and_what_it_took_is_kept(filled: Store) -> None:
    error = sample_result(
        outcome="infrastructure_error", outputs=None, scores={}, error="status 500 \0"
    )
    filled.evaluations.add(KEY, [error])
    assert filled.evaluations.finished(KEY) == set()
    assert filled.evaluations.add(KEY, [sample_result(attempts=2)]) == [True]
    assert filled.evaluations.finished(KEY) == {(0, 0)}
    assert filled.evaluations.add(KEY, [error]) == [False]
    (attempt,) = filled.evaluations.attempts(KEY)
    assert (attempt.key, attempt.error) == ((0, 0), "status 500 \ufffd")
    assert attempt.usage == error.usage


def test_attempts_that_came_to_nothing_are_kept(filled: Store) -> None:
    usage = {"judge": Usage(calls=2, cost=None)}
    started = MOMENT.isoformat()
    attempt = Attempt((1, 1), started, 2.0, "interrupted", usage)
    filled.evaluations.add_attempt(KEY, attempt)
    assert filled.evaluations.attempts(KEY) == [attempt]


def test_a_transaction_is_all_or_nothing(filled: Store) -> None:
    written: list[str] = []

    def lose_the_second(*arguments: Any) -> None:
        written.extend(["INSERT"] if "INSERT INTO results" in arguments[2] else [])
        if len(written) == 2:
            raise OperationalError(arguments[2], None, Exception("disk I/O error"))

    event.listen(filled.engine, "before_cursor_execute", lose_the_second)
    with pytest.raises(StoreError):
        filled.evaluations.add(KEY, [sample_result(), sample_result(1)])
    event.remove(filled.engine, "before_cursor_execute", lose_the_second)
    assert list(filled.evaluations.summaries(KEY)) == []


def test_an_evaluation_is_complete_when_every_cell_has_a_result(filled: Store) -> None:
    records = [sample_result(row, repeat) for row in (0, 1) for repeat in (0, 1)]
    filled.evaluations.add(KEY, records[:3])
    assert filled.evaluations.find(KEY).status == "interrupted"
    filled.evaluations.add(KEY, [records[3].model_copy(update={"outcome": "infrastructure_error"})])
    assert filled.evaluations.find(KEY).status == "interrupted"
    filled.evaluations.add(KEY, records[3:])
    assert filled.evaluations.find(KEY).status == "complete"


def test_deleting_an_evaluation_takes_everything_along_but_the_test_set(filled: Store) -> None:
    error = sample_result(outcome="infrastructure_error", error="x")
    filled.evaluations.add(KEY, [error])
    filled.evaluations.add(KEY, [sample_result()])
    filled.evaluations.delete(filled.evaluations.find(KEY))
    assert filled.evaluations.all() == []
    with filled.engine.connect() as connection:
        for table in ("results", "failed_attempts"):
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0
    assert filled.test_sets.find("capitals").row_count == 2


def test_one_process_at_a_time_works_on_an_evaluation(filled: Store) -> None:
    evaluation = filled.evaluations.find(KEY)
    mine, other = this_process(), LeaseOwner("elsewhere", 1, "x")
    hold(filled.evaluations, evaluation, other)
    assert filled.evaluations.find(KEY).status == "running"
    words = r"Another process works on the evaluation 'evaluation' \(elsewhere/1\)"
    with pytest.raises(InputError, match=words):
        hold(filled.evaluations, evaluation, mine)
    with pytest.raises(InputError, match="is under way: stop it first"):
        filled.evaluations.delete(evaluation)
    assert filled.evaluations.workers.look(KEY, other, renew=True).member
    assert not filled.evaluations.workers.look(KEY, mine, renew=True).member
    filled.evaluations.workers.leave(KEY, other)
    hold(filled.evaluations, evaluation, mine)


def test_many_writers_keep_each_result_once(filled: Store) -> None:
    other = open_store()
    records = [sample_result(row, repeat) for row in range(20) for repeat in range(2)]

    def add(number: int) -> int:
        store = (filled, other)[number % 2]
        return sum(sum(store.evaluations.add(KEY, [record])) for record in records)

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(add, range(4))) == len(records)
    found = [(one.row, one.repeat) for one in filled.evaluations.results(KEY)]
    assert found == [(row, repeat) for row in range(20) for repeat in range(2)]
    other.close()


def test_people_can_query_it(filled: Store) -> None:
    filled.evaluations.add(KEY, [sample_result(), sample_result(1)])
    question = (
        "SELECT jobs.name, test_sets.name, avg(seconds), count(*) FROM results "
        "JOIN jobs ON jobs.id = job_id "
        "JOIN test_sets ON test_sets.id = test_set_id GROUP BY jobs.name, test_sets.name"
    )
    with filled.engine.connect() as connection:
        found = tuple(connection.execute(text(question)).one())
    assert found == ("evaluation", "capitals", 0.5, 2)
