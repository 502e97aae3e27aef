"""Reports: stored results as people want to read them."""

from __future__ import annotations

from greenroom.reports.build import build_report
from greenroom.reports.comparison import build_comparison, comparison_markdown, print_comparison
from greenroom.reports.console import print_report
from greenroom.reports.html import render_html
from greenroom.reports.json_report import parse_report, render_json, report_schema
from greenroom.reports.markdown import render_markdown
from greenroom.reports.report import PublishedRow, RunReport
from greenroom.reports.sections import Report
from greenroom.reports.tau_bench import read_tau_bench, tau_bench_rows, write_tau_bench

__all__ = [
    "PublishedRow",
    "Report",
    "RunReport",
    "build_comparison",
    "build_report",
    "comparison_markdown",
    "parse_report",
    "print_comparison",
    "print_report",
    "read_tau_bench",
    "render_html",
    "render_json",
    "render_markdown",
    "report_schema",
    "tau_bench_rows",
    "write_tau_bench",
]
