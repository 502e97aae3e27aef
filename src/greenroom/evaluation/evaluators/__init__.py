"""Evaluators: each scores one output of a workflow, and says what it compared with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.evaluation.evaluators.registry import (
    Evaluator,
    evaluator_names,
    load_kind,
    make_evaluator,
    make_evaluators,
)
from greenroom.evaluation.evaluators.specs import EvaluatorSpec, parse_spec
from greenroom.evaluation.evaluators.types import (
    Case,
    EvaluatorContext,
    EvaluatorKind,
    Missed,
    OpenModel,
    PlainScorer,
    Score,
    Scorer,
    Settings,
    Unscored,
    plain_kind,
    verdict,
)
from greenroom.util.imports import later

if TYPE_CHECKING:
    from greenroom.evaluation.evaluators.chat import conversation_length, last_message, role_order
    from greenroom.evaluation.evaluators.judge import llm_judge
    from greenroom.evaluation.evaluators.semantic import semantic_similarity
    from greenroom.evaluation.evaluators.similarity import levenshtein
    from greenroom.evaluation.evaluators.structured import contains_json, field_match, json_diff
    from greenroom.evaluation.evaluators.text import (
        contains,
        ends_with,
        exact_match,
        regex,
        starts_with,
    )

if not TYPE_CHECKING:
    # The kinds that ship, for whoever passes them to `greenroom.evaluate`; loaded when used.
    __getattr__ = later(
        __name__,
        text="contains ends_with exact_match regex starts_with",
        structured="contains_json field_match json_diff",
        chat="conversation_length last_message role_order",
        similarity="levenshtein",
        judge="llm_judge",
        semantic="semantic_similarity",
    )

__all__ = [
    "Case",
    "Evaluator",
    "EvaluatorContext",
    "EvaluatorKind",
    "EvaluatorSpec",
    "Missed",
    "OpenModel",
    "PlainScorer",
    "Score",
    "Scorer",
    "Settings",
    "Unscored",
    "contains",
    "contains_json",
    "conversation_length",
    "ends_with",
    "evaluator_names",
    "exact_match",
    "field_match",
    "json_diff",
    "last_message",
    "levenshtein",
    "llm_judge",
    "load_kind",
    "make_evaluator",
    "make_evaluators",
    "parse_spec",
    "plain_kind",
    "regex",
    "role_order",
    "semantic_similarity",
    "starts_with",
    "verdict",
]
