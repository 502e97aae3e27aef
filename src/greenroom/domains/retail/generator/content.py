"""The lists and texts that a shop and its tasks are made of, from the files in `data/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

import orjson

from greenroom.domains.generation import Wording, shared_wording


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
TEXTS: Final[Mapping[str, Sequence[str]]] = orjson.loads(_text("texts.json"))
"""Several ways to say each thing; most are named after the function that says it."""
WORDING: Final = shared_wording(orjson.loads(_text("wording.json")))
"""The same and more, with alternatives within each text; for tasks like the official ones."""
PLAIN: Final = Wording(TEXTS, {})
POLICY: Final = _text("policy.md")
"""The shop's policy for agents. The tools enforce only a part of it."""
POLICY_WITH_LIMITS: Final = POLICY + _text("policy_limits.md")
"""The same, with what is never done spelt out; for tasks that ask for it."""
