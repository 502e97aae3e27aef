"""Figures from stored results: nothing here knows how the results came about."""

from __future__ import annotations

from greenroom.analysis.compared import Comparison, RunComparison
from greenroom.analysis.comparison import ComparedRun, compare_runs
from greenroom.analysis.errors import break_down, diagnose
from greenroom.analysis.evaluation_comparison import ComparedEvaluation, compare_evaluations
from greenroom.analysis.evaluations import EvaluationFigures, EvaluatorFigures, measure_evaluation
from greenroom.analysis.figures import Diagnosis, ErrorBreakdown, Estimate, RunMetrics
from greenroom.analysis.gates import Gate, GateResult, check_gates, parse_gate, parse_gates
from greenroom.analysis.metrics import measure_run
from greenroom.analysis.power import PowerAnalysis
from greenroom.analysis.tally import pass_hat_k, pass_hat_ks

__all__ = [
    "ComparedEvaluation",
    "ComparedRun",
    "Comparison",
    "Diagnosis",
    "ErrorBreakdown",
    "Estimate",
    "EvaluationFigures",
    "EvaluatorFigures",
    "Gate",
    "GateResult",
    "PowerAnalysis",
    "RunComparison",
    "RunMetrics",
    "break_down",
    "check_gates",
    "compare_evaluations",
    "compare_runs",
    "diagnose",
    "measure_evaluation",
    "measure_run",
    "parse_gate",
    "parse_gates",
    "pass_hat_k",
    "pass_hat_ks",
]
