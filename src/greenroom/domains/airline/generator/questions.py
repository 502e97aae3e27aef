"""Questions, whose answers no wish in the same conversation changes."""

from __future__ import annotations

from typing import Final

from greenroom.domains.airline.generator.journey import (
    Draw,
    Journey,
    spoken_cabin,
    spoken_day,
)
from greenroom.domains.airline.generator.timetable import CABINS, LAST_DAY, TODAY
from greenroom.domains.airline.generator.travellers import drawn_day
from greenroom.domains.airline.generator.wishes import cheapest, searching
from greenroom.domains.airline.tools import AIRPORTS
from greenroom.domains.generation import Unsuitable, Wish

_DISTINCTIVE: Final = 100
"""Smaller numbers may occur in an answer by chance."""


def ask_paid(journey: Journey) -> Wish:
    """What a trip cost."""
    reservation = journey.take()
    amount = _distinctive(reservation["payment_history"][0]["amount"])
    text = journey.say("ask_paid", trip=journey.trip(reservation))
    return Wish(text, journey.found(reservation), (amount,))


def ask_fare(journey: Journey) -> Wish:
    """The lowest fare of a day between two cities."""
    some = journey.rng.choice(list(journey.airline.flights.values()))
    origin, destination = some["origin"], some["destination"]
    date, cabin = drawn_day(journey.rng, TODAY + 2, LAST_DAY), journey.rng.choice(CABINS[1:])
    flight = cheapest(journey, (origin, destination), date, cabin, 1)
    fare = _distinctive(flight["dates"][date]["prices"][cabin])
    text = journey.say(
        "ask_fare",
        origin=AIRPORTS[origin],
        destination=AIRPORTS[destination],
        date=spoken_day(date),
        cabin=spoken_cabin(cabin),
    )
    return Wish(text, (searching(origin, destination, date),), (fare,))


def ask_gift_cards(journey: Journey) -> Wish:
    """What is left on all gift cards together."""
    methods = journey.traveller.profile["payment_methods"].values()
    amounts = [method["amount"] for method in methods if method["source"] == "gift_card"]
    if not amounts:
        raise Unsuitable
    return Wish(journey.say("ask_gift_cards"), (journey.profile(),), (_distinctive(sum(amounts)),))


def _distinctive(amount: int) -> str:
    if amount < _DISTINCTIVE:
        raise Unsuitable
    return str(amount)


ANSWERS: Final[tuple[Draw, ...]] = (ask_paid, ask_fare, ask_gift_cards)
