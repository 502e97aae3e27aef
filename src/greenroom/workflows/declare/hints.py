"""Reading the type hints of a handler."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, TypeGuard, cast

from pydantic import BaseModel

_STREAMS = (AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator)


def function_of(handler: Callable[..., Any]) -> Callable[..., Any]:
    """The function that a call runs, also inside a partial or a callable object."""
    while isinstance(handler, functools.partial):
        handler = cast("Callable[..., Any]", handler.func)
    return handler if inspect.isroutine(handler) else type(handler).__call__


def signature_of(handler: Callable[..., Any], names: Mapping[str, Any]) -> inspect.Signature:
    """The handler's signature with resolved hints; unknown hints become Any.

    `names` are the local names around the handler, in addition to its module's.
    """
    signature = inspect.signature(handler)
    home = cast("dict[str, Any]", getattr(inspect.unwrap(function_of(handler)), "__globals__", {}))
    parameters = [
        parameter.replace(annotation=_resolved(parameter.annotation, home, names))
        for parameter in signature.parameters.values()
    ]
    returned = _resolved(signature.return_annotation, home, names)
    return signature.replace(parameters=parameters, return_annotation=returned)


def _resolved(hint: Any, home: dict[str, Any], names: Mapping[str, Any]) -> Any:
    if hint is inspect.Parameter.empty:
        return Any
    holder = types.SimpleNamespace(__annotations__={"hint": hint})
    try:
        return typing.get_type_hints(holder, home, dict(names), include_extras=True)["hint"]
    except Exception:  # the name may exist for type checkers only
        return Any


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the hint itself; Annotated is removed."""
    hint = plain(hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(one for member in typing.get_args(hint) for one in alternatives(member))
    return (hint,)


def without_none(hint: Any) -> Any:
    """The hint of an optional value without its None; any other as it is."""
    left = [one for one in alternatives(hint) if one is not type(None)]
    return left[0] if len(left) == 1 else plain(hint)


def plain(hint: Any) -> Any:
    """The hint without Annotated."""
    while typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    return hint


def item_of(hint: Any) -> Any | None:
    """What a list or other sequence holds, by its hint; None if it is no sequence."""
    hint = plain(hint)
    origin = typing.get_origin(hint) or hint
    if _is_class(origin) and issubclass(origin, Sequence) and not issubclass(origin, (str, bytes)):
        held = [one for one in typing.get_args(hint) if one is not Ellipsis]
        return held[0] if held else Any
    return None


def yielded_by(hint: Any) -> Any:
    """What a generator yields, by its return hint; Any if the hint does not say."""
    hint = plain(hint)
    if typing.get_origin(hint) in _STREAMS:
        return typing.get_args(hint)[0]
    return Any


def is_model(hint: Any) -> TypeGuard[type[BaseModel]]:
    """Whether a hint is a pydantic model."""
    return _is_class(hint) and issubclass(hint, BaseModel)


def _is_class(hint: Any) -> TypeGuard[type[Any]]:
    return isinstance(hint, type) and not isinstance(hint, types.GenericAlias)
