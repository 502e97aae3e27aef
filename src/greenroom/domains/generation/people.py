"""Names and addresses of people, from many parts of the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from random import Random
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from greenroom.domains.world import Record

PEOPLE: Final[Mapping[str, Sequence[Any]]] = orjson.loads(
    files("greenroom.domains.generation").joinpath("data/people.json").read_bytes()
)
"""First and last names, streets, and cities with their state and the start of their zip codes."""

_UNITS: Final = ("Apt", "Unit", "Floor", "Suite")


def make_address(rng: Random) -> Record:
    """An address as the records keep it; there is always a second line, so none is forgotten."""
    city, state, prefix = rng.choice(PEOPLE["cities"])
    unit = rng.choice(_UNITS)
    number = rng.randint(2, 9) if unit == "Floor" else rng.randint(2, 480)
    return {
        "address1": f"{rng.randint(11, 989)} {rng.choice(PEOPLE['streets'])}",
        "address2": f"{unit} {number}",
        "city": city,
        "country": "USA",
        "state": state,
        "zip": f"{prefix}{rng.randint(1, 99):02d}",
    }


def spoken_address(address: Record) -> str:
    """An address as a customer gives it."""
    street = f"{address['address1']}, {address['address2']}"
    return f"{street}, {address['city']}, {address['state']} {address['zip']}"
