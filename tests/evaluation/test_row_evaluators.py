"""What evaluators expect of single rows: columns of their own, and evaluators of the row's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from greenroom.errors import InputError
from greenroom.store import Store
from tests.evaluation.evaluating import completing, evaluated

ROWS = [
    {"question": "Capital of France?", "expected": "Paris", "says": "Par"},
    {"question": "Capital of Italy?", "expected": "Rome", "says": "Mil"},
]


def verdicts(found: Any) -> list[dict[str, bool | None]]:
    return [
        {alias: score.passed for alias, score in result.scores.items()}
        for result in found.results()
    ]


def test_an_evaluator_compares_with_a_column_of_its_own(store: Store) -> None:
    found = evaluated(store, completing, ROWS, "exact_match", "starts_with:expected=says")
    assert verdicts(found) == [
        {"exact_match": True, "starts_with": True},
        {"exact_match": True, "starts_with": False},
    ]
    assert found.evaluation.evaluators[1]["settings"] == {"expected": "says"}


def test_that_column_is_not_sent(store: Store) -> None:
    got: list[dict[str, Any]] = []

    def remember(**inputs: Any) -> str:
        got.append(inputs)
        return "Paris"

    evaluated(store, remember, ROWS[:1], "exact_match", "contains:expected=says")  # pyright: ignore[reportArgumentType]
    assert got == [{"question": "Capital of France?"}]


def test_a_message_in_that_column_is_read_like_the_expected_one(store: Store) -> None:
    said = {"role": "assistant", "content": "Paris"}
    row = {"chat": [{"role": "user", "content": "France?"}], "better": said}
    found = evaluated(store, completing, [row], "exact_match:expected=better")
    assert verdicts(found) == [{"exact_match": True}]


@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        ("contains:expected=sais", "Unknown column 'sais'. Did you mean 'says'?"),
        ("contains:expected=says,values=x", "values and expected exclude each other"),
        ("refusal:expected=says", "Unknown setting of the refusal evaluator 'expected'"),
        ("contains:expected=", "setting expected: String should have at least 1 character"),
    ],
)
def test_a_wrong_column_is_refused_at_the_start(store: Store, evaluator: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluated(store, completing, ROWS, evaluator)
    assert store.evaluations.standings() == []


@pytest.mark.parametrize(
    ("cell", "aliases"),
    [
        (None, {"exact_match"}),
        ("", {"exact_match"}),
        ("contains:values=Par", {"exact_match", "contains"}),
        ('["contains:values=Par", "x=regex:pattern=^P"]', {"exact_match", "contains", "x"}),
        (["contains:values=Par"], {"exact_match", "contains"}),
        ({"name": "contains", "settings": {"values": ["Par"]}}, {"exact_match", "contains"}),
    ],
)
def test_a_row_brings_evaluators_of_its_own(store: Store, cell: Any, aliases: set[str]) -> None:
    rows = [ROWS[0] | {"evaluators": cell}, ROWS[1]]
    first, second = verdicts(evaluated(store, completing, rows))
    assert first == dict.fromkeys(aliases, True)
    assert second == {"exact_match": True}


def test_one_of_the_same_name_takes_the_place_of_that_for_all(store: Store) -> None:
    rows = [
        ROWS[0] | {"expected": "PARIS", "evaluators": "exact_match:ignore_case=true"},
        ROWS[1] | {"expected": "ROME"},
    ]
    found = evaluated(store, completing, rows)
    assert verdicts(found) == [{"exact_match": True}, {"exact_match": False}]
    assert [spec["alias"] for spec in found.evaluation.evaluators] == ["exact_match"]


def test_figures_are_of_the_rows_that_have_the_evaluator(store: Store) -> None:
    rows = [
        ROWS[0] | {"evaluators": "contains:values=Par"},
        ROWS[1] | {"evaluators": "regex:pattern=x"},
    ]
    found = evaluated(store, completing, rows, name="own", gates=["contains.unscored<=0"])
    contains = next(one for one in found.figures.evaluators if one.alias == "contains")
    assert (contains.scored, contains.unscored, contains.mean.value) == (1, 0, 1.0)
    assert {"name": "contains", "alias": "contains", "settings": {}, "rows": 1} in (
        found.evaluation.evaluators
    )
    assert [gate.passed for gate in found.check("contains>=1", "contains.unscored<=0")] == [
        True,
        True,
    ]


def test_rows_alone_may_say_how_they_are_scored(store: Store) -> None:
    rows = [row | {"evaluators": "contains:values=Par"} for row in ROWS]
    store.test_sets.save("rows", rows)
    assert verdicts(_without_others(store)) == [{"contains": True}, {"contains": False}]
    store.test_sets.save("rows", [rows[0], ROWS[1]])
    with pytest.raises(InputError, match=r"Row 2 has no evaluator: fill its column evaluators"):
        _without_others(store)


def _without_others(store: Store) -> Any:
    from greenroom import evaluate

    return evaluate(completing, "rows", [], store=store, show_progress=False)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["exact_match", "exact_mach"], "Row 2, evaluators: Unknown evaluator 'exact_mach'"),
        (["", "contains:value=x"], "Row 2, evaluators: Unknown setting of the contains"),
        (["", "contains:mode=x"], "Row 2, evaluators: The contains evaluator, setting mode"),
        ([7, ""], "Row 1, evaluators: 7 is no evaluator: write NAME"),
        (["contains:expected=says", ""], "Row 1, evaluators: a row says itself what it expects"),
        (["x=contains:values=a", "x=regex:pattern=a"], "Row 2: 'x' is regex here and contains"),
        ('["contains", "contains"]', "Row 1, evaluators: Two evaluators are called 'contains'"),
        *(
            (one, r"Row 1, evaluators: a row cannot bring '.*'\. Give it by --evaluator")
            for one in (
                "python:function=os:system",
                "checks.py",
                "./checks.py",
                "x=checks.py:short",
                "os:system",
                "webhook:url=http://127.0.0.1:1/,token_variable=OPENAI_API_KEY",
                "llm_judge:model=gpt-4o",
            )
        ),
    ],
)
def test_what_is_wrong_with_a_row_is_told_at_the_start(
    store: Store, cells: Sequence[Any] | str, message: str
) -> None:
    given = [cells, ""] if isinstance(cells, str) else cells
    rows = [row | {"evaluators": cell} for row, cell in zip(ROWS, given, strict=True)]
    with pytest.raises(InputError, match=message):
        evaluated(store, completing, rows)
    assert store.evaluations.standings() == []


def test_the_column_can_be_an_input(store: Store) -> None:
    def count(evaluators: int) -> str:
        return str(evaluators)

    rows = [{"evaluators": 3, "expected": "3"}]
    found = evaluated(store, count, rows, input_columns=["evaluators"])  # pyright: ignore[reportArgumentType]
    assert verdicts(found) == [{"exact_match": True}]
