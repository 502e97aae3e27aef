"""Wishes that the policy allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from greenroom.domains.airline.generator.journey import (
    Draw,
    Journey,
    on,
    spoken_cabin,
    spoken_day,
)
from greenroom.domains.airline.generator.timetable import CABINS, LAST_DAY, TODAY, day
from greenroom.domains.airline.generator.travellers import (
    BAG_PRICE,
    FREE_BAGS,
    INSURANCE_PRICE,
    drawn_day,
    person,
)
from greenroom.domains.airline.tools import AIRPORTS
from greenroom.domains.generation import Unsuitable, Wish, needed
from greenroom.domains.tasks import Action
from greenroom.domains.world import Record

COVERED: Final = ("health", "weather")
"""The reasons for which insurance pays."""
_COMPENSATION: Final = 100


def is_fresh(reservation: Record) -> bool:
    """Whether a reservation was made within the last 24 hours."""
    return reservation["created_at"] >= f"{day(TODAY - 1)}T15:00:00"


def is_free_to_cancel(reservation: Record) -> bool:
    """Whether a reservation can be cancelled whatever the reason."""
    return reservation["cabin"] == "business" or is_fresh(reservation)


def cancel_trip(journey: Journey) -> Wish:
    """Cancel a trip, for a reason that the policy accepts."""
    reservation = journey.take(lambda r: is_free_to_cancel(r) or r["insurance"] == "yes")
    reason = "any" if is_free_to_cancel(reservation) else journey.rng.choice(COVERED)
    why = journey.say(f"reason_{reason}")
    text = journey.say("cancel_trip", trip=journey.trip(reservation), why=why)
    return Wish(text, (*journey.found(reservation), on(reservation, "cancel_reservation")))


def change_cabin(journey: Journey) -> Wish:
    """Fly in another cabin."""
    reservation = journey.take()
    card, words = journey.card()
    new = journey.rng.choice(_other_cabins(journey, reservation))
    trip = journey.trip(reservation)
    text = journey.say("change_cabin", trip=trip, cabin=spoken_cabin(new), card=words)
    return Wish(text, (*journey.found(reservation), recabined(reservation, new, card)))


def _other_cabins(journey: Journey, reservation: Record) -> list[str]:
    others = [
        cabin
        for cabin in CABINS
        if cabin != reservation["cabin"]
        and all(
            _has_seats(journey, leg, cabin, len(reservation["passengers"]))
            for leg in reservation["flights"]
        )
    ]
    return needed(others or None)


def recabined(reservation: Record, cabin: str, card: Record) -> Action:
    """Changing the cabin of all flights."""
    flights = [
        {key: leg[key] for key in ("flight_number", "date")} for leg in reservation["flights"]
    ]
    return on(
        reservation,
        "update_reservation_flights",
        cabin=cabin,
        flights=flights,
        payment_id=card["id"],
    )


def change_day(journey: Journey) -> Wish:
    """Fly on another day, with the cheapest flight of that day."""
    reservation = journey.take(is_changeable)
    card, words = journey.card()
    flight, date = other_day(journey, reservation)
    trip = journey.trip(reservation)
    text = journey.say("change_day", trip=trip, date=spoken_day(date), card=words)
    search = searching(reservation["origin"], reservation["destination"], date)
    change = moved(reservation, flight, date, card)
    return Wish(text, (*journey.found(reservation), search, change))


def is_changeable(reservation: Record) -> bool:
    """Whether the only flight of a reservation can be moved to another day."""
    return reservation["cabin"] != "basic_economy" and len(reservation["flights"]) == 1


def other_day(journey: Journey, reservation: Record, but: Sequence[str] = ()) -> tuple[Record, str]:
    """The cheapest flight for a reservation on some other day, and that day."""
    date = drawn_day(journey.rng, TODAY + 2, LAST_DAY)
    if date in (reservation["flights"][0]["date"], *but):
        raise Unsuitable
    route = reservation["origin"], reservation["destination"]
    seats = len(reservation["passengers"])
    return cheapest(journey, route, date, reservation["cabin"], seats), date


def moved(reservation: Record, flight: Record, date: str, card: Record) -> Action:
    """Moving a reservation to another flight."""
    return on(
        reservation,
        "update_reservation_flights",
        cabin=reservation["cabin"],
        flights=[{"flight_number": flight["flight_number"], "date": date}],
        payment_id=card["id"],
    )


def searching(origin: str, destination: str, date: str) -> Action:
    """Looking for direct flights."""
    arguments = {"origin": origin, "destination": destination, "date": date}
    return Action("search_direct_flight", arguments)


def cheapest(journey: Journey, route: tuple[str, str], date: str, cabin: str, seats: int) -> Record:
    """The one cheapest direct flight of a day with so many free seats."""
    able = [
        flight
        for flight in journey.airline.flights.values()
        if (flight["origin"], flight["destination"]) == route
        and flight["dates"][date]["status"] == "available"
        and flight["dates"][date]["available_seats"][cabin] >= seats
    ]
    able.sort(key=lambda flight: flight["dates"][date]["prices"][cabin])
    prices = [flight["dates"][date]["prices"][cabin] for flight in able]
    if not able or prices[:1] == prices[1:2]:
        raise Unsuitable
    return able[0]


def _has_seats(journey: Journey, leg: Record, cabin: str, seats: int) -> bool:
    on_day = journey.airline.flights[leg["flight_number"]]["dates"][leg["date"]]
    return on_day["status"] == "available" and on_day["available_seats"][cabin] >= seats


def add_bags(journey: Journey) -> Wish:
    """Check in more bags."""
    reservation = journey.take()
    card, words = journey.card()
    extra = journey.rng.randint(1, 3)
    text = journey.say(
        "add_bags", trip=journey.trip(reservation), bags=bag_words(extra), card=words
    )
    return Wish(text, (*journey.found(reservation), packed(journey, reservation, extra, card)))


def bag_words(count: int) -> str:
    """A number of bags within a sentence."""
    return "one more bag" if count == 1 else f"{('two', 'three')[count - 2]} more bags"


def packed(journey: Journey, reservation: Record, extra: int, card: Record) -> Action:
    """Adding bags to a reservation."""
    total = reservation["total_baggages"] + extra
    return on(
        reservation,
        "update_reservation_baggages",
        total_baggages=total,
        nonfree_baggages=max(0, total - _free_bags(journey, reservation)),
        payment_id=card["id"],
    )


def _free_bags(journey: Journey, reservation: Record) -> int:
    free = FREE_BAGS[journey.traveller.profile["membership"]][reservation["cabin"]]
    return free * len(reservation["passengers"])


def rename_passenger(journey: Journey) -> Wish:
    """Correct the last name of a passenger."""
    reservation, passenger, new = renaming(journey)
    text = journey.say(
        "rename_passenger", trip=journey.trip(reservation), old=full_name(passenger), new=new
    )
    return Wish(text, (*journey.found(reservation), renamed(reservation, passenger, new)))


def renaming(journey: Journey) -> tuple[Record, Record, str]:
    """A reservation, one of its passengers and another last name."""
    # The account keeps its name, so that the user is not two people.
    name = journey.traveller.profile["name"]
    reservation = journey.take(lambda one: bool(_company(one, name)))
    passenger = journey.rng.choice(_company(reservation, name))
    new = person(journey.rng)["last_name"]
    if new == passenger["last_name"]:
        raise Unsuitable
    return reservation, passenger, new


def _company(reservation: Record, name: Record) -> list[Record]:
    """The passengers other than the user."""
    return [one for one in reservation["passengers"] if not name.items() <= one.items()]


def renamed(reservation: Record, passenger: Record, new: str) -> Action:
    """Changing the last name of a passenger."""
    passengers = [
        each | {"last_name": new} if each is passenger else dict(each)
        for each in reservation["passengers"]
    ]
    return on(reservation, "update_reservation_passengers", passengers=passengers)


def full_name(passenger: Record) -> str:
    """A passenger's name."""
    return f"{passenger['first_name']} {passenger['last_name']}"


