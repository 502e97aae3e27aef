"""Strange values of workflows, test sets and evaluators: the evaluation ends and can be told."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom import workflow
from greenroom.api import EvaluationResult, evaluate
from greenroom.errors import InputError
from greenroom.store import Store, open_store
from greenroom.workflows import report_usage
from tests.cli.running import Greenroom
from tests.strange.outputs import check_done, check_every_form, check_markdown
from tests.strange.values import MARK, deep, examples, kept, normal, numbers, texts, values, written

pytestmark = pytest.mark.slow

NUMBER = count()


@dataclass
class Strange:
    """What a workflow, a test set and an evaluator hold."""

    output: Any = "Paris"
    piece: Any = None
    error: str = ""
    tokens: Any = 1
    cost: Any = 0.5
    described: str = "Names capitals."
    title: str = "guide"
    cell: Any = "France"
    column: str = "land"
    expected: Any = "Paris"
    reason: str = "good"
    score: Any = 1.0
    score_error: str = ""
    name: str = ""
    test_set: str = "rows"


def assess(strange: Strange, store: Store, rows_of: str = "", **options: Any) -> EvaluationResult:
    """Two rows for a workflow, with evaluators."""

    def guide(question: str, **others: Any) -> Any:
        report_usage(prompt_tokens=strange.tokens, completion_tokens=1, cost=strange.cost)
        if strange.error:
            raise ValueError(strange.error)
        return strange.output

    def streaming(question: str, **others: Any) -> Any:
        yield strange.piece
        yield strange.piece

    def judge(outputs: Any) -> Any:
        if strange.score_error:
            raise ValueError(strange.score_error)
        return {"score": strange.score, "reason": strange.reason}

    chosen = guide if strange.piece is None else streaming
    made = workflow(name=strange.title, description=strange.described)(chosen)
    rows = [
        {"question": "Which?", strange.column: strange.cell, "expected": strange.expected},
        {"question": "And?", "expected": "Rome"},
    ]
    number = next(NUMBER)
    name = rows_of or str(store.test_sets.save(f"{strange.test_set}{number}", rows)[0])
    return evaluate(
        made,
        name,
        ["exact_match", "similarity", "json_diff", judge],
        store=store,
        name=f"n{strange.name[:150]}{number}",
        show_progress=False,
        max_retries=0,
        **options,
    )


TEXTS = (
    "output", "piece", "error", "described", "title", "cell", "column", "expected", "reason",
    "score_error", "name",
)  # fmt: skip
ROWS = ("cell", "column", "expected")
strange_texts = st.dictionaries(st.sampled_from(TEXTS), texts, min_size=1, max_size=5)
strange_values = st.fixed_dictionaries(
    {
        "output": values,
        "cell": values.map(kept),
        "expected": values.map(kept),
        "tokens": numbers,
        "cost": numbers,
        "score": numbers,
    }
)


def check_result(store: Store, result: EvaluationResult, given: dict[str, Any]) -> None:
    """The evaluation is whole, its records are as they were, and every form tells of it."""
    assert store.evaluations.find(result.name).status == "complete"
    (first, _) = store.evaluations.results(result.evaluation.id)
    failed = given.get("error") and given.get("piece") is None
    assert first.outcome == ("crashed" if failed else "answered")
    if failed:
        assert first.error is not None
        assert MARK in first.error
    elif "piece" not in given and "output" in given:
        assert first.outputs == kept(given["output"])
    version = store.test_sets.find(result.evaluation.config["test_set"].partition("@")[0])
    row = next(iter(store.test_sets.rows(version)))
    if ROWS[0] in given:
        assert kept(row[normal(given.get("column", "land"))]) == kept(given["cell"])
    told = check_every_form(result.report)
    if "output" in given and isinstance(given["output"], str) and first.outputs == given["output"]:
        for form in ("json", "jsonl", "csv"):
            assert MARK in told[form]


@examples(2)
@given(strange=strange_texts)
def test_strange_texts_in_an_evaluation(store: Store, strange: dict[str, Any]) -> None:
    check_result(store, assess(Strange(**strange), store), strange)


@examples(3)
@given(strange=strange_values)
def test_strange_values_in_an_evaluation(store: Store, strange: dict[str, Any]) -> None:
    check_result(store, assess(Strange(**strange), store), strange)


@pytest.mark.slow
@examples(20)
@given(strange=strange_texts)
def test_many_strange_texts_in_an_evaluation(store: Store, strange: dict[str, Any]) -> None:
    check_result(store, assess(Strange(**strange), store), strange)


@pytest.mark.slow
@examples(20)
@given(strange=strange_values)
def test_many_strange_values_in_an_evaluation(store: Store, strange: dict[str, Any]) -> None:
    check_result(store, assess(Strange(**strange), store), strange)


@pytest.mark.slow
@examples(4)
@given(strange=strange_texts)
def test_commands_tell_of_strange_evaluations(
    store: Store, greenroom: Greenroom, tmp_path: Path, strange: dict[str, Any]
) -> None:
    result = assess(Strange(**strange), store)
    name, rows = result.name, result.evaluation.config["test_set"]
    other = assess(Strange(), store, rows)
    for command in (
        ("evals", "list"),
        ("evals", "list", "--json"),
        ("evals", "show", name, "--all"),
        ("evals", "show", name, "--row", 1),
        ("evals", "show", name, "--json"),
        ("evals", "check", name),
        ("evals", "export", name, "--format", "csv"),
        ("compare", other.name, name, "-o", tmp_path / "compared.md"),
        ("testset", "list"),
        ("testset", "list", "--json"),
        ("testset", "show", rows),
        ("testset", "show", rows, "--json"),
    ):
        done = check_done(greenroom(*command), command)
        assert done.status in (0, 1), (command, done.err)
    check_markdown((tmp_path / "compared.md").read_text())
    version = store.test_sets.find(rows.partition("@")[0])
    for ending in ("csv", "json", "jsonl"):
        file = tmp_path / f"rows.{ending}"
        done = check_done(greenroom("testset", "export", rows, file))
        if done.status != 0:
            continue  # a form that cannot hold the rows says so
        done = check_done(greenroom("testset", "import", file, "--name", f"again {ending}"))
        assert done.status == 0, done.err
        again = store.test_sets.find(f"again {ending}")
        found = next(iter(store.test_sets.rows(again)))
        assert written(found) == written(next(iter(store.test_sets.rows(version))))


def test_a_workflow_whose_name_is_too_long_for_a_file(tmp_path: Path) -> None:
    with closing(open_store()) as store:
        assess(Strange(title="word " * 1_000), store)


@pytest.mark.parametrize("levels", [201, 900, 10_000])
def test_what_is_nested_too_deeply_counts_against_the_workflow(levels: int) -> None:
    with closing(open_store()) as store:
        result = assess(Strange(output=deep(levels)), store)
        (first, _) = store.evaluations.results(result.evaluation.id)
        assert first.outcome == "crashed"
        assert "nested more than 200 levels" in str(first.error)
        with pytest.raises(InputError, match=r"Row 1 cannot be stored.*nested more than 200"):
            store.test_sets.save("deep", [{"cell": deep(levels)}])
        # As text it is a text.
        text = "[" * levels + "]" * levels
        result = assess(Strange(cell=text, expected=text, output=text), store)
        check_every_form(result.report)


@pytest.mark.slow
def test_cells_of_ten_megabytes(greenroom: Greenroom, tmp_path: Path) -> None:
    large = "plum\x1b[31m" + "x" * 10_000_000
    (tmp_path / "rows.jsonl").write_text(json.dumps({"q": large}) + "\n")
    done = greenroom("testset", "import", tmp_path / "rows.jsonl", "--name", "large")
    assert done.status == 0, done.err
    assert len(check_done(greenroom("testset", "show", "large")).out) < 100_000
    with closing(open_store()) as store:
        result = assess(Strange(cell=large, output="x" * 10_000_000), store)
    assert len(check_done(greenroom("evals", "show", result.name, "--all")).out) < 100_000
    done = greenroom("evals", "report", result.name, "-o", tmp_path / "r.html")
    assert done.status == 0, done.err
    assert (tmp_path / "r.html").stat().st_size < 20_000_000
