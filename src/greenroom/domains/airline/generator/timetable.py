"""The flights: routes between the airports, with seats and prices for each day."""

from __future__ import annotations

from random import Random
from typing import Final

from greenroom.domains.airline.tools import AIRPORTS
from greenroom.domains.world import Record

CABINS: Final = ("basic_economy", "economy", "business")
TODAY: Final = 15
"""The day in May 2024 that the tools take for today."""
FIRST_DAY: Final = 8
LAST_DAY: Final = 30
_ROUTES: Final = 44
_FLIGHTS_PER_ROUTE: Final = 2
_CANCELLED: Final = 0.12


def day(number: int) -> str:
    """A day of the month as records write it."""
    return f"2024-05-{number:02d}"


def make_flights(rng: Random) -> dict[str, Record]:
    """Direct flights both ways between pairs of airports, by number."""
    pairs = [(a, b) for a in AIRPORTS for b in AIRPORTS if a < b]
    flights: dict[str, Record] = {}
    for one, two in rng.sample(pairs, _ROUTES):
        minutes = rng.randrange(60, 360, 15)
        for origin, destination in ((one, two), (two, one)):
            hours = rng.sample(range(6, 17), _FLIGHTS_PER_ROUTE)
            for hour in sorted(hours):
                number = f"LKW{len(flights) + 101}"
                flights[number] = _flight(rng, (number, origin, destination), hour, minutes)
    return flights


def _flight(rng: Random, names: tuple[str, str, str], hour: int, minutes: int) -> Record:
    number, origin, destination = names
    departure, arrival = _clock(hour * 60), _clock(hour * 60 + minutes)
    base = rng.randint(45, 120) + minutes // 3
    days = range(FIRST_DAY, LAST_DAY + 1)
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": departure,
        "scheduled_arrival_time_est": arrival,
        "dates": {day(each): _on(rng, each, (departure, arrival), base) for each in days},
    }


def _on(rng: Random, number: int, times: tuple[str, str], base: int) -> Record:
    departure, arrival = times
    if number > TODAY:
        economy = base + rng.randint(0, 140)
        seats = [rng.randint(0, 18) for _ in CABINS]
        prices = (economy - rng.randint(15, 40), economy, economy * 2 + rng.randint(20, 160))
        return {
            "status": "available",
            "available_seats": dict(zip(CABINS, seats, strict=True)),
            "prices": dict(zip(CABINS, prices, strict=True)),
        }
    if number < TODAY and rng.random() < _CANCELLED:
        return {"status": "cancelled"}
    took_off, landed = f"{day(number)}T{departure}", f"{day(number)}T{arrival}"
    if number < TODAY or landed < f"{day(TODAY)}T15:00:00":
        return {
            "status": "landed",
            "actual_departure_time_est": took_off,
            "actual_arrival_time_est": landed,
        }
    if took_off < f"{day(TODAY)}T15:00:00":
        return {
            "status": "flying",
            "actual_departure_time_est": took_off,
            "estimated_arrival_time_est": landed,
        }
    return {
        "status": "on time",
        "estimated_departure_time_est": took_off,
        "estimated_arrival_time_est": landed,
    }


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"
