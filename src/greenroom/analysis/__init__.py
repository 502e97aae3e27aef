"""Figures from stored results: nothing here knows how the results came about."""

from __future__ import annotations

from greenroom.analysis.comparison import ComparedRun, compare_runs
from greenroom.analysis.comparison_figures import Comparison, RunComparison
from greenroom.analysis.errors import break_down, diagnose
from greenroom.analysis.figures import Diagnosis, ErrorBreakdown, Estimate, RunMetrics
from greenroom.analysis.metrics import measure_run
from greenroom.analysis.pass_hat_k import pass_hat_k, pass_hat_ks
from greenroom.analysis.power import PowerAnalysis

__all__ = [
    "ComparedRun",
    "Comparison",
    "Diagnosis",
    "ErrorBreakdown",
    "Estimate",
    "PowerAnalysis",
    "RunComparison",
    "RunMetrics",
    "break_down",
    "compare_runs",
    "diagnose",
    "measure_run",
    "pass_hat_k",
    "pass_hat_ks",
]
