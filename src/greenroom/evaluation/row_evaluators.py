"""Evaluators that the rows of a test set name for themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from greenroom.analysis.roles import EVALUATORS_COLUMN, Roles
from greenroom.errors import InputError
from greenroom.evaluation.evaluators import (
    Evaluator,
    EvaluatorSpec,
    evaluator_names,
    load_kind,
    make_evaluators,
    parse_spec,
)
from greenroom.evaluation.evaluators.specs import HOW
from greenroom.store import decoded
from greenroom.util.imports import is_target
from greenroom.util.json_values import as_list


def row_evaluators(row: Mapping[str, Any], position: int, roles: Roles) -> list[Evaluator]:
    """The evaluators in a row's column `evaluators`: a text, an object, or a list of them."""
    given = decoded(row.get(EVALUATORS_COLUMN))
    if given is None or given == "" or EVALUATORS_COLUMN in roles.inputs:
        return []
    try:
        return make_evaluators(map(_spec, as_list(given) if isinstance(given, list) else [given]))
    except InputError as error:
        raise InputError(f"Row {position + 1}, {EVALUATORS_COLUMN}: {error}") from error


def _spec(given: Any) -> EvaluatorSpec:
    if not isinstance(given, (str, Mapping)):
        raise InputError(f"{given!r} is no evaluator: {HOW}.")
    spec = parse_spec(cast("str | Mapping[str, Any]", given))
    # A test set is data of others: it must not name files to import, servers or variables.
    installed = spec.name in evaluator_names()
    if is_target(spec.name) or (installed and not load_kind(spec.name).by_rows):
        raise InputError(f"a row cannot bring '{spec.name}'. Give it by --evaluator.")
    if "expected" in spec.settings:
        raise InputError("a row says itself what it expects. Name a column by --evaluator.")
    return spec
