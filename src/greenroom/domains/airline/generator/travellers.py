"""The travellers and their reservations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from greenroom.domains.airline.generator.timetable import (
    CABINS,
    FIRST_DAY,
    LAST_DAY,
    TODAY,
    day,
    make_flights,
)
from greenroom.domains.generation.people import PEOPLE, make_address
from greenroom.domains.world import Record

_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_RESERVATIONS: Final = ((2, 3, 4, 5, 6), (15, 25, 28, 20, 12))
_MEMBERSHIPS: Final = (("regular", "silver", "gold"), (45, 30, 25))
_PASSENGERS: Final = ((1, 2, 3), (50, 35, 15))
_PAST: Final = 0.22
"""Trips of last week; their flights may have been cancelled."""
_JUST_BOOKED: Final = 0.2
BAG_PRICE: Final = 50
INSURANCE_PRICE: Final = 30

FREE_BAGS: Final[Mapping[str, Mapping[str, int]]] = {
    "regular": {"basic_economy": 0, "economy": 1, "business": 2},
    "silver": {"basic_economy": 1, "economy": 2, "business": 3},
    "gold": {"basic_economy": 2, "economy": 3, "business": 4},
}
"""How many bags each passenger checks in for free, by membership and cabin."""


@dataclass(frozen=True)
class Traveller:
    """A traveller's profile and reservations."""

    user_id: str
    profile: Record
    reservations: tuple[Record, ...]


@dataclass(frozen=True)
class Airline:
    """The tables of the database, and the travellers to draw from."""

    tables: Mapping[str, Mapping[str, Record]]
    travellers: tuple[Traveller, ...]

    @property
    def flights(self) -> Mapping[str, Record]:
        """The flights by number."""
        return self.tables["flights"]


def stream(seed: int, purpose: str) -> Random:
    """Random numbers of a seed for one purpose; a seed is a text, so -1 and 1 are different."""
    return Random(f"greenroom airline {seed} {purpose}")  # noqa: S311


def make_airline(seed: int, travellers: int) -> Airline:
    """The airline of a seed with this many travellers."""
    flights = make_flights(stream(seed, "flights"))
    users = _users(stream(seed, "people"), travellers)
    reservations = _reservations(stream(seed, "reservations"), users, flights)
    return Airline(
        tables={"users": users, "reservations": reservations, "flights": flights},
        travellers=tuple(
            Traveller(user_id, user, tuple(reservations[each] for each in user["reservations"]))
            for user_id, user in users.items()
        ),
    )


def drawn_day(rng: Random, first: int, last: int) -> str:
    """A day of May 2024."""
    return day(rng.randint(first, last))


def birth_date(rng: Random) -> str:
    """A date of birth."""
    return f"{rng.randint(1948, 2004)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def person(rng: Random) -> Record:
    """A passenger."""
    return {
        "first_name": rng.choice(PEOPLE["first_names"]),
        "last_name": rng.choice(PEOPLE["last_names"]),
        "dob": birth_date(rng),
    }


def _users(rng: Random, count: int) -> dict[str, Record]:
    users: dict[str, Record] = {}
    used: set[str] = set()
    while len(users) < count:
        self = person(rng)
        handle = f"{self['first_name']}_{self['last_name']}".lower()
        user_id = f"{handle}_{rng.randint(1000, 9999)}"
        if user_id in users:
            continue
        users[user_id] = {
            "name": {"first_name": self["first_name"], "last_name": self["last_name"]},
            "address": make_address(rng),
            "email": f"{handle.replace('_', '.')}{rng.randint(10, 9999)}@example.com",
            "dob": self["dob"],
            "payment_methods": _methods(rng, used),
            "saved_passengers": [person(rng) for _ in range(rng.randint(1, 3))],
            "membership": rng.choices(*_MEMBERSHIPS)[0],
            "reservations": [],
        }
    return users


def _methods(rng: Random, used: set[str]) -> dict[str, Record]:
    # Cards with different last digits, so that "the card ending in 1234" names one of them.
    cards = rng.sample(range(10000), rng.randint(1, 2))
    methods: list[Record] = [
        {
            "source": "credit_card",
            "brand": rng.choice(("visa", "mastercard")),
            "last_four": f"{card:04d}",
        }
        for card in cards
    ]
    gifts = rng.randint(0, 2)
    methods += [{"source": "gift_card", "amount": rng.randint(110, 390)} for _ in range(gifts)]
    certificates = rng.randint(0, 2)
    methods += [
        {"source": "certificate", "amount": rng.randrange(100, 300, 25)}
        for _ in range(certificates)
    ]
    named: dict[str, Record] = {}
    for method in methods:
        method_id = _unused(rng, used, f"{method['source']}_")
        named[method_id] = method | {"id": method_id}
    return named


