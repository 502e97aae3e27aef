"""The 14 airline tools: reading tools here, writing tools in `reservation_tools`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from greenroom.domains import common_tools
from greenroom.domains.airline import reservation_tools
from greenroom.domains.airline.reservation_tools import ReservationId, UserId
from greenroom.domains.tools import Toolset, record_text
from greenroom.domains.world import Base, Record, World

tools = Toolset()
tools.include(common_tools.tools)
tools.include(reservation_tools.tools)

AIRPORTS = {
    "SFO": "San Francisco",
    "JFK": "New York",
    "LAX": "Los Angeles",
    "ORD": "Chicago",
    "DFW": "Dallas",
    "DEN": "Denver",
    "SEA": "Seattle",
    "ATL": "Atlanta",
    "MIA": "Miami",
    "BOS": "Boston",
    "PHX": "Phoenix",
    "IAH": "Houston",
    "LAS": "Las Vegas",
    "MCO": "Orlando",
    "EWR": "Newark",
    "CLT": "Charlotte",
    "MSP": "Minneapolis",
    "DTW": "Detroit",
    "PHL": "Philadelphia",
    "LGA": "LaGuardia",
}

Origin = Annotated[str, "The airport of departure, three letters, for example 'BOS'."]
Destination = Annotated[str, "The airport of arrival, three letters, for example 'DEN'."]
Date = Annotated[str, "The day of departure as YYYY-MM-DD."]


@tools.add()
def get_user_details(world: World, user_id: UserId) -> str:
    """Show a traveller's profile: name, membership, payment methods and reservations."""
    return record_text(world["users"], user_id, "user not found")


@tools.add()
def get_reservation_details(world: World, reservation_id: ReservationId) -> str:
    """Show a reservation: flights, cabin, passengers, baggage and payments."""
    # "user" is Tau Bench's text.
    return record_text(world["reservations"], reservation_id, "user not found")


@tools.add()
def list_all_airports(world: World) -> str:
    """List every airport that the airline serves, with its city."""
    return json.dumps(AIRPORTS)


@tools.add()
def search_direct_flight(world: World, origin: Origin, destination: Destination, date: Date) -> str:
    """Find flights from one airport to another, without a stop, on a day."""
    flights = world.base.derived(_Timetable).between(origin, destination)
    return json.dumps([_on_day(flight, date) for flight in flights if _is_available(flight, date)])


@tools.add()
def search_onestop_flight(
    world: World, origin: Origin, destination: Destination, date: Date
) -> str:
    """Find connections from one airport to another with one stop, leaving on a day."""
    timetable = world.base.derived(_Timetable)
    connections: list[list[Record]] = []
    for first in timetable.leaving(origin):
        for second in timetable.between(first["destination"], destination):
            arrival = first["scheduled_arrival_time_est"]
            second_date = f"2024-05-{int(date[-2:]) + 1}" if "+1" in arrival else date
            if arrival > second["scheduled_departure_time_est"]:
                continue
            if _is_available(first, date) and _is_available(second, second_date):
                # As in Tau Bench, the second leg has the first day's seats and prices.
                connections.append(
                    [
                        _on_day(first, date) | {"date": date},
                        _on_day(second, date) | {"date": second_date},
                    ]
                )
    return json.dumps(connections)


def _is_available(flight: Record, date: Any) -> bool:
    return date in flight["dates"] and flight["dates"][date]["status"] == "available"


def _on_day(flight: Record, date: Any) -> Record:
    return {key: value for key, value in flight.items() if key != "dates"} | flight["dates"][date]


class _Timetable:
    """The flights by origin and destination. No tool changes flights."""

    def __init__(self, base: Base) -> None:
        self._leaving: dict[str, list[Record]] = {}
        self._between: dict[tuple[str, str], list[Record]] = {}
        for number in base.ids("flights"):
            flight = base.record("flights", number)
            origin, destination = flight["origin"], flight["destination"]
            self._leaving.setdefault(origin, []).append(flight)
            self._between.setdefault((origin, destination), []).append(flight)

    def leaving(self, origin: Any) -> Iterator[Record]:
        return iter(self._leaving.get(origin, ()) if isinstance(origin, str) else ())

    def between(self, origin: Any, destination: Any) -> Iterator[Record]:
        known = isinstance(origin, str) and isinstance(destination, str)
        return iter(self._between.get((origin, destination), ()) if known else ())
