"""The forms of a report: what each is called, how its file ends, and how it is made."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from pydantic import BaseModel

from greenroom.errors import InputError
from greenroom.reports.json_report import render_json
from greenroom.reports.plain import plain
from greenroom.reports.report import ComparisonReport, EvaluationReport, RunReport
from greenroom.reports.sections import Report
from greenroom.util.raw_json import raw_text


def render(report: Report, form: str) -> str | bytes:
    """A report in one of its forms."""
    return FORMS[form](report)


def form_of(suffix: str) -> str:
    """The form that a file's ending stands for."""
    if suffix.lower() not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise InputError(f"A file that ends in '{suffix}' is no form of a report: {known} are.")
    return ENDINGS[suffix.lower()]


def records_of(report: Report) -> list[dict[str, Any]]:
    """The records of a report in full: episodes, or results with their rows."""
    found: Sequence[BaseModel] = []
    if isinstance(report, RunReport):
        found = report.episodes
    elif isinstance(report, EvaluationReport):
        found = report.results
    elif isinstance(report, ComparisonReport):
        found = report.comparisons
    return [plain(record.model_dump(mode="json")) for record in found]


def flat_records(report: Report) -> list[dict[str, Any]]:
    """The records as rows of a table: objects become dotted columns, lists become JSON texts."""
    return [dict(_flat(record)) for record in records_of(report)]


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _flat(cast("dict[str, Any]", value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", raw_text(value) if isinstance(value, list) else value


def _columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _csv(report: Report) -> str:
    rows = flat_records(report)
    out = io.StringIO()
    writer = csv.DictWriter(out, _columns(rows), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    # Half a surrogate pair is no character and cannot be written to a file.
    return out.getvalue().encode("utf-8", "replace").decode()


def _parquet(report: Report) -> bytes:
    try:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError("Parquet files need pyarrow: pip install 'greenroom[parquet]'.") from error
    rows = flat_records(report)
    out = io.BytesIO()
    columns = {name: _values([row.get(name) for row in rows]) for name in _columns(rows)}
    parquet.write_table(arrow.table(columns), out)
    return out.getvalue()


def _values(column: list[Any]) -> list[Any]:
    """The values of a column, which must be of one kind: numbers, truth values, or else texts."""
    kinds: set[type] = {type(value) for value in column if value is not None}
    if len(kinds) <= 1 or kinds <= {int, float}:
        return column
    return [
        value if value is None or isinstance(value, str) else raw_text(value) for value in column
    ]


def _jsonl(report: Report) -> str:
    return "".join(f"{raw_text(record)}\n" for record in records_of(report))


def _later(module: str, function: str) -> Callable[[Report], str]:
    """A form whose module, and the template engine with it, is imported at its first use."""
    return lambda report: getattr(import_module(f"greenroom.reports.{module}"), function)(report)


def _junit(report: Report) -> str:
    if isinstance(report, ComparisonReport):
        raise InputError("A comparison has no test cases: JUnit XML is for runs and evaluations.")
    return _later("junit", "render_junit")(report)


def _tau_bench(report: Report) -> str:
    from greenroom.reports.tau_bench import tau_bench_rows

    if not isinstance(report, RunReport):
        raise InputError("Only runs have a result file of Tau Bench.")
    return json.dumps(tau_bench_rows(report.run, report.episodes), indent=2)


FORMS: dict[str, Callable[[Report], str | bytes]] = {
    "json": render_json,
    "markdown": _later("markdown", "render_markdown"),
    "html": _later("html", "render_html"),
    "junit": _junit,
    "csv": _csv,
    "parquet": _parquet,
    "jsonl": _jsonl,
    "tau-bench": _tau_bench,
}
"""By the name that `--format` takes."""

ENDINGS = {
    ".json": "json",
    ".md": "markdown",
    ".html": "html",
    ".xml": "junit",
    ".csv": "csv",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
}
"""The form of a file by its ending."""
