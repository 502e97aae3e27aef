"""Scoring a case in one line."""

from __future__ import annotations

import json
from collections.abc import Coroutine, Mapping
from functools import cache
from typing import Any

import anyio

from greenroom.evaluation import Case, Evaluator, Score, make_evaluator
from greenroom.evaluation.evaluators import OpenModel, parse_spec

WAITING = ("goal_reached", "llm_judge", "python", "regex", "semantic_similarity", "webhook")
"""Evaluators that wait for something, and so need an event loop."""


def said(content: Any, **more: Any) -> dict[str, Any]:
    """A message of the assistant."""
    return {"role": "assistant", "content": content, **more}


def called(name: str, arguments: Any = "{}", call_id: str = "1") -> dict[str, Any]:
    """A tool call as models write it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def score(
    evaluator: str | Mapping[str, Any], *, models: OpenModel | None = None, **case: Any
) -> Score:
    """What an evaluator says of a case."""
    spec = parse_spec(evaluator)
    if spec.name not in WAITING:
        # Properties are tried a hundred times over: without a loop that is quick.
        return finished(kept(json.dumps(spec.as_dict())).evaluate(Case(**case)))

    async def run() -> Score:
        made = make_evaluator(spec, models=models)
        try:
            return await made.evaluate(Case(**case))
        finally:
            await made.close()

    return anyio.run(run)


def chat_score(evaluator: str | Mapping[str, Any], outputs: Any, **case: Any) -> Score:
    """What an evaluator says of a chat workflow's output."""
    return score(evaluator, outputs=outputs, is_chat=True, **case)


@cache
def kept(spec: str) -> Evaluator:
    """An evaluator, made once."""
    return make_evaluator(json.loads(spec))


def finished(scoring: Coroutine[Any, Any, Score]) -> Score:
    """The result of a coroutine that waits for nothing."""
    try:
        scoring.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits for something")
