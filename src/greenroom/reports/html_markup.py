"""Markup that cannot be broken by data: whatever is not markup already is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from greenroom.reports.plain import plain

_VOID = frozenset({"br", "hr", "input", "meta", "link"})
_JSON_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


class Markup(str):
    """Text that is HTML already; all other text is escaped where it is put into a tag."""

    __slots__ = ()


Child = str | Iterable[str | None] | None
Attribute = str | int | float | bool | None


def join(*children: Child) -> Markup:
    """Children one after the other: markup as it is, text escaped, None left out."""
    return Markup("".join(_written(child) for child in children))


def tag(name: str, *children: Child, **attributes: Attribute) -> Markup:
    """An element. `class_` is class, `data_k` is data-k; None and False leave an attribute out."""
    opened = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if name in _VOID:
        return Markup(opened)
    return Markup(f"{opened}{join(*children)}</{name}>")


def json_script(value: Any, **attributes: Attribute) -> Markup:
    """Data for scripts: JSON that cannot end the element it stands in."""
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    opened = "".join(_attribute(key, given) for key, given in attributes.items())
    return Markup(
        f'<script type="application/json"{opened}>{text.translate(_JSON_ESCAPES)}</script>'
    )


def _written(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return escape(child)
    return "".join(_written(part) for part in child)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
