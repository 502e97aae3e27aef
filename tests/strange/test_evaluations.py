"""Strange values of workflows, test sets and evaluators: the evaluation ends and can be told."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from greenroom import workflow
from greenroom.api import EvaluationResult, evaluate
from greenroom.store import Store
from greenroom.workflows import report_usage

# Each command opens the store for itself; its connections end with the process.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

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


def assess(strange: Strange, store: Store, **options: Any) -> EvaluationResult:
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
    store.test_sets.save(f"{strange.test_set}{number}", rows)
    return evaluate(
        made,
        f"{strange.test_set}{number}",
        ["exact_match", "similarity", "json_diff", judge],
        store=store,
        name=f"{strange.name}{number}",
        show_progress=False,
        max_retries=0,
        **options,
    )
