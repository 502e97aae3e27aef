"""Evaluators as people write them: `name`, `name:key=value,...`, `alias=name:...`, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from greenroom.errors import InputError
from greenroom.util.imports import absolute_target, is_target, split_target

_TEXT = re.compile(
    r"""
    \s*
    (?: (?P<alias>[\w.-]+) \s* = \s* )?
    (?P<name>
        (?:[A-Za-z]:)? [^\s:=]+ \.py (?: : [A-Za-z_]\w* (?!\s*=) )?  # file.py, file.py:name
      | [\w.-]+ : [A-Za-z_]\w* (?= \s* (?: : | $ ) )                 # module:name
      | [\w.-]+
    )
    (?: \s* : (?P<pairs>.*) | \s* = \s* (?P<json>\{.*\}) \s* | \s* )
    """,
    re.VERBOSE | re.DOTALL,
)
_ALIAS = re.compile(r"[\w.-]+")
_NEXT_PAIR = re.compile(r",\s*(?=[A-Za-z_]\w*\s*=)")
_KEYS = ("name", "alias", "settings")

HOW = (
    'write NAME, NAME:KEY=VALUE,KEY=VALUE or NAME={"KEY": VALUE}, with ALIAS= before it where '
    "the same evaluator is used twice; NAME may be file.py:function"
)


@dataclass(frozen=True)
class EvaluatorSpec:
    """Which evaluator, under which alias, with which settings."""

    name: str
    alias: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON, for keeping."""
        return {"name": self.name, "alias": self.alias, "settings": dict(self.settings)}


def parse_spec(given: str | Mapping[str, Any] | EvaluatorSpec) -> EvaluatorSpec:
    """What was written, taken apart; the settings are not looked at."""
    if isinstance(given, EvaluatorSpec):
        return given
    if not isinstance(given, str):
        return _from_mapping(given)
    found = _TEXT.fullmatch(given)
    if found is None:
        raise InputError(f"'{given}' is no evaluator: {HOW}.")
    settings: dict[str, Any] = {}
    if found["json"] is not None:
        settings = _from_json(found["json"], given)
    elif found["pairs"] is not None:
        settings = _from_pairs(found["pairs"], given)
    name = found["name"]
    return EvaluatorSpec(absolute_target(name), found["alias"] or _short(name), settings)


def _short(name: str) -> str:
    """What an evaluator is called where nobody says: its own name, without file or module."""
    if not is_target(name):
        return name
    source, chosen = split_target(name)
    return chosen or Path(source).stem


def _from_mapping(given: Mapping[str, Any]) -> EvaluatorSpec:
    name: Any = given.get("name")
    settings: Any = given.get("settings") or {}
    alias = given.get("alias") or (_short(name) if isinstance(name, str) else name)
    unknown = [key for key in given if key not in _KEYS]
    if not isinstance(name, str) or not isinstance(settings, Mapping) or unknown:
        raise InputError(
            'An evaluator as an object is {"name": ..., "alias": ..., "settings": {...}}, not '
            f"{dict(given)!r}."
        )
    if not isinstance(alias, str) or not _ALIAS.fullmatch(alias):
        raise InputError(f"'{alias}' is no alias: use letters, digits, '-', '_' and '.'.")
    return EvaluatorSpec(absolute_target(name), alias, dict(cast("Mapping[str, Any]", settings)))


def _from_json(text: str, given: str) -> dict[str, Any]:
    try:
        return cast("dict[str, Any]", json.loads(text))
    except json.JSONDecodeError as error:
        raise InputError(
            f"The settings in '{given}' are not JSON: {error.msg} (character {error.pos + 1})."
        ) from error


def _from_pairs(text: str, given: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if not text.strip():
        return settings
    for pair in _NEXT_PAIR.split(text):
        key, separator, value = pair.partition("=")
        key = key.strip()
        if not separator or not key.isidentifier():
            raise InputError(f"'{pair}' in '{given}' is no setting: {HOW}.")
        if key in settings:
            raise InputError(f"'{given}' gives {key} twice.")
        settings[key] = value
    return settings
