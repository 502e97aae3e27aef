"""The forms of a report: what each is called, how its file ends, and how it is made."""

from __future__ import annotations

import csv
import io
import json
import marshal
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from tempfile import TemporaryFile
from typing import Any, cast

import orjson
from pydantic import BaseModel

from greenroom.errors import InputError
from greenroom.reports.json_report import json_pieces, record_json
from greenroom.reports.record_columns import flat_record, record_columns
from greenroom.reports.report import (
    ComparisonReport,
    EvaluatedRow,
    EvaluationReport,
    RunReport,
    SpreadReport,
)
from greenroom.reports.sections import Report
from greenroom.store.records import EpisodeRecord
from greenroom.util.characters import writable
from greenroom.util.json_values import portable_text
from greenroom.util.pieces import Pieces
from greenroom.util.raw_json import raw_text, storable

_BATCH = 1_000
"""So many records make a row group of a Parquet file."""


def pieces(report: Report, form: str) -> Iterator[str | bytes]:
    """A report in one of its forms, piece by piece: long records are never in memory together."""
    return FORMS[form](report)


def render(report: Report, form: str) -> str | bytes:
    """A report in one of its forms."""
    found = list(pieces(report, form))
    texts = [piece for piece in found if isinstance(piece, str)]
    return "".join(texts) if len(texts) == len(found) else b"".join(cast("list[bytes]", found))


def form_of(suffix: str) -> str:
    """The form that a file's ending stands for."""
    if suffix.lower() not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise InputError(f"A file that ends in '{suffix}' is no form of a report: {known} are.")
    return ENDINGS[suffix.lower()]


def _records(report: Report) -> Iterable[BaseModel]:
    """The records of a report in full: episodes, or results with their rows."""
    if isinstance(report, RunReport):
        return report.episodes
    if isinstance(report, EvaluationReport):
        return report.results
    if isinstance(report, SpreadReport):
        return [*report.runs, *report.against_runs]
    return report.comparisons if isinstance(report, ComparisonReport) else ()


def _known(report: Report) -> Mapping[str, type]:
    """The columns that a table of these records always has."""
    if isinstance(report, RunReport):
        return record_columns(EpisodeRecord)
    return record_columns(EvaluatedRow) if isinstance(report, EvaluationReport) else {}


def flat_records(report: Report) -> Iterator[dict[str, Any]]:
    """The records as rows of a table: objects become dotted columns, lists become JSON texts."""
    return (flat_record(record) for record in _records(report))


@contextmanager
def _table(report: Report) -> Generator[tuple[dict[str, set[type]], Iterator[dict[str, Any]]]]:
    """The columns of all records with the kinds of their values, and the rows.

    Columns are known when all rows are. Rows wait in a file for that: to read records from the
    store and flatten them again takes several times as long.
    """
    columns: dict[str, set[type]] = {name: set() for name in _known(report)}
    sizes = array("q")
    with TemporaryFile() as kept:
        for row in flat_records(report):
            for name, value in row.items():
                kinds = columns.setdefault(name, set())
                if value is not None:
                    # A column of numbers holds 64 bits.
                    large = isinstance(value, int) and not -(2**63) <= value < 2**63
                    kinds.add(str if large else cast("type", type(value)))
            sizes.append(kept.write(marshal.dumps(row)))
        kept.seek(0)
        yield columns, (marshal.loads(kept.read(size)) for size in sizes)  # noqa: S302 - our own


def _csv(report: Report) -> Iterator[str]:
    out = io.StringIO()

    def line() -> str:
        written = out.getvalue().removesuffix("\r\n") + "\n"
        out.seek(0)
        out.truncate()
        return writable(written)

    with _table(report) as (columns, rows):
        # Cells with one of the two characters that end a line are quoted.
        writer = csv.DictWriter(out, list(columns), lineterminator="\r\n")
        writer.writeheader()
        yield line()
        for row in rows:
            writer.writerow(row)
            yield line()


def _parquet(report: Report) -> Iterator[bytes]:
    try:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError("Parquet files need pyarrow: pip install 'greenroom[parquet]'.") from error
    types = {bool: arrow.bool_(), int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
    out = Pieces()
    with _table(report) as (found, rows):
        # A column has values of one kind: numbers, truth values, or else texts.
        known = _known(report)
        columns = {
            name: types[_one_kind(kinds, known.get(name, str))] for name, kinds in found.items()
        }
        with parquet.ParquetWriter(out, arrow.schema(list(columns.items()))) as writer:
            while batch := list(islice(rows, _BATCH)):
                values = {
                    name: [_as_kind(row.get(name), kind == arrow.string()) for row in batch]
                    for name, kind in columns.items()
                }
                writer.write_table(arrow.table(values, schema=writer.schema))
                yield out.taken()
    yield out.taken()


def _one_kind(kinds: set[type], known: type) -> type:
    """The kind of a column: of what it holds, or that which is known if nothing speaks against."""
    if not kinds or kinds == {known} or (known is float and kinds <= {int, float}):
        return known
    return kinds.copy().pop() if len(kinds) == 1 else float if kinds == {int, float} else str


def _as_kind(value: Any, text: bool) -> Any:
    if not text or value is None:
        return value
    return storable(value) if isinstance(value, str) else raw_text(value)


def _jsonl(report: Report) -> Iterator[str]:
    return (f"{record_json(record)}\n" for record in _records(report))


def _later(module: str, function: str) -> Callable[[Report], Iterator[str]]:
    """A form whose module, and the template engine with it, is imported at its first use."""

    def rendered(report: Report) -> Iterator[str]:
        yield getattr(import_module(f"greenroom.reports.{module}"), function)(report)

    return rendered


def _junit(report: Report) -> Iterator[str]:
    if not report.named:
        what = "A comparison" if isinstance(report, ComparisonReport) else "A spread over users"
        raise InputError(f"{what} has no test cases: JUnit XML is for runs and evaluations.")
    return _later("junit", "render_junit")(report)


def _tau_bench(report: Report) -> Iterator[str]:
    from greenroom.reports.tau_bench import tau_bench_rows

    if not isinstance(report, RunReport):
        raise InputError("Only runs have a result file of Tau Bench.")
    before = "[\n"
    for episode in report.episodes:
        (row,) = tau_bench_rows(report.run, [episode])
        yield before + "  " + _indented(row).replace("\n", "\n  ")
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"


def _indented(row: dict[str, Any]) -> str:
    """A row as Tau Bench writes it: ASCII, two spaces."""
    try:
        text = orjson.dumps(row, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        text = ""
    # What orjson does not write so is rare: large numbers and other alphabets.
    return text if text and text.isascii() else json.dumps(row, indent=2)


def _inspect(report: Report) -> Iterator[bytes]:
    from greenroom.reports.inspect_log import inspect_pieces

    return inspect_pieces(report)


def _atif(report: Report) -> Iterator[str]:
    from greenroom.reports.atif import atif_trajectory

    if not isinstance(report, RunReport):
        raise InputError("Only runs have trajectories in ATIF.")
    return (f"{portable_text(atif_trajectory(report.run, one))}\n" for one in report.episodes)


FORMS: dict[str, Callable[[Report], Iterator[str | bytes]]] = {
    "json": json_pieces,
    "markdown": _later("markdown", "render_markdown"),
    "html": _later("html", "render_html"),
    "junit": _junit,
    "csv": _csv,
    "parquet": _parquet,
    "jsonl": _jsonl,
    "tau-bench": _tau_bench,
    "inspect": _inspect,
    "atif": _atif,
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
    ".eval": "inspect",
}
"""The form of a file by its ending."""
