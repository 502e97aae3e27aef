"""Pages of lists: each goes on after the key of the last item, so none is skipped or repeated."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

import orjson
from fastapi import Query
from pydantic import BaseModel

from greenroom.errors import InputError
from greenroom.util.json_values import as_list

MAX_LIMIT = 500

_NO_CURSOR = "`after` is no cursor of this list: use the `next` of a page before."
_MOST = 2**31  # whole numbers of a database end here

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="How many items a page has at most.")]
After = Annotated[
    str | None, Query(description="The `next` of the page before; without it, the first page.")
]

T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    """Some items of a list."""

    items: list[T]
    next: str | None = None
    """Goes into `after` to get the next page; null if this is the last."""


def page_of(found: Sequence[T], limit: int, key: Callable[[T], Sequence[Any]]) -> Page[T]:
    """A page of items that were asked for with one more than the limit."""
    items = list(found[:limit])
    more = len(found) > limit
    return Page(items=items, next=cursor(*key(items[-1])) if more else None)


def cursor(*key: Any) -> str:
    """A key as an opaque text."""
    return urlsafe_b64encode(orjson.dumps(key)).decode().rstrip("=")


def key_of(after: str | None, length: int) -> list[Any] | None:
    """The key in a cursor; None for the first page."""
    if after is None:
        return None
    try:
        key = as_list(orjson.loads(urlsafe_b64decode(after + "=" * (-len(after) % 4))))
    except ValueError:
        key = []
    if len(key) != length:
        raise InputError(_NO_CURSOR)
    return key


def numbers_of(after: str | None, length: int) -> tuple[int, ...] | None:
    """The whole numbers in a cursor; None for the first page."""
    key = key_of(after, length)
    if key is None:
        return None
    if not all(isinstance(one, int) and abs(one) < _MOST for one in key):
        raise InputError(_NO_CURSOR)
    return tuple(key)
