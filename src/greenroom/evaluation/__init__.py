"""Evaluation: test sets, evaluators and runs of a workflow over a test set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.util.imports import later

if TYPE_CHECKING:
    from greenroom.evaluation.config import EvaluationConfig, check_evaluation_config
    from greenroom.evaluation.context import EvaluationContext
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
    from greenroom.evaluation.running import enqueue_evaluation, run_evaluation
    from greenroom.evaluation.runs import (
        find_test_set,
        open_workflow,
        reopen_evaluation,
        start_evaluation,
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

if not TYPE_CHECKING:
    # Who only reads options or a test set need not wait for what it takes to run an evaluation.
    __getattr__ = later(
        __name__,
        config="EvaluationConfig check_evaluation_config",
        evaluators=(
            "Case Evaluator EvaluatorKind Score evaluator_names load_kind make_evaluator "
            "make_evaluators"
        ),
        running="enqueue_evaluation run_evaluation",
        context="EvaluationContext",
        runs="find_test_set open_workflow reopen_evaluation start_evaluation",
        test_sets=(
            "Roles add_rows column_roles export_file find_version import_file read_rows "
            "row_expected row_inputs"
        ),
    )

__all__ = [
    "Case",
    "EvaluationConfig",
    "EvaluationContext",
    "Evaluator",
    "EvaluatorKind",
    "Roles",
    "Score",
    "add_rows",
    "check_evaluation_config",
    "column_roles",
    "enqueue_evaluation",
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
