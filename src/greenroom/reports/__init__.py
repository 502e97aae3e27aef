"""Reports: stored results as people want to read them."""

from __future__ import annotations

from greenroom.reports.build import build_report
from greenroom.reports.build_comparison import compare_stored
from greenroom.reports.console import print_report
from greenroom.reports.html import render_html
from greenroom.reports.json_report import parse_report, render_json, report_schema
from greenroom.reports.junit import render_junit
from greenroom.reports.markdown import render_markdown
from greenroom.reports.report import (
    ComparisonReport,
    EvaluationReport,
    PublishedRow,
    RunReport,
    SpreadReport,
)
from greenroom.reports.sections import Report
from greenroom.reports.tau_bench import read_tau_bench, tau_bench_rows, write_tau_bench

__all__ = [
    "ComparisonReport",
    "EvaluationReport",
    "PublishedRow",
    "Report",
    "RunReport",
    "SpreadReport",
    "build_report",
    "compare_stored",
    "parse_report",
    "print_report",
    "read_tau_bench",
    "render_html",
    "render_json",
    "render_junit",
    "render_markdown",
    "report_schema",
    "tau_bench_rows",
    "write_tau_bench",
]
