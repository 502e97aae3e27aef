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
    ExpectingSettings,
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
    from greenroom.evaluation.evaluators.called_tools import tool_calls
    from greenroom.evaluation.evaluators.chat import conversation_length, last_message, role_order
    from greenroom.evaluation.evaluators.goals import goal_reached
    from greenroom.evaluation.evaluators.judge import llm_judge
    from greenroom.evaluation.evaluators.likeness import levenshtein, similarity
    from greenroom.evaluation.evaluators.refusals import refusal
    from greenroom.evaluation.evaluators.semantic import semantic_similarity
    from greenroom.evaluation.evaluators.structured import contains_json, field_match, json_diff
    from greenroom.evaluation.evaluators.text import (
        contains,
        ends_with,
        exact_match,
        regex,
        starts_with,
    )
    from greenroom.evaluation.evaluators.webhooks import webhook

if not TYPE_CHECKING:
    # The kinds that ship, to be passed to `greenroom.evaluate`; loaded when they are used.
    __getattr__ = later(
        __name__,
        text="contains ends_with exact_match regex starts_with",
        structured="contains_json field_match json_diff",
        chat="conversation_length last_message role_order",
        likeness="levenshtein similarity",
        called_tools="tool_calls",
        refusals="refusal",
        webhooks="webhook",
        judge="llm_judge",
        goals="goal_reached",
        semantic="semantic_similarity",
    )

__all__ = [
    "Case",
    "Evaluator",
    "EvaluatorContext",
    "EvaluatorKind",
    "EvaluatorSpec",
    "ExpectingSettings",
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
    "goal_reached",
    "json_diff",
    "last_message",
    "levenshtein",
    "llm_judge",
    "load_kind",
    "make_evaluator",
    "make_evaluators",
    "parse_spec",
    "plain_kind",
    "refusal",
    "regex",
    "role_order",
    "semantic_similarity",
    "similarity",
    "starts_with",
    "tool_calls",
    "verdict",
    "webhook",
]
