"""How sentences speak of the options that versions of a product differ in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OPTION_PHRASES: Final[Mapping[str, str]] = {
    "blade": "with a {} blade",
    "brightness": "with {} lumens",
    "buckle": "with a {} buckle",
    "build": "in the {} build",
    "capacity": "holding {}",
    "cartridge": "with a {} cartridge",
    "closure": "with a {} closure",
    "color": "in {}",
    "cover": "with a {} cover",
    "cuff": "with a {} cuff",
    "diameter": "with a diameter of {}",
    "display": "with a {} display",
    "fill": "with {} fill",
    "finish": "with a {} finish",
    "fit": "in the {} fit",
    "fuel": "burning {}",
    "grip": "with a {} grip",
    "hood": "with a {} hood",
    "length": "with a length of {}",
    "lid": "with a {} lid",
    "lining": "with a {} lining",
    "magnification": "with {} magnification",
    "material": "made of {}",
    "pages": "with {} pages",
    "pattern": "with a {} pattern",
    "pieces": "with {} pieces",
    "power": "powered by {}",
    "season": "made for {}",
    "seats": "for {}",
    "size": "in size {}",
    "sleeps": "for {}",
    "strap": "with a {} strap",
    "treatment": "with a {} treatment",
    "warmth": "good down to {}",
    "weave": "with a {} weave",
}
"""How a sentence says that a version has some value of an option: "the same one, but <phrase>"."""


def option_phrase(option: str, value: str) -> str:
    """A value of an option within a sentence: "in size M"."""
    return OPTION_PHRASES[option].format(value)


def changes_phrase(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """In what a version differs from another."""
    changed = [option for option in new if new[option] != old[option]]
    return " and ".join(option_phrase(option, new[option]) for option in changed)
