"""Addresses in the United States: invented streets in cities with their own postal codes."""

from __future__ import annotations

from random import Random
from typing import Final

from greenroom.domains.world import Record

_STREETS: Final = (
    "Kestrel Lane",
    "Millrace Road",
    "Harrow Street",
    "Copperfield Avenue",
    "Larkspur Way",
    "Old Quarry Road",
    "Juniper Terrace",
    "Bellwether Street",
    "Tannery Row",
    "Saltmarsh Drive",
    "Orchard Gate",
    "Foxglove Court",
    "Windlass Street",
    "Granary Lane",
    "Thistle Hill Road",
    "Ferryman Street",
    "Cinder Path",
    "Heron Point Drive",
    "Blackthorn Avenue",
    "Mulberry Close",
    "Ropewalk Street",
    "Lantern Alley",
    "Driftwood Court",
    "Chandler Street",
    "Beacon Ridge Road",
    "Wicker Street",
    "Plum Tree Lane",
    "Stonebridge Avenue",
    "Marigold Street",
    "Cooper Yard",
)

_CITIES: Final = (
    ("Portland", "OR", "972"),
    ("Eugene", "OR", "974"),
    ("Seattle", "WA", "981"),
    ("Spokane", "WA", "992"),
    ("Boise", "ID", "837"),
    ("Missoula", "MT", "598"),
    ("Salt Lake City", "UT", "841"),
    ("Reno", "NV", "895"),
    ("Sacramento", "CA", "958"),
    ("Oakland", "CA", "946"),
    ("Fresno", "CA", "937"),
    ("San Diego", "CA", "921"),
    ("Tucson", "AZ", "857"),
    ("Albuquerque", "NM", "871"),
    ("Boulder", "CO", "803"),
    ("Denver", "CO", "802"),
    ("Omaha", "NE", "681"),
    ("Lincoln", "NE", "685"),
    ("Minneapolis", "MN", "554"),
    ("Duluth", "MN", "558"),
    ("Madison", "WI", "537"),
    ("Milwaukee", "WI", "532"),
    ("Chicago", "IL", "606"),
    ("Grand Rapids", "MI", "495"),
    ("Ann Arbor", "MI", "481"),
    ("Columbus", "OH", "432"),
    ("Cleveland", "OH", "441"),
    ("Pittsburgh", "PA", "152"),
    ("Philadelphia", "PA", "191"),
    ("Buffalo", "NY", "142"),
    ("Rochester", "NY", "146"),
    ("Burlington", "VT", "054"),
    ("Boston", "MA", "021"),
    ("Providence", "RI", "029"),
    ("Hartford", "CT", "061"),
    ("Baltimore", "MD", "212"),
    ("Richmond", "VA", "232"),
    ("Asheville", "NC", "288"),
    ("Knoxville", "TN", "379"),
    ("Nashville", "TN", "372"),
    ("Atlanta", "GA", "303"),
    ("Savannah", "GA", "314"),
    ("New Orleans", "LA", "701"),
    ("Austin", "TX", "787"),
    ("San Antonio", "TX", "782"),
    ("Tulsa", "OK", "741"),
    ("Kansas City", "MO", "641"),
    ("Des Moines", "IA", "503"),
)

_UNITS: Final = ("Apt", "Unit", "Floor", "Suite")


def make_address(rng: Random) -> Record:
    """An address as the records keep it; there is always a second line, so none is forgotten."""
    city, state, prefix = rng.choice(_CITIES)
    unit = rng.choice(_UNITS)
    number = rng.randint(2, 9) if unit == "Floor" else rng.randint(2, 480)
    return {
        "address1": f"{rng.randint(11, 989)} {rng.choice(_STREETS)}",
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
