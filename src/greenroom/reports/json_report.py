"""The report as JSON: written, read back, and described by a schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, cast, overload

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from greenroom.errors import DataError
from greenroom.reports.report import RunReport
from greenroom.reports.sections import REPORT_VERSION, AnySection, Grid, Report
from greenroom.util.raw_json import plain
from greenroom.util.terminal import printable_json

ReportT = TypeVar("ReportT", bound=Report)


def render_json(report: Report) -> str:
    """The report as JSON; a figure that there is none of is null, and times are ISO 8601."""
    return "".join(json_pieces(report))


def json_pieces(report: Report) -> Iterator[str]:
    """The same, piece by piece: sections and records come last, and long lists item by item."""
    name = "episodes" if isinstance(report, RunReport) else "results"
    records: Iterable[BaseModel] | None = getattr(report, name, None)
    head = record_json(report, 2, {"sections", name})
    yield head.removesuffix("\n}") + ',\n  "sections": '
    yield from _array(map(_section, report.sections))
    if records is not None:
        yield f',\n  "{name}": '
        yield from _array([record_json(record, 2)] for record in records)
    yield "\n}\n"


def _section(section: AnySection) -> Iterator[str]:
    if not isinstance(section, Grid):
        yield record_json(section, 2)
        return
    yield record_json(section, 2, {"items"}).removesuffix("\n}") + ',\n  "items": '
    yield from _array([record_json(item, 2)] for item in section.items)
    yield "\n}"


def _array(values: Iterable[Iterable[str]]) -> Iterator[str]:
    """An array within an object, of values that come in pieces."""
    before = "["
    for value in values:
        yield f"{before}\n    "
        yield from (piece.replace("\n", "\n    ") for piece in value)
        before = ","
    yield "[]" if before == "[" else "\n  ]"


def record_json(
    record: BaseModel, spaces: int | None = None, exclude: set[str] | None = None
) -> str:
    """A record as JSON that any file can hold."""
    try:
        return printable_json(record.model_dump_json(indent=spaces, exclude=exclude))
    except ValueError:  # half a surrogate pair
        value = plain(record.model_dump(mode="json", exclude=exclude))
        return printable_json(json.dumps(value, ensure_ascii=False, indent=spaces, allow_nan=False))


@overload
def parse_report(text: str) -> RunReport: ...
@overload
def parse_report(text: str, model: type[ReportT]) -> ReportT: ...
def parse_report(text: str, model: type[Report] = RunReport) -> Report:
    """The report that was written as JSON; null figures come back as NaN."""
    try:
        value: Any = json.loads(text)
    except ValueError as error:
        raise DataError(f"This is no report: it is not JSON ({error}).") from error
    if not isinstance(value, dict):
        raise DataError("This is no report: a report is a JSON object.")
    data = cast("dict[str, Any]", value)
    _check_kind(data, _kind(model))
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(f"This report cannot be read: {place}: {first['msg']}.") from error


def report_schema(model: type[Report] = RunReport) -> dict[str, Any]:
    """The JSON Schema of a report."""
    schema = model.model_json_schema(mode="serialization", schema_generator=_Schema)
    schema["properties"]["version"] = {"const": REPORT_VERSION, "title": "Version"}
    kind = _kind(model).removeprefix("greenroom.")
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": f"urn:greenroom:{kind}-report:{REPORT_VERSION}",
        **schema,
        "title": f"Greenroom {kind} report",
        "version": REPORT_VERSION,
        "required": sorted({*schema["required"], "kind", "version"}),
    }


def _kind(model: type[Report]) -> str:
    return str(model.model_fields["kind"].default)


class _Schema(GenerateJsonSchema):
    """Every figure may be null: that is what NaN is written as."""

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return super().float_schema(schema) | {"type": ["number", "null"]}


def _check_kind(data: dict[str, Any], wanted: str) -> None:
    kind, version = data.get("kind"), data.get("version")
    if kind != wanted:
        found = f"its kind is {json.dumps(kind)}" if "kind" in data else "it does not say its kind"
        raise DataError(f'This is no such report: {found}, not "{wanted}".')
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DataError(f"This report has no version that is known: {json.dumps(version)}.")
    if version > REPORT_VERSION:
        raise DataError(
            f"This report is of version {version}; this Greenroom reads reports up to version "
            f"{REPORT_VERSION}. A newer Greenroom can read it."
        )
