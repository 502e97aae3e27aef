"""tau2's airline tools on a network of four flights. Recorded traces cover upstream's answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from greenroom.domains.tau2.airline import tools
from greenroom.domains.tau2.airline_records import FlightDB
from greenroom.domains.tau2.hashing import hash_world
from greenroom.domains.tau2.records import read_database
from greenroom.domains.world import Base, World

ANN = {"first_name": "Ann", "last_name": "Lee", "dob": "1990-01-01"}


def flight(number: str, origin: str, destination: str, leaves: str, lands: str) -> dict[str, Any]:
    days = {
        f"2024-05-{day:02}": {
            "status": "available",
            "available_seats": {"business": day, "economy": 2, "basic_economy": 0},
            "prices": {"business": 300, "economy": 100 + day, "basic_economy": 50},
        }
        for day in (9, 20, 21)
    }
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": leaves,
        "scheduled_arrival_time_est": lands,
        "dates": days | {"2024-05-22": {"status": "cancelled"}},
    }


@pytest.fixture
def world() -> World:
    flights = [
        flight("F1", "BOS", "ORD", "08:00:00", "10:00:00"),
        flight("F2", "ORD", "DEN", "11:00:00", "12:00:00"),
        flight("F3", "BOS", "DEN", "22:00:00", "01:00:00+1"),
        flight("F4", "DEN", "SEA", "03:00:00", "05:00:00"),
    ]
    booked = {"flight_number": "F1", "date": "2024-05-20", "price": 90}
    raw: dict[str, Any] = {
        "flights": {row["flight_number"]: row for row in flights},
        "users": {
            "ann": {
                "user_id": "ann",
                "name": {"first_name": "Ann", "last_name": "Lee"},
                "address": {"address1": "", "city": "", "country": "", "state": "", "zip": ""},
                "email": "",
                "dob": "",
                "membership": "gold",
                "saved_passengers": [],
                "payment_methods": {
                    "gift": {"source": "gift_card", "amount": 150, "id": "gift"},
                    "paper": {"source": "certificate", "amount": 100, "id": "paper"},
                    "card": {"source": "credit_card", "id": "card", "brand": "", "last_four": ""},
                },
                "reservations": ["R1"],
            }
        },
        "reservations": {
            "R1": {
                "reservation_id": "R1",
                "user_id": "ann",
                "origin": "BOS",
                "destination": "ORD",
                "flight_type": "one_way",
                "cabin": "economy",
                "flights": [booked | {"origin": "BOS", "destination": "ORD"}],
                "passengers": [ANN],
                "payment_history": [{"payment_id": "card", "amount": 90}],
                "created_at": "2024-05-01T00:00:00",
                "total_baggages": 0,
                "nonfree_baggages": 0,
                "insurance": "no",
            }
        },
    }
    return World(Base(read_database(FlightDB, raw)))


def call(world: World, name: str, **arguments: Any) -> Any:
    text = tools[name].call(world, arguments).observation
    return json.loads(text) if text[:1] in "[{" else text


def book(world: World, **changes: Any) -> Any:
    arguments: dict[str, Any] = {
        "user_id": "ann",
        "origin": "BOS",
        "destination": "ORD",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": "F1", "date": "2024-05-20"}],
        "passengers": [ANN],
        "payment_methods": [{"payment_id": "card", "amount": 120}],
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    return call(world, "book_reservation", **arguments | changes)


def update_flights(world: World, **changes: Any) -> Any:
    flights = [{"flight_number": "F1", "date": "2024-05-20"}]
    arguments = {"reservation_id": "R1", "cabin": "economy", "payment_id": "card"}
    return call(world, "update_reservation_flights", **{"flights": flights} | arguments | changes)


def direct(world: World) -> list[dict[str, Any]]:
    asked = {"origin": "BOS", "destination": "ORD", "date": "2024-05-20"}
    return call(world, "search_direct_flight", **asked)


def methods(world: World) -> dict[str, Any]:
    return world["users"].read("ann")["payment_methods"]


def test_a_booking_takes_seats_in_this_world_alone(world: World) -> None:
    other = World(world.base)
    assert direct(world)[0]["available_seats"]["economy"] == 2
    booked = book(
        world, total_baggages="1", flights=[{"flight_number": "F1", "date": "2024-05-20"}]
    )
    assert booked["reservation_id"] == "HATHAT"
    assert booked["total_baggages"] == 1
    assert booked["status"] is None
    assert direct(world)[0]["available_seats"]["economy"] == 1
    assert direct(other)[0]["available_seats"]["economy"] == 2
    assert direct(World(world.base))[0]["available_seats"]["economy"] == 2
    assert book(world)["reservation_id"] == "HATHAU"
    assert book(world) == "Error: Not enough seats on flight F1"


def test_three_bookings_are_the_limit(world: World) -> None:
    later = [{"flight_number": "F1", "date": "2024-05-21"}]
    amounts = [{"payment_id": "card", "amount": 300}]
    for _ in range(3):
        book(world, flights=later, cabin="business", payment_methods=amounts)
    assert book(world) == "Error: Too many reservations"


def test_a_certificate_named_twice_pays_once_and_breaks_the_booking(world: World) -> None:
    twice = [{"payment_id": "gift", "amount": 20}, {"payment_id": "paper", "amount": 50}]
    assert book(world, payment_methods=[*twice, twice[1]]) == "Error: 'paper'"
    assert methods(world)["gift"]["amount"] == 130.0
    assert "paper" not in methods(world)
    assert "HATHAT" not in world["reservations"]


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"payment_methods": [{"payment_id": "x", "amount": 1}]}, "Payment method x not found"),
        (
            {"payment_methods": [{"payment_id": "paper", "amount": 101}]},
            "Not enough balance in payment method paper",
        ),
        (
            {"insurance": "yes", "nonfree_baggages": 1.0},
            "Payment amount does not add up, total price is 200.0, but paid 120",
        ),
        ({"nonfree_baggages": "1"}, "unsupported operand type(s) for +=: 'int' and 'str'"),
        ({"flights": "F1"}, "'str' object has no attribute 'flight_number'"),
        (
            {"flights": [{"flight_number": "F1", "date": "2024-05-22"}]},
            "Flight F1 not available on date 2024-05-22",
        ),
        (
            {"flights": [{"flight_number": "F1", "date": "2024-06-22"}]},
            "Flight F1 not found on date 2024-06-22",
        ),
        ({"user_id": "bob", "flights": None}, "'NoneType' object is not iterable"),
        ({"user_id": "bob", "cabin": "first"}, "User bob not found"),
    ],
)
def test_a_refused_booking_changes_nothing(
    world: World, changes: dict[str, Any], answer: str
) -> None:
    before = hash_world(world)
    assert book(world, **changes) == f"Error: {answer}"
    assert hash_world(world) == before


def test_values_that_pydantic_refuses_are_answered_in_its_words(world: World) -> None:
    assert book(world, cabin="first").startswith("Error: 1 validation error for Reservation\ncabin")
    nameless = [{"first_name": "Ann"}]
    assert book(world, passengers=nameless).startswith("Error: 2 validation errors for Passenger")


def test_a_kept_flight_keeps_its_price_and_a_new_cabin_is_stored(world: World) -> None:
    assert update_flights(world)["flights"][0]["price"] == 90
    dearer = update_flights(world, cabin="business")
    assert dearer["cabin"] == "business"
    assert dearer["flights"][0]["price"] == 300
    assert dearer["payment_history"][-1] == {"payment_id": "card", "amount": 210}
    assert direct(world)[0]["available_seats"]["business"] == 20


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"payment_id": "paper"}, "Certificate cannot be used to update reservation"),
        ({"payment_id": "gift", "cabin": "business"}, "Gift card balance is not enough"),
        ({"payment_id": None}, "Payment method not found"),
        ({"cabin": "basic_economy"}, "Not enough seats on flight F1"),
        ({"cabin": 7}, "7"),
        ({"reservation_id": "r1"}, "Reservation r1 not found"),
        ({"flights": [{"flight_number": "F9", "date": "x"}]}, "Flight F9 not found"),
    ],
)
def test_a_refused_change_changes_nothing(
    world: World, changes: dict[str, Any], answer: str
) -> None:
    before = hash_world(world)
    assert update_flights(world, **changes) == f"Error: {answer}"
    assert hash_world(world) == before


def test_bags_are_stored_as_given_and_a_broken_price_is_paid_first(world: World) -> None:
    bags = {"reservation_id": "R1", "payment_id": "gift"}
    update = tools["update_reservation_baggages"]
    result = update.call(world, bags | {"total_baggages": "2", "nonfree_baggages": 1}).observation
    assert json.loads(result)["total_baggages"] == "2"
    assert methods(world)["gift"]["amount"] == 100.0
    result = update.call(world, bags | {"total_baggages": 2, "nonfree_baggages": 1.01}).observation
    assert result.startswith("Error: 1 validation error for Payment\namount")
    assert methods(world)["gift"]["amount"] == 99.5
    assert world["reservations"].read("R1")["nonfree_baggages"] == 1


def test_passengers_are_stored_as_they_come_when_they_are_no_objects(world: World) -> None:
    change = tools["update_reservation_passengers"]
    first = change.call(world, {"reservation_id": "R1", "passengers": [ANN | {"extra": 1}]})
    assert json.loads(first.observation)["passengers"] == [ANN]
    second = change.call(world, {"reservation_id": "R1", "passengers": ["Ann"]})
    assert json.loads(second.observation)["passengers"] == ["Ann"]
    third = change.call(world, {"reservation_id": "R1", "passengers": []})
    assert third.observation == "Error: Number of passengers does not match"


def test_certificates_are_floats_and_three_are_the_limit(world: World) -> None:
    send = tools["send_certificate"]
    for _ in range(3):
        answer = send.call(world, {"user_id": "ann", "amount": "50"}).observation
        assert answer.endswith("added to user ann with amount 50.")
    assert send.call(world, {"user_id": "ann", "amount": 1}).observation == (
        "Error: Too many certificates"
    )
    assert list(methods(world).items())[-1] == (
        "certificate_3221324",
        {"source": "certificate", "id": "certificate_3221324", "amount": 50.0},
    )


def test_a_connection_over_midnight_is_looked_up_on_the_next_day(world: World) -> None:
    def connections(date: str) -> list[list[tuple[str, str]]]:
        asked = {"origin": "BOS", "destination": "SEA", "date": date}
        found = call(world, "search_onestop_flight", **asked)
        return [[(leg["flight_number"], leg["date"]) for leg in pair] for pair in found]

    # Times compare as texts.
    assert connections("2024-05-20") == [[("F3", "2024-05-20"), ("F4", "2024-05-21")]]
    assert connections("2024-05-21") == []
    assert connections("2024-05-09") == []  # the next day is written 2024-05-10


def test_none_stands_for_any_airport(world: World) -> None:
    found = call(world, "search_direct_flight", origin=None, destination="DEN", date="2024-05-20")
    assert [leg["flight_number"] for leg in found] == ["F2", "F3"]
    assert list(found[0])[3:] == [
        "status",
        "scheduled_departure_time_est",
        "scheduled_arrival_time_est",
        "date",
        "available_seats",
        "prices",
    ]
    assert found[0]["date"] is None
    nowhere = call(world, "search_direct_flight", origin=7, destination="DEN", date=["x"])
    assert nowhere == []


def test_the_second_leg_shows_its_own_day(world: World) -> None:
    book(world, flights=[{"flight_number": "F1", "date": "2024-05-21"}], payment_methods=[
        {"payment_id": "card", "amount": 121}
    ])  # fmt: skip
    asked = {"origin": "BOS", "destination": "SEA", "date": "2024-05-20"}
    second = call(world, "search_onestop_flight", **asked)[0][1]
    assert second["prices"]["economy"] == 121


def test_cancelling_reverses_every_payment_each_time(world: World) -> None:
    call(world, "cancel_reservation", reservation_id="R1")
    again = call(world, "cancel_reservation", reservation_id="R1")
    assert [row["amount"] for row in again["payment_history"]] == [90, -90, -90, 90]
    assert again["status"] == "cancelled"
