"""tau2's airline tools that change something.

The order of the checks decides which error is shown, and the steps before a failed one stay done.
Booking takes seats; cancelling and changing flights release none. Arguments become records as
pydantic converts them: its errors are part of what tau2 answers.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import BaseModel

from greenroom.domains.airline.reservation_tools import (
    BAGGAGE_PRICE,
    INSURANCE_PRICE,
    NEW_CERTIFICATE_IDS,
    NEW_RESERVATION_IDS,
    NOW,
)
from greenroom.domains.tau2.airline_flights import find_flight, flight_day
from greenroom.domains.tau2.airline_records import (
    Certificate,
    FlightInfo,
    Passenger,
    Payment,
    Reservation,
)
from greenroom.domains.tools import Refused, Toolset, own_record
from greenroom.domains.world import Record, World

tools = Toolset(owner="AirlineTools")

Model = TypeVar("Model", bound=BaseModel)


@tools.add(writes=True, schema=False)
def book_reservation(
    world: World,
    user_id: Any,
    origin: Any,
    destination: Any,
    flight_type: Any,
    cabin: Any,
    flights: Any,
    passengers: Any,
    payment_methods: Any,
    total_baggages: Any,
    nonfree_baggages: Any,
    insurance: Any,
) -> str:
    """Book a journey for a traveller."""
    flights = _parsed(FlightInfo, flights)
    passengers = _parsed(Passenger, passengers)
    payments = _parsed(Payment, payment_methods)
    user = _user(world, user_id)
    reservation_id = _unused_reservation_id(world)
    reservation = Reservation(
        reservation_id=reservation_id,
        user_id=user_id,
        origin=origin,
        destination=destination,
        flight_type=flight_type,
        cabin=cabin,
        flights=[],
        passengers=passengers,
        payment_history=payments,
        created_at=NOW,
        total_baggages=total_baggages,
        nonfree_baggages=nonfree_baggages,
        insurance=insurance,
    ).model_dump()

    total = 0
    for flight in flights:
        booked = _booked_flight(world, flight, cabin, passengers)
        reservation["flights"].append(booked)
        total += booked["price"] * len(passengers)
    if insurance == "yes":
        total += INSURANCE_PRICE * len(passengers)
    total += BAGGAGE_PRICE * nonfree_baggages

    _check_payments(user, payments, total)
    _pay(user, payments)
    for flight in reservation["flights"]:
        day = world["flights"][flight["flight_number"]]["dates"][flight["date"]]
        day["available_seats"][cabin] -= len(passengers)
    world["reservations"][reservation_id] = reservation
    user["reservations"].append(reservation_id)
    return json.dumps(reservation)


@tools.add(writes=True, schema=False)
def cancel_reservation(world: World, reservation_id: Any) -> str:
    """Cancel a whole reservation and reverse its payments."""
    reservation = _reservation(world, reservation_id)
    history = reservation["payment_history"]
    history.extend([_payment(paid["payment_id"], -paid["amount"]) for paid in history])
    reservation["status"] = "cancelled"
    return json.dumps(reservation)


@tools.add(writes=True, schema=False)
def send_certificate(world: World, user_id: Any, amount: Any) -> str:
    """Send a traveller a certificate."""
    methods = _user(world, user_id)["payment_methods"]
    for payment_id in NEW_CERTIFICATE_IDS:
        if payment_id not in methods:
            methods[payment_id] = Certificate(
                source="certificate", id=payment_id, amount=amount
            ).model_dump()
            return f"Certificate {payment_id} added to user {user_id} with amount {amount}."
    raise Refused("Too many certificates")


@tools.add(writes=True, schema=False)
def update_reservation_baggages(
    world: World, reservation_id: Any, total_baggages: Any, nonfree_baggages: Any, payment_id: Any
) -> str:
    """Change the checked bags of a reservation; the numbers are stored as they come."""
    reservation = _reservation(world, reservation_id)
    user = _user(world, reservation["user_id"])
    price = BAGGAGE_PRICE * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    _charge(user, reservation, payment_id, price)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    return json.dumps(reservation)


@tools.add(writes=True, schema=False)
def update_reservation_flights(
    world: World, reservation_id: Any, cabin: Any, flights: Any, payment_id: Any
) -> str:
    """Change the flights and the cabin of a reservation; the difference in price is charged."""
    flights = _parsed(FlightInfo, flights)
    reservation = _reservation(world, reservation_id)
    user = _user(world, reservation["user_id"])
    passengers = reservation["passengers"]
    total = 0
    booked: list[Record] = []
    for flight in flights:
        leg = _kept_flight(reservation, flight, cabin)
        if leg is None:
            leg = _booked_flight(world, flight, cabin, passengers)
        total += leg["price"] * len(passengers)
        booked.append(leg)
    total -= sum(leg["price"] for leg in reservation["flights"]) * len(passengers)
    _charge(user, reservation, payment_id, total)
    reservation["flights"] = booked
    reservation["cabin"] = cabin
    return json.dumps(reservation)


@tools.add(writes=True, schema=False)
def update_reservation_passengers(world: World, reservation_id: Any, passengers: Any) -> str:
    """Replace the passengers of a reservation by as many others."""
    records = _parsed(Passenger, passengers)
    reservation = _reservation(world, reservation_id)
    if len(records) != len(reservation["passengers"]):
        raise Refused("Number of passengers does not match")
    # What is no list of objects is stored as it comes, as in tau2.
    parsed = records is not passengers
    reservation["passengers"] = [one.model_dump() for one in records] if parsed else passengers
    return json.dumps(reservation)


def _parsed(model: type[Model], values: Any) -> Any:
    # tau2 makes records of a list of objects, and goes on with anything else as it is.
    if all(isinstance(value, dict) for value in values):
        return [model(**value) for value in values]
    return values


def _user(world: World, user_id: Any) -> Record:
    return own_record(world["users"], user_id, f"User {user_id} not found")


def _reservation(world: World, reservation_id: Any) -> Record:
    refusal = f"Reservation {reservation_id} not found"
    return own_record(world["reservations"], reservation_id, refusal)


def _unused_reservation_id(world: World) -> str:
    for reservation_id in NEW_RESERVATION_IDS:
        if reservation_id not in world["reservations"]:
            return reservation_id
    raise Refused("Too many reservations")


def _kept_flight(reservation: Record, flight: Any, cabin: Any) -> Record | None:
    # A flight that stays in the same cabin keeps its price.
    for booked in reservation["flights"]:
        if (
            booked["flight_number"] == flight.flight_number
            and booked["date"] == flight.date
            and cabin == reservation["cabin"]
        ):
            return booked
    return None


def _booked_flight(world: World, flight: Any, cabin: Any, passengers: Any) -> Record:
    number, date = flight.flight_number, flight.date
    scheduled = find_flight(world, number)
    day = flight_day(world, number, date)
    if day["status"] != "available":
        raise Refused(f"Flight {number} not available on date {date}")
    if day["available_seats"][cabin] < len(passengers):
        raise Refused(f"Not enough seats on flight {number}")
    return {
        "flight_number": number,
        "origin": scheduled["origin"],
        "destination": scheduled["destination"],
        "date": date,
        "price": day["prices"][cabin],
    }


def _check_payments(user: Record, payments: list[Payment], total: Any) -> None:
    methods = user["payment_methods"]
    for payment in payments:
        if payment.payment_id not in methods:
            raise Refused(f"Payment method {payment.payment_id} not found")
        method = methods[payment.payment_id]
        if method["source"] in ("gift_card", "certificate") and method["amount"] < payment.amount:
            raise Refused(f"Not enough balance in payment method {payment.payment_id}")
    paid = sum(payment.amount for payment in payments)
    if paid != total:
        raise Refused(f"Payment amount does not add up, total price is {total}, but paid {paid}")


def _pay(user: Record, payments: list[Payment]) -> None:
    # A certificate is used up as a whole. If it is named twice, the booking fails at the second
    # payment and keeps the first.
    methods = user["payment_methods"]
    for payment in payments:
        method = methods[payment.payment_id]
        if method["source"] == "gift_card":
            method["amount"] -= payment.amount
        elif method["source"] == "certificate":
            del methods[payment.payment_id]


def _charge(user: Record, reservation: Record, payment_id: Any, price: Any) -> None:
    methods = user["payment_methods"]
    if payment_id not in methods:
        raise Refused("Payment method not found")
    method = methods[payment_id]
    if method["source"] == "certificate":
        raise Refused("Certificate cannot be used to update reservation")
    if method["source"] == "gift_card":
        if method["amount"] < price:
            raise Refused("Gift card balance is not enough")
        method["amount"] -= price
    if price != 0:
        # A price that is no whole number fails here, after a gift card has paid it.
        reservation["payment_history"].append(_payment(payment_id, price))


def _payment(payment_id: Any, amount: Any) -> Record:
    return Payment(payment_id=payment_id, amount=amount).model_dump()