def _unused(rng: Random, used: set[str], prefix: str) -> str:
    while True:
        candidate = f"{prefix}{rng.randrange(1_000_000, 10_000_000)}"
        if candidate not in used:
            used.add(candidate)
            return candidate


def _reservations(
    rng: Random, users: Mapping[str, Record], flights: Mapping[str, Record]
) -> dict[str, Record]:
    reservations: dict[str, Record] = {}
    by_route: dict[tuple[str, str], list[Record]] = {}
    for flight in flights.values():
        by_route.setdefault((flight["origin"], flight["destination"]), []).append(flight)
    routes = sorted(by_route)
    for user_id, user in users.items():
        wanted = rng.choices(*_RESERVATIONS)[0]
        # Every trip of a traveller goes elsewhere, so that its ends name it.
        for route in rng.sample(routes, wanted):
            reservation_id = "".join(rng.choices(_LETTERS, k=6))
            if reservation_id in reservations or reservation_id.startswith("HATHA"):
                continue
            legs = _legs(rng, route, by_route)
            reservations[reservation_id] = _reservation(
                rng, reservation_id, (user_id, user), route, legs
            )
            user["reservations"].append(reservation_id)
    return reservations


def _legs(
    rng: Random, route: tuple[str, str], by_route: Mapping[tuple[str, str], list[Record]]
) -> list[tuple[Record, str]]:
    past = rng.random() < _PAST
    first = rng.randint(FIRST_DAY, TODAY - 3) if past else rng.randint(TODAY + 2, LAST_DAY - 4)
    legs = [(rng.choice(by_route[route]), day(first))]
    if rng.random() < 0.4:
        back = first + rng.randint(1, 2 if past else 4)
        legs.append((rng.choice(by_route[route[1], route[0]]), day(back)))
    return legs


def _reservation(
    rng: Random,
    reservation_id: str,
    buyer: tuple[str, Record],
    route: tuple[str, str],
    legs: list[tuple[Record, str]],
) -> Record:
    user_id, user = buyer
    cabin = rng.choice(CABINS)
    count = rng.choices(*_PASSENGERS)[0]
    self = {**user["name"], "dob": user["dob"]}
    passengers = [self, *(person(rng) for _ in range(count - 1))]
    booked = [_booked(rng, flight, date, cabin) for flight, date in legs]
    bags = rng.randint(0, FREE_BAGS[user["membership"]][cabin] * count)
    insurance = rng.random() < 0.4
    price = (sum(leg["price"] for leg in booked) + INSURANCE_PRICE * insurance) * count
    cards = [m for m in user["payment_methods"].values() if m["source"] == "credit_card"]
    just = rng.random() < _JUST_BOOKED and legs[0][1] > day(TODAY)
    hour = f"T{rng.randint(1, 13):02d}:{rng.randint(0, 59):02d}:{rng.randint(0, 59):02d}"
    return {
        "reservation_id": reservation_id,
        "user_id": user_id,
        "origin": route[0],
        "destination": route[1],
        "flight_type": "round_trip" if len(legs) > 1 else "one_way",
        "cabin": cabin,
        "flights": booked,
        "passengers": passengers,
        "payment_history": [{"payment_id": rng.choice(cards)["id"], "amount": price}],
        "created_at": (day(TODAY) if just else day(rng.randint(1, 7))) + hour,
        "total_baggages": bags,
        "nonfree_baggages": 0,
        "insurance": "yes" if insurance else "no",
    }


def _booked(rng: Random, flight: Record, date: str, cabin: str) -> Record:
    on_day = flight["dates"][date]
    price = on_day["prices"][cabin] if "prices" in on_day else rng.randint(90, 420)
    return {
        "origin": flight["origin"],
        "destination": flight["destination"],
        "flight_number": flight["flight_number"],
        "date": date,
        "price": price + rng.choice((-12, -5, 0, 0, 7, 15)),
    }
