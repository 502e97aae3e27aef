"""Evaluators: each scores one output of a workflow, and says what it compared with what."""

from __future__ import annotations

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
    "evaluator_names",
    "load_kind",
    "make_evaluator",
    "make_evaluators",
    "parse_spec",
    "plain_kind",
    "verdict",
]
