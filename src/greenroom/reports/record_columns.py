"""The columns that every table of records has, whatever the records hold: names and kinds.

They follow from the models of the records. An object becomes columns with dots, and a list becomes
a JSON text. What has names of its own, such as the inputs of a row, adds columns to these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel

from greenroom.store.records import Usage
from greenroom.util.raw_json import plain, record_text

PURSES: Final = ("agent", "user", "judge")
"""The purses that always have columns."""


@cache
def record_columns(model: type[BaseModel]) -> Mapping[str, type]:
    """The columns of a model of records with the kinds of their values: numbers, truth or text."""
    return dict(_columns(model, ""))


def _columns(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, type]]:
    for name, field in model.model_fields.items():
        kind, path = _bare(field.annotation), f"{prefix}{name}"
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _columns(kind, f"{path}.")
        elif get_origin(kind) is dict:
            inner = _bare(get_args(kind)[1])
            if inner is Usage:
                for purse in PURSES:
                    yield from _columns(Usage, f"{path}.{purse}.")
            elif inner is bool:
                yield path, str
        elif kind is not Any:
            yield path, kind if kind in (bool, int, float) else str


def _bare(annotation: Any) -> Any:
    """An annotation without what it may also be, None, and without notes."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        kinds = [one for one in get_args(annotation) if one is not NoneType]
        return _bare(kinds[0]) if len(kinds) == 1 else str
    return str if get_origin(annotation) is Literal else annotation


def flat_record(record: BaseModel) -> dict[str, Any]:
    """A record as a row of a table."""
    known = record_columns(type(record))
    return dict(_flat(record.model_dump(mode="json"), known, ""))


def _flat(
    record: Mapping[str, Any], known: Mapping[str, type], prefix: str
) -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict):
            held = cast("dict[str, Any]", value)
            if path in known:
                yield path, record_text(held)
            else:
                yield from _flat(held, known, f"{path}.")
        elif isinstance(value, list):
            yield path, record_text(cast("list[Any]", value))
        elif value is not None or path in known or not _is_object(path, known):
            yield path, plain(value) if isinstance(value, float) else value


def _is_object(path: str, known: Mapping[str, type]) -> bool:
    return any(name.startswith(f"{path}.") for name in known)


__all__ = ["PURSES", "flat_record", "record_columns"]
