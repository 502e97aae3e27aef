"""Evaluators of JSON: a field, the share of equal leaves, and whether there is any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from pydantic import Field

from greenroom.evaluation.evaluators.equality import is_array, json_equal, same, type_name
from greenroom.evaluation.evaluators.paths import (
    NotThere,
    Path,
    PathText,
    parse_path,
    path_text,
    pick,
)
from greenroom.evaluation.evaluators.reading import (
    Calls,
    NoJson,
    as_json,
    expected_field,
    expected_of,
    field_of,
    output_of,
)
from greenroom.evaluation.evaluators.text import TextList
from greenroom.evaluation.evaluators.types import (
    Case,
    ExpectingSettings,
    Score,
    Settings,
    Unscored,
    plain_kind,
    verdict,
)
from greenroom.models.json_answers import objects_in

_SHOWN_DIFFERENCES = 3


class FieldSettings(ExpectingSettings):
    """Settings of field_match."""

    field: PathText = Field(
        min_length=1, description="The field of the output, such as answer or items[0].name."
    )
    expected_field: PathText = Field(
        default="",
        description="The field of the expected output; by default the same one, if it has it, "
        "else the expected output as a whole.",
    )
    ignore_case: bool = Field(default=False, description="Upper and lower case are the same.")


class DiffSettings(ExpectingSettings):
    """Settings of json_diff."""

    ignore_extra_keys: bool = Field(
        default=False, description="What the expected output does not have does not count."
    )
    schema_only: bool = Field(
        default=False, description="Compare keys and types of values, not the values."
    )
    threshold: float = Field(default=1.0, ge=0, le=1, description="Passed from this score on.")


class ContainsJsonSettings(Settings):
    """Settings of contains_json."""

    keys: TextList | None = Field(
        default=None, description="Keys that the JSON object has to have."
    )


def _field(settings: FieldSettings, case: Case) -> Score:
    path = parse_path(settings.field)
    against = _wanted(settings, expected_of(case), path)
    compared = field_of(output_of(case), path, against)
    if settings.ignore_case and isinstance(compared, str) and isinstance(against, str):
        equal = compared.casefold() == against.casefold()
    else:
        equal = same(compared, against)
    return verdict(equal, compared, against, f"{settings.field}: {'' if equal else 'not '}equal")


def _wanted(settings: FieldSettings, expected: Any, path: Path) -> Any:
    if not settings.expected_field:
        return expected_field(expected, path)
    try:
        return pick(as_json(expected), parse_path(settings.expected_field))
    except (NotThere, NoJson) as error:
        raise Unscored(f"the expected output: {error}", against=expected) from error


def _diff(settings: DiffSettings, case: Case) -> Score:
    compared, against = output_of(case), expected_of(case)
    try:
        against = as_json(against)
    except NoJson as error:
        reason = "the expected output is not JSON"
        raise Unscored(reason, compared=compared, against=against) from error
    try:
        compared = as_json(compared)
    except NoJson:
        return verdict(False, compared, against, "the output is not JSON")
    found, wanted = dict(_leaves(compared)), dict(_leaves(against))
    paths = list(wanted)
    if not settings.ignore_extra_keys:
        paths += [path for path in found if path not in wanted]
    alike = _same_type if settings.schema_only else json_equal
    different = [
        path
        for path in paths
        if path not in found or path not in wanted or not alike(found[path], wanted[path])
    ]
    score = 1 - len(different) / len(paths)
    reason = _explained(different, len(paths))
    return Score(score, score >= settings.threshold, compared, against, reason)


def _same_type(one: Any, other: Any) -> bool:
    return type_name(one) == type_name(other)


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """What is not divided further: plain values, and arrays and objects with nothing in them."""
    if isinstance(value, Mapping) and value:
        for key, inner in cast("Mapping[str, Any]", value).items():
            yield from _leaves(inner, (*path, key))
    elif is_array(value) and value:
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from _leaves(inner, (*path, index))
    else:
        yield path, value


def _explained(different: list[Path], total: int) -> str:
    if not different:
        return f"all {total} values are equal" if total > 1 else "equal"
    names = ", ".join(path_text(path) for path in different[:_SHOWN_DIFFERENCES])
    more = len(different) - _SHOWN_DIFFERENCES
    rest = f" and {more} more" if more > 0 else ""
    return f"{len(different)} of {total} differ: {names}{rest}"


def _contains_json(settings: ContainsJsonSettings, case: Case) -> Score:
    compared = output_of(case)
    keys = settings.keys or []
    candidates = list(_json_found(compared))
    if not candidates:
        return verdict(False, compared, keys or "JSON", "there is no JSON in it")
    for candidate in candidates:
        fields = cast("dict[str, Any]", candidate) if isinstance(candidate, dict) else {}
        if all(key in fields for key in keys):
            return verdict(True, compared, keys or "JSON", "there is JSON in it")
    return verdict(False, compared, keys, f"no JSON object with {', '.join(keys)}")


def _json_found(value: Any) -> Iterator[Any]:
    if isinstance(value, Calls):
        return
    if not isinstance(value, str):
        yield value
        return
    try:
        whole = as_json(value)
    except NoJson:
        yield from objects_in(value)
        return
    if isinstance(whole, (dict, list)):
        yield whole


contains_json = plain_kind(
    "contains_json", _contains_json, ContainsJsonSettings, "there is JSON in the output"
)
field_match = plain_kind(
    "field_match", _field, FieldSettings, "a field of the output is the expected one"
)
json_diff = plain_kind("json_diff", _diff, DiffSettings, "the share of values that are as expected")