def book_trip(journey: Journey) -> Wish:
    """Book a direct flight, one way."""
    rng, profile = journey.rng, journey.traveller.profile
    some = rng.choice(list(journey.airline.flights.values()))
    origin, destination = some["origin"], some["destination"]
    date, cabin = drawn_day(rng, TODAY + 2, LAST_DAY), rng.choice(CABINS)
    passengers = [{**profile["name"], "dob": profile["dob"]}]
    company = rng.choice(profile["saved_passengers"]) if rng.random() < 0.4 else None
    if company is not None:
        passengers.append(dict(company))
    flight = cheapest(journey, (origin, destination), date, cabin, len(passengers))
    bags, insured = rng.randint(0, 2), rng.random() < 0.4
    nonfree = max(0, bags - FREE_BAGS[profile["membership"]][cabin] * len(passengers))
    fare = flight["dates"][date]["prices"][cabin] + INSURANCE_PRICE * insured
    card, words = journey.card()
    text = journey.say(
        "book_trip",
        origin=AIRPORTS[origin],
        destination=AIRPORTS[destination],
        date=spoken_day(date),
        cabin=spoken_cabin(cabin),
        who=journey.say("with", name=full_name(company)) if company else journey.say("alone"),
        bags=journey.say("bags", number=("no", "one", "two")[bags], s="" if bags == 1 else "s"),
        insurance=journey.say("insured" if insured else "uninsured"),
        card=words,
    )
    booking = Action(
        "book_reservation",
        {
            "user_id": journey.traveller.user_id,
            "origin": origin,
            "destination": destination,
            "flight_type": "one_way",
            "cabin": cabin,
            "flights": [{"flight_number": flight["flight_number"], "date": date}],
            "passengers": passengers,
            "payment_methods": [
                {
                    "payment_id": card["id"],
                    "amount": fare * len(passengers) + BAG_PRICE * nonfree,
                }
            ],
            "total_baggages": bags,
            "nonfree_baggages": nonfree,
            "insurance": "yes" if insured else "no",
        },
    )
    return Wish(text, (searching(origin, destination, date), booking))


def was_cancelled(journey: Journey, reservation: Record) -> bool:
    """Whether the airline cancelled a flight of a reservation."""
    flights = journey.airline.flights
    return any(
        flights[leg["flight_number"]]["dates"][leg["date"]]["status"] == "cancelled"
        for leg in reservation["flights"]
    )


def is_compensated(journey: Journey, reservation: Record) -> bool:
    """Whether the policy grants a certificate for a cancelled flight of a reservation."""
    return (
        journey.traveller.profile["membership"] != "regular"
        or reservation["insurance"] == "yes"
        or reservation["cabin"] == "business"
    )


def claim_compensation(journey: Journey) -> Wish:
    """Ask for a certificate for a flight that the airline cancelled."""
    reservation = journey.take(
        lambda r: was_cancelled(journey, r) and is_compensated(journey, r), past=True
    )
    amount = _COMPENSATION * len(reservation["passengers"])
    text = journey.say("claim_compensation", trip=journey.trip(reservation))
    user_id = journey.traveller.user_id
    certificate = Action("send_certificate", {"user_id": user_id, "amount": amount})
    return Wish(text, (*journey.found(reservation), certificate))


SINGLE: Final[tuple[Draw, ...]] = (
    cancel_trip,
    change_cabin,
    change_day,
    add_bags,
    rename_passenger,
    book_trip,
    claim_compensation,
)
