from __future__ import annotations

from typing import Any

import pytest

from greenroom.judging import FaultJudgement, judging_usage, load_judgements, save_judgements
from greenroom.store import Store, Usage
from greenroom.store.database import StoreError
from tests.store.samples import sample_run

RUN = "id-sample"


def judgement(task_index: int = 0, **fields: Any) -> FaultJudgement:
    values: dict[str, Any] = {
        "task_index": task_index,
        "trial": 0,
        "author": "agent",
        "author_description": "It was the agent ‹✓›.",
        "kind": "other",
        "kind_description": "Otherwise.",
        "model": "judge-1",
        "usage": Usage(calls=2, prompt_tokens=100, completion_tokens=20, cost=0.5),
    }
    return FaultJudgement(**(values | fields))


def failed(task_index: int = 0, **fields: Any) -> FaultJudgement:
    nothing = {"author": None, "author_description": None, "kind": None, "kind_description": None}
    return judgement(task_index, **(nothing | {"error": "gone"} | fields))


@pytest.fixture
def filled(store: Store) -> Store:
    store.runs.create(sample_run())
    store.runs.create(sample_run("other"))
    return store


def test_nothing_is_there_before_anything_was_judged(filled: Store) -> None:
    assert load_judgements(filled.engine, RUN) == []
    assert judging_usage(filled.engine, RUN) == Usage()
    save_judgements(filled.engine, RUN, [])
    assert load_judgements(filled.engine, RUN) == []


def test_judgements_come_back_as_they_were(filled: Store) -> None:
    records = [judgement(2), judgement(1, trial=3), failed(0)]
    save_judgements(filled.engine, RUN, records)
    save_judgements(filled.engine, "id-other", [judgement(9)])
    assert load_judgements(filled.engine, RUN) == [records[2], records[1], records[0]]


def test_each_judge_has_its_own(filled: Store) -> None:
    save_judgements(filled.engine, RUN, [judgement(), judgement(model="judge-2", kind=None)])
    assert len(load_judgements(filled.engine, RUN)) == 2
    (second,) = load_judgements(filled.engine, RUN, judge="judge-2")
    assert second.kind is None


def test_the_latest_verdict_counts_and_all_is_paid_for(filled: Store) -> None:
    for record in (failed(), judgement(), judgement(author="user", kind=None), failed()):
        save_judgements(filled.engine, RUN, [record])
    (found,) = load_judgements(filled.engine, RUN)
    assert found.author == "user"
    assert judging_usage(filled.engine, RUN) == Usage(
        calls=8, prompt_tokens=400, completion_tokens=80, cost=2.0
    )


def test_they_go_with_their_run(filled: Store) -> None:
    save_judgements(filled.engine, RUN, [judgement()])
    filled.runs.delete(filled.runs.find("sample"))
    assert load_judgements(filled.engine, RUN) == []


def test_a_run_that_does_not_exist_has_no_judgements(filled: Store) -> None:
    with pytest.raises(StoreError):
        save_judgements(filled.engine, "nobody", [judgement()])
