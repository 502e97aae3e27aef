"""Evaluation: test sets, evaluators and runs of a workflow over a test set."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from greenroom.evaluation.evaluators import (
    Case,
    Evaluator,
    EvaluatorKind,
    Score,
    evaluator_names,
    load_kind,
    make_evaluator,
    make_evaluators,
)
from greenroom.evaluation.test_sets import (
    Roles,
    add_rows,
    column_roles,
    export_file,
    find_version,
    import_file,
    read_rows,
    row_expected,
    row_inputs,
)

if TYPE_CHECKING:
    from greenroom.evaluation.config import EvaluationConfig, check_evaluation_config
    from greenroom.evaluation.context import EvaluationContext
    from greenroom.evaluation.results import Evaluated, evaluate, evaluate_async
    from greenroom.evaluation.running import run_evaluation
    from greenroom.evaluation.runs import (
        find_test_set,
        open_workflow,
        reopen_evaluation,
        start_evaluation,
    )

_LATER = {
    "EvaluationConfig": "config",
    "check_evaluation_config": "config",
    "EvaluationContext": "context",
    "Evaluated": "results",
    "evaluate": "results",
    "evaluate_async": "results",
    "run_evaluation": "running",
    "find_test_set": "runs",
    "open_workflow": "runs",
    "reopen_evaluation": "runs",
    "start_evaluation": "runs",
}


def __getattr__(name: str) -> Any:
    # Who only reads a test set need not wait for what it takes to run an evaluation.
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Case",
    "Evaluated",
    "EvaluationConfig",
    "EvaluationContext",
    "Evaluator",
    "EvaluatorKind",
    "Roles",
    "Score",
    "add_rows",
    "check_evaluation_config",
    "column_roles",
    "evaluate",
    "evaluate_async",
    "evaluator_names",
    "export_file",
    "find_test_set",
    "find_version",
    "import_file",
    "load_kind",
    "make_evaluator",
    "make_evaluators",
    "open_workflow",
    "read_rows",
    "reopen_evaluation",
    "row_expected",
    "row_inputs",
    "run_evaluation",
    "start_evaluation",
]
