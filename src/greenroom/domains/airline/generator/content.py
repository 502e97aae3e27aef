"""The texts that an airline's tasks are made of, from the files in `data/`."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

import orjson

from greenroom.domains.generation import shared_wording

_DATA: Final = files("greenroom.domains.airline.generator").joinpath("data")

WORDING: Final = shared_wording(orjson.loads(_DATA.joinpath("wording.json").read_bytes()))
"""Several ways to say each thing; most are named after the function that says it."""
POLICY: Final = _DATA.joinpath("policy.md").read_text(encoding="utf-8")
"""The airline's policy for agents. The tools enforce only a part of it."""
