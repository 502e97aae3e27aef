"""Evaluating in tests: rows go in, an evaluation comes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from greenroom import chat_workflow, workflow
from greenroom.api import EvaluationResult, evaluate
from greenroom.store import Store
from greenroom.workflows import Workflow

CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid"}
QUESTIONS = [
    {"question": "Capital of France?", "expected": "Paris"},
    {"question": "Capital of Italy?", "expected": "Rome"},
    {"question": "Capital of Peru?", "expected": "Lima"},
]


def capital_in(text: str) -> str:
    return next((city for land, city in CAPITALS.items() if land in text), "I do not know.")


@chat_workflow
async def chatting(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Names the capital of the country in the last message."""
    return {"role": "assistant", "content": capital_in(messages[-1]["content"])}


@workflow
async def completing(question: str) -> str:
    """Names the capital of the country in a question."""
    return capital_in(question)


def evaluated(
    store: Store,
    target: str | Workflow,
    rows: Iterable[Mapping[str, Any]],
    *evaluators: str,
    **options: Any,
) -> EvaluationResult:
    """An evaluation of these rows, by exact match if nothing else is said."""
    store.test_sets.save("rows", rows)
    chosen: Sequence[str] = evaluators or ["exact_match"]
    return evaluate(target, "rows", chosen, store=store, **options)


def scores(found: EvaluationResult, alias: str = "exact_match") -> list[float | None]:
    """The scores of all results, in order."""
    return [result.scores[alias].score for result in found.results()]
