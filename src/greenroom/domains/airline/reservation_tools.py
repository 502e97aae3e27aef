"""The airline tools that change something.

They behave exactly as Tau Bench's: the order of the checks decides which error is shown, and the
steps before a failed one stay done. Seats are checked but not taken.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypedDict

from greenroom.domains.tools import Refused, Toolset, own_record
from greenroom.domains.world import Record, World

tools = Toolset()

NOW = "2024-05-15T15:00:00"
NEW_RESERVATION_IDS = ("HATHAT", "HATHAU", "HATHAV")
NEW_CERTIFICATE_IDS = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
INSURANCE_PRICE = 30
BAGGAGE_PRICE = 50

ReservationId = Annotated[str, "The reservation's six characters, for example 'K7Q2MD'."]
UserId = Annotated[str, "The traveller's id, for example 'maya_lindholm_4821'."]
PaymentId = Annotated[
    str,
    "One of the traveller's payment methods, for example 'credit_card_1234567', "
    "'gift_card_1234567' or 'certificate_1234567'.",
]
Cabin = Literal["basic_economy", "economy", "business"]


class Flight(TypedDict):
    """A flight on a day."""

    flight_number: Annotated[str, "The flight's number, for example 'HAT012'."]
    date: Annotated[str, "The day of departure as YYYY-MM-DD."]


class Passenger(TypedDict):
    """Somebody who flies."""

    first_name: Annotated[str, "The passenger's first name."]
    last_name: Annotated[str, "The passenger's last name."]
    dob: Annotated[str, "The passenger's date of birth as YYYY-MM-DD."]


class Payment(TypedDict):
    """A part of the price and what pays for it."""

    payment_id: PaymentId
    amount: Annotated[float, "How much of the price it pays."]


@tools.add(writes=True)
def book_reservation(
    world: World,
    user_id: UserId,
    origin: Annotated[str, "The airport where the journey begins, three letters."],
    destination: Annotated[str, "The airport where the journey leads, three letters."],
    flight_type: Literal["one_way", "round_trip"],
    cabin: Cabin,
    flights: Annotated[list[Flight], "Every flight of the journey, in order."],
    passengers: Annotated[list[Passenger], "Everybody who flies."],
    payment_methods: Annotated[list[Payment], "What pays for it; the amounts make up the price."],
    total_baggages: Annotated[int, "How many bags are checked in."],
    nonfree_baggages: Annotated[int, "How many of them have to be paid for."],
    insurance: Literal["yes", "no"],
) -> str:
    """Book a journey for a traveller, once they have confirmed every detail."""
    reservations, users = world["reservations"], world["users"]
    if user_id not in users:
        raise Refused("user not found")
    unused = (new_id for new_id in NEW_RESERVATION_IDS if new_id not in reservations)
    reservation_id = next(unused, NEW_RESERVATION_IDS[-1])

    total = 0
    for flight in flights:
        fare = _fare(world, flight, cabin, passengers)
        flight.update(fare)  # pyright: ignore[reportCallIssue, reportArgumentType]
        total += fare["price"] * len(passengers)
    if insurance == "yes":
        total += INSURANCE_PRICE * len(passengers)
    total += BAGGAGE_PRICE * nonfree_baggages

    _check_booking(users.read(user_id), payment_methods, total)
    user = users[user_id]
    _pay(user, payment_methods)
    reservation: Record = {
        "reservation_id": reservation_id,
        "user_id": user_id,
        "origin": origin,
        "destination": destination,
        "flight_type": flight_type,
        "cabin": cabin,
        "flights": flights,
        "passengers": passengers,
        "payment_history": payment_methods,
        "created_at": NOW,
        "total_baggages": total_baggages,
        "nonfree_baggages": nonfree_baggages,
        "insurance": insurance,
    }
    reservations[reservation_id] = reservation
    user["reservations"].append(reservation_id)
    return json.dumps(reservation)


@tools.add(writes=True)
def cancel_reservation(world: World, reservation_id: ReservationId) -> str:
    """Cancel a whole reservation and reverse its payments, once the traveller confirms."""
    reservation = _reservation(world, reservation_id)
    history = reservation["payment_history"]
    history.extend([_payment(paid["payment_id"], -paid["amount"]) for paid in history])
    reservation["status"] = "cancelled"
    return json.dumps(reservation)


@tools.add(writes=True)
def update_reservation_baggages(
    world: World,
    reservation_id: ReservationId,
    total_baggages: Annotated[int, "How many bags are checked in from now on."],
    nonfree_baggages: Annotated[int, "How many of them have to be paid for."],
    payment_id: PaymentId,
) -> str:
    """Change the checked bags of a reservation, once the traveller confirms."""
    reservation = _reservation(world, reservation_id)
    price = BAGGAGE_PRICE * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    _check_payment(world, reservation, payment_id, price)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    _charge(world, reservation, payment_id, price)
    return json.dumps(reservation)


@tools.add(writes=True)
def update_reservation_flights(
    world: World,
    reservation_id: ReservationId,
    cabin: Cabin,
    flights: Annotated[
        list[Flight], "Every flight of the changed journey, those that stay the same included."
    ],
    payment_id: PaymentId,
) -> str:
    """Change the flights or the cabin of a reservation, once the traveller confirms.

    The difference in price is charged or refunded. The rules of the policy are not checked here.
    """
    reservation = _reservation(world, reservation_id)
    passengers = reservation["passengers"]
    price = 0
    for flight in flights:
        fare = _fare_paid(reservation, flight, cabin) or _fare(world, flight, cabin, passengers)
        price += fare["price"] * len(passengers)
        flight.update(fare)  # pyright: ignore[reportCallIssue, reportArgumentType]
    price -= sum(flight["price"] for flight in reservation["flights"]) * len(passengers)
    _check_payment(world, reservation, payment_id, price)
    # Tau Bench charges for the new cabin and leaves the booked one in the record.
    reservation["flights"] = flights
    _charge(world, reservation, payment_id, price)
    return json.dumps(reservation)


@tools.add(writes=True)
def update_reservation_passengers(
    world: World,
    reservation_id: ReservationId,
    passengers: Annotated[list[Passenger], "Everybody who flies; as many as before."],
) -> str:
    """Replace the passengers of a reservation, once the traveller confirms."""
    reservation = _reservation(world, reservation_id)
    if len(passengers) != len(reservation["passengers"]):
        raise Refused("number of passengers does not match")
    reservation["passengers"] = passengers
    return json.dumps(reservation)


@tools.add(writes=True)
def send_certificate(
    world: World, user_id: UserId, amount: Annotated[float, "What the certificate is worth."]
) -> str:
    """Send a traveller a certificate. It is money: be sure that the policy grants it."""
    methods = own_record(world["users"], user_id, "user not found")["payment_methods"]
    for payment_id in NEW_CERTIFICATE_IDS:
        if payment_id not in methods:
            methods[payment_id] = {"source": "certificate", "amount": amount, "id": payment_id}
            return f"Certificate {payment_id} added to user {user_id} with amount {amount}."
    # Tau Bench returns None for a fourth certificate, which breaks the episode there.
    raise Refused(f"user {user_id} cannot get another certificate")


def _reservation(world: World, reservation_id: Any) -> Record:
    return own_record(world["reservations"], reservation_id, "reservation not found")


def _check_booking(user: Record, payments: Any, total: Any) -> None:
    methods = user["payment_methods"]
    for payment in payments:
        payment_id, amount = payment["payment_id"], payment["amount"]
        if payment_id not in methods:
            raise Refused(f"payment method {payment_id} not found")
        method = methods[payment_id]
        if method["source"] in ("gift_card", "certificate") and method["amount"] < amount:
            raise Refused(f"not enough balance in payment method {payment_id}")
    paid = sum(payment["amount"] for payment in payments)
    if paid != total:
        raise Refused(f"payment amount does not add up, total price is {total}, but paid {paid}")


def _pay(user: Record, payments: Any) -> None:
    # A certificate is used up as a whole. If it is named twice, the booking fails at the second
    # payment and keeps the first.
    methods = user["payment_methods"]
    for payment in payments:
        payment_id = payment["payment_id"]
        if methods[payment_id]["source"] == "gift_card":
            methods[payment_id]["amount"] -= payment["amount"]
        elif methods[payment_id]["source"] == "certificate":
            del methods[payment_id]


def _fare(world: World, flight: Any, cabin: Any, passengers: Any) -> Record:
    number, timetable = flight["flight_number"], world["flights"]
    if number not in timetable:
        raise Refused(f"flight {number} not found")
    scheduled = timetable.read(number)
    if flight["date"] not in scheduled["dates"]:
        raise Refused(f"flight {number} not found on date {flight['date']}")
    day = scheduled["dates"][flight["date"]]
    if day["status"] != "available":
        raise Refused(f"flight {number} not available on date {flight['date']}")
    if day["available_seats"][cabin] < len(passengers):
        raise Refused(f"not enough seats on flight {number}")
    return {
        "price": day["prices"][cabin],
        "origin": scheduled["origin"],
        "destination": scheduled["destination"],
    }


def _fare_paid(reservation: Record, flight: Any, cabin: Any) -> Record | None:
    # A flight that stays in the same cabin keeps its price.
    kept = [
        booked
        for booked in reservation["flights"]
        if booked["flight_number"] == flight["flight_number"]
        and booked["date"] == flight["date"]
        and cabin == reservation["cabin"]
    ]
    return {key: kept[0][key] for key in ("price", "origin", "destination")} if kept else None


def _check_payment(world: World, reservation: Record, payment_id: Any, price: Any) -> None:
    methods = world["users"].read(reservation["user_id"])["payment_methods"]
    if payment_id not in methods:
        raise Refused("payment method not found")
    method = methods[payment_id]
    if method["source"] == "certificate":
        raise Refused("certificate cannot be used to update reservation")
    if method["source"] == "gift_card" and method["amount"] < price:
        raise Refused("gift card balance is not enough")


def _charge(world: World, reservation: Record, payment_id: str, price: Any) -> None:
    users, user_id = world["users"], reservation["user_id"]
    if users.read(user_id)["payment_methods"][payment_id]["source"] == "gift_card":
        users[user_id]["payment_methods"][payment_id]["amount"] -= price
    if price != 0:
        reservation["payment_history"].append(_payment(payment_id, price))


def _payment(payment_id: str, amount: Any) -> Record:
    return {"payment_id": payment_id, "amount": amount}
