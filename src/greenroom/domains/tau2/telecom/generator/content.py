"""What telecom texts are made of. Everything here was written for Greenroom."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

import orjson

from greenroom.domains.generation import Wording
from greenroom.domains.generation.people import PEOPLE

_DATA: Final = files("greenroom.domains.tau2.telecom.generator").joinpath("data")
_own: Final[dict[str, Any]] = orjson.loads(_DATA.joinpath("wording.json").read_bytes())

POLICY: Final = _DATA.joinpath("policy.md").read_text(encoding="utf-8")
WORDING: Final = Wording(
    _own["texts"],
    _own["lists"]
    | {
        "city": [city for city, *_ in PEOPLE["cities"]],
        "clock": [f"{hour}:{minute:02}" for hour in range(7, 22) for minute in range(60)],
        "number": [str(number) for number in range(2, 60)],
    },
)
"""Texts with alternatives; people are given by who says them."""
