"""The lists and texts that a shop and its tasks are made of, from the files in `data/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

import orjson


@dataclass(frozen=True)
class ProductType:
    """A kind of product; the seed decides on its versions and their prices.

    Every name is a singular noun, so that a sentence may call any product "it".
    """

    name: str
    prices: Sequence[int]
    """The lowest and the highest price of a version, in dollars."""
    options: Mapping[str, Sequence[str]]


_DATA: Final = files("greenroom.domains.retail.generator").joinpath("data")


def _text(file: str) -> str:
    return _DATA.joinpath(file).read_text(encoding="utf-8")


_CATALOGUE: Final[Mapping[str, Any]] = orjson.loads(_text("catalogue.json"))

CATALOGUE: Final = tuple(ProductType(**kind) for kind in _CATALOGUE["products"])
OPTION_PHRASES: Final[Mapping[str, str]] = _CATALOGUE["option_phrases"]
"""How a sentence says that a version has some value of an option: "the same one, but <phrase>"."""
PEOPLE: Final[Mapping[str, Sequence[Any]]] = orjson.loads(_text("people.json"))
"""First and last names, streets, and cities with their state and the start of their zip codes."""
TEXTS: Final[Mapping[str, Sequence[str]]] = orjson.loads(_text("texts.json"))
"""Several ways to say each thing; most are named after the function that says it."""
POLICY: Final = _text("policy.md")
"""The shop's policy for agents. The tools enforce only a part of it."""
