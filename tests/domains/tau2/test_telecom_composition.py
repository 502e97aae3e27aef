"""Telecom's tasks are composed by a rule: with the official texts it gives the official file."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from greenroom.domains.tau2.telecom.composition import (
    INTENTS,
    compose_task,
    compose_tasks,
    selections,
    texts_of,
)
from greenroom.domains.tau2.telecom.issues import ISSUES, Caller
from greenroom.errors import DataError
from tests.domains.tau2.telecom_play import DATA, official_tasks


@pytest.mark.slow
@pytest.mark.tau2_data
def test_the_rule_gives_the_official_task_file_byte_for_byte() -> None:
    composed = compose_tasks(texts_of(official_tasks()))
    assert len(composed) == 2285
    text = json.dumps(composed, indent=2, ensure_ascii=False)
    assert text.encode() == gzip.decompress((DATA / "tasks.json.gz").read_bytes())


@pytest.mark.tau2_data
def test_a_few_tasks_give_all_texts() -> None:
    # One of each intent, place, persona and outcome: the first two dozen of each list have them.
    seen: dict[tuple[str, bool, str, bool], dict[str, object]] = {}
    for record in official_tasks():
        task_id = record["id"]
        key = (
            task_id.partition("]")[0],
            "abroad" in task_id,
            task_id[-6:],
            "ACTION" in record["evaluation_criteria"]["reward_basis"],
        )
        seen.setdefault(key, record)
    refuelled = [r for r in official_tasks() if "data_usage_exceeded" in r["id"]]
    intents = {r["id"].partition("]")[0]: r for r in refuelled}
    assert compose_tasks(texts_of([*seen.values(), *intents.values()])) == official_tasks()


@pytest.mark.tau2_data
def test_a_missing_text_is_named() -> None:
    mobile = [r for r in official_tasks() if r["id"].startswith("[mobile")]
    with pytest.raises(DataError, match="intent service_issue gives the text 'purpose'"):
        texts_of(mobile)


@pytest.mark.parametrize(
    ("intent", "counts"),
    [
        ("mobile_data_issue", [8, 33, 65, 75, 51, 19, 3]),
        ("service_issue", [6, 14, 16, 9, 2]),
        ("mms_issue", [6, 54, 202, 421, 543, 448, 232, 69, 9]),
    ],
)
def test_the_number_of_issues_in_tasks(intent: str, counts: list[int]) -> None:
    found = Counter(len(names) for names, _persona in selections(intent))
    assert [found[size] for size in range(1, 10) if found[size]] == counts


def test_every_issue_belongs_to_an_intent() -> None:
    chosen = {name for intent in INTENTS.values() for names in intent.choices for name in names}
    assert set(ISSUES) == chosen - {"data_usage_exceeded_no_refuel"}


@pytest.mark.tau2_data
def test_a_task_of_another_caller_names_their_line_throughout() -> None:
    texts = texts_of(official_tasks())
    caller = Caller("Ada Byron", "555-000-1815", "C7", "L7", "B7", 3.5, 1.0)
    issues = ["overdue_bill_suspension", "data_usage_exceeded"]
    record = compose_task(texts, "mms_issue", issues, "Easy", caller)
    assert record["id"] == "[mms_issue]data_usage_exceeded|overdue_bill_suspension[PERSONA:Easy]"
    text = json.dumps([record["initial_state"], record["evaluation_criteria"]])
    assert "C1001" not in text
    assert "L1002" not in text
    assert "B1234321" not in text
    refuel = record["evaluation_criteria"]["actions"][0]
    assert refuel["arguments"] == {"customer_id": "C7", "line_id": "L7", "gb_amount": 1.0}
