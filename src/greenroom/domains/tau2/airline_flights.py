"""The flights of tau2's airline: what is scheduled, and the tools that search it.

A flight's record holds a month of days, and only bookings change it. So the flights of the base are
decoded once, and the text of each is made once; a world's own flights are written anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from greenroom.domains.airline.tools import AIRPORTS
from greenroom.domains.tools import Refused, Toolset
from greenroom.domains.world import Base, Record, World

tools = Toolset(owner="AirlineTools")

_AIRPORT_LIST: Final = json.dumps([{"iata": code, "city": city} for code, city in AIRPORTS.items()])


@tools.add(schema=False)
def list_all_airports(world: World) -> str:
    """List every airport with its city."""
    return _AIRPORT_LIST


@tools.add(schema=False)
def search_direct_flight(world: World, origin: Any, destination: Any, date: Any) -> str:
    """Find flights from one airport to another on a day."""
    board = _Board(world)
    found = board.available(date, origin, destination)
    return f"[{', '.join([board.text(flight, date, None) for flight in found])}]"


@tools.add(schema=False)
def search_onestop_flight(world: World, origin: Any, destination: Any, date: Any) -> str:
    """Find connections with one stop, leaving on a day."""
    board = _Board(world)
    pairs: list[str] = []
    for first in board.available(date, origin, None):
        arrival = first["scheduled_arrival_time_est"]
        # As in tau2, the next day is written without a leading zero, always in May 2024.
        next_date = f"2024-05-{int(date[-2:]) + 1}" if "+1" in arrival else date
        for second in board.available(next_date, first["destination"], destination):
            if second["scheduled_departure_time_est"] >= arrival:
                legs = (board.text(first, date, date), board.text(second, next_date, next_date))
                pairs.append(f"[{', '.join(legs)}]")
    return f"[{', '.join(pairs)}]"


@tools.add(schema=False)
def get_flight_status(world: World, flight_number: Any, date: Any) -> str:
    """Show the status of a flight on a day."""
    return flight_day(world, flight_number, date)["status"]


def find_flight(world: World, number: Any) -> Record:
    """A flight for reading only; raise Refused if there is none."""
    own = world["flights"].touched()
    flights = own if number in own else world.base.derived(_Timetable).flights
    flight = flights.get(number)
    if flight is None:
        raise Refused(f"Flight {number} not found")
    return flight


def flight_day(world: World, number: Any, date: Any) -> Record:
    """A flight's record of a day, for reading only; raise Refused if there is none."""
    dates = find_flight(world, number)["dates"]
    if date not in dates:
        raise Refused(f"Flight {number} not found on date {date}")
    return dates[date]


class _Timetable:
    """The flights of a base by number, origin and destination, and their texts by day."""

    def __init__(self, base: Base) -> None:
        self.flights: Final = {key: base.record("flights", key) for key in base.ids("flights")}
        self.leaving: Final[dict[str, list[str]]] = {}
        self.between: Final[dict[tuple[str, str], list[str]]] = {}
        for number, flight in self.flights.items():
            origin, destination = flight["origin"], flight["destination"]
            self.leaving.setdefault(origin, []).append(number)
            self.between.setdefault((origin, destination), []).append(number)
        self.texts: Final[dict[tuple[str, str, str | None], str]] = {}


class _Board:
    """The flights as one world sees them."""

    def __init__(self, world: World) -> None:
        self._timetable: Final = world.base.derived(_Timetable)
        self._own: Final = world["flights"].touched()

    def available(self, date: Any, origin: Any, destination: Any) -> Iterator[Record]:
        """The flights that can be booked on a day; None stands for any airport."""
        for number in self._numbers(origin, destination):
            flight = self._own.get(number) or self._timetable.flights[number]
            if destination is not None and flight["destination"] != destination:
                continue
            dates = flight["dates"]
            if date in dates and dates[date]["status"] == "available":
                yield flight

    def _numbers(self, origin: Any, destination: Any) -> Iterator[str]:
        timetable = self._timetable
        if origin is None:
            return iter(timetable.flights)
        if not isinstance(origin, str):
            return iter(())
        if isinstance(destination, str):
            return iter(timetable.between.get((origin, destination), ()))
        return iter(timetable.leaving.get(origin, ()))

    def text(self, flight: Record, date: str, shown: str | None) -> str:
        """A flight as searches show it; they name the date only for connections."""
        number = flight["flight_number"]
        if number in self._own:
            return _leg_text(flight, date, shown)
        texts, key = self._timetable.texts, (number, date, shown)
        text = texts.get(key)
        if text is None:
            text = texts[key] = _leg_text(flight, date, shown)
        return text


def _leg_text(flight: Record, date: str, shown: str | None) -> str:
    day = flight["dates"][date]
    return json.dumps(
        {
            "flight_number": flight["flight_number"],
            "origin": flight["origin"],
            "destination": flight["destination"],
            "status": "available",
            "scheduled_departure_time_est": flight["scheduled_departure_time_est"],
            "scheduled_arrival_time_est": flight["scheduled_arrival_time_est"],
            "date": shown,
            "available_seats": day["available_seats"],
            "prices": day["prices"],
        }
    )
