"""Strange values: what people, models, servers and files may send.

Every text holds MARK, so that a test can tell whether it is still recognisable, and whether
something in a page or a document was made of it.
"""

from __future__ import annotations

import math
from typing import Any, cast

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st


def examples(number: int) -> settings:
    """So many examples, one after the other in the same store.

    A failing one is not made smaller: each takes a run, and all are short.
    """
    return settings(
        max_examples=number,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


MARK = "plum"
"""A word that Greenroom never writes by itself."""

PIECES: tuple[str, ...] = (
    "half \ud83d an emoji",
    "\udc00",
    "\ud83d\ude00",
    "NUL \0 in it",
    f"\x1b[8;53m\x1b]0;{MARK}\x07\x1b]8;;http://{MARK}.test\x1b\\",
    "\x9b2J\x90q\x9c",
    "\x1bc\x08\x08\x0c\x0b\x7f",
    "\u202eright\u2066to left\u200f",
    "a\u2028b\u2029c\x85d\r\ne\rf\n\ng\th",
    "[/b] [bold red] [link=file:///x]y[/link] :smile: [[",
    f"<script>{MARK}()</script><{MARK} on{MARK}=1>",
    f"</script><script>{MARK}()</script><!-- ]]>",
    f"\"'><img src={MARK} onerror={MARK}()><style>*{{}}</style>",
    f"| {MARK} | `code` | **bold** |\n| --- |\n",
    f"![x](http://{MARK}.test/) [x](javascript:{MARK}) <http://{MARK}.test>",
    "# head\n```\n~~~\n</details>\n- [ ] @all \\",
    "{{ 7*7 }} {% raw %} ${x} %s %(x)s {0} {x}",
    "=1+1",
    "@SUM(A1)",
    "\t=cmd|' /C calc'!A0",
    "-1",
    "\ufeff\ufffe\uffff",
    "e\u0301" * 30,
    "\U000e0041\u200d",
    "word " * 500,
    "x" * 9_000,
    "../../etc/passwd",
    "###STOP###"[:5],
    "NaN",
    "null",
    '{"role": "user"',
)

any_text = st.text(st.characters(codec=None), max_size=12)

texts: st.SearchStrategy[str] = st.tuples(
    st.lists(st.sampled_from(PIECES) | any_text, max_size=3),
    st.lists(st.sampled_from(PIECES) | any_text, max_size=3),
).map(lambda parts: MARK.join("".join(part) for part in parts))
"""Texts with MARK in them, and anything before and after it."""

NUMBERS: tuple[float, ...] = (
    math.nan,
    math.inf,
    -math.inf,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    2**53 + 1,
    2**63,
    -(2**63) - 1,
    2**64,
    2**70,
    10**400,
    -(10**400),
)

numbers: st.SearchStrategy[float] = st.sampled_from(NUMBERS) | st.integers() | st.floats()

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
"""JSON as Python has it: with strange keys, and numbers that JSON has no word for."""


def deep(levels: int, bottom: Any = MARK) -> Any:
    """A list in a list in a list."""
    value = bottom
    for _ in range(levels):
        value = [value]
    return value


def normal(text: str) -> str:
    """A text with halves of pairs that stand side by side joined: no codec keeps them apart."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def kept(value: Any) -> Any:
    """What a record keeps: null for numbers that JSON has no word for, keys without halves."""
    if isinstance(value, str):
        return normal(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [kept(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {
            written(normal(key)): kept(item) for key, item in cast("dict[str, Any]", value).items()
        }
    return value


def written(value: Any) -> Any:
    """A text, or all texts of a row, as a file has them: without halves of pairs."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {written(key): written(item) for key, item in cast("dict[str, Any]", value).items()}
    return value
