"""The airline tools on a network of three flights. The recorded traces cover upstream's answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from greenroom.domains.airline import tools
from greenroom.domains.world import Base, World


def flight(number: str, origin: str, destination: str, leaves: str, lands: str) -> dict[str, Any]:
    day = {
        "status": "available",
        "available_seats": {"basic_economy": 0, "economy": 2, "business": 9},
        "prices": {"basic_economy": 50, "economy": 100, "business": 300},
    }
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": leaves,
        "scheduled_arrival_time_est": lands,
        "dates": {"2024-05-20": day, "2024-05-21": day, "2024-05-22": {"status": "delayed"}},
    }


@pytest.fixture
def world() -> World:
    flights = [
        flight("F1", "BOS", "ORD", "08:00:00", "10:00:00"),
        flight("F2", "ORD", "DEN", "11:00:00", "12:00:00"),
        flight("F3", "BOS", "DEN", "22:00:00", "01:00:00+1"),
        flight("F4", "DEN", "SEA", "03:00:00", "05:00:00"),
    ]
    return World(
        Base(
            {
                "flights": {row["flight_number"]: row for row in flights},
                "users": {
                    "ann": {
                        "payment_methods": {
                            "gift_card_1": {"source": "gift_card", "amount": 150, "id": "g"},
                            "certificate_1": {"source": "certificate", "amount": 100, "id": "c"},
                            "credit_card_1": {"source": "credit_card", "id": "k"},
                        },
                        "reservations": ["R1"],
                    }
                },
                "reservations": {
                    "R1": {
                        "reservation_id": "R1",
                        "user_id": "ann",
                        "cabin": "economy",
                        "flights": [
                            {
                                "flight_number": "F1",
                                "date": "2024-05-20",
                                "price": 80,
                                "origin": "BOS",
                                "destination": "ORD",
                            }
                        ],
                        "passengers": [{"first_name": "Ann"}],
                        "payment_history": [{"payment_id": "credit_card_1", "amount": 80}],
                        "total_baggages": 0,
                        "nonfree_baggages": 0,
                    }
                },
            }
        )
    )


def call(world: World, name: str, **arguments: Any) -> Any:
    observation = tools[name].call(world, arguments).observation
    return json.loads(observation) if observation[:1] in "{[" else observation


def book(world: World, **changes: Any) -> Any:
    arguments: dict[str, Any] = {
        "user_id": "ann",
        "origin": "BOS",
        "destination": "ORD",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": "F1", "date": "2024-05-20"}],
        "passengers": [{"first_name": "Ann", "last_name": "Lee", "dob": "1990-01-01"}],
        "payment_methods": [{"payment_id": "credit_card_1", "amount": 100}],
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    return call(world, "book_reservation", **(arguments | changes))


def methods(world: World) -> dict[str, Any]:
    return world["users"].read("ann")["payment_methods"]


def test_direct_flights(world: World) -> None:
    route = {"origin": "BOS", "destination": "ORD"}
    found = call(world, "search_direct_flight", **route, date="2024-05-20")
    assert [row["flight_number"] for row in found] == ["F1"]
    assert "dates" not in found[0]
    assert call(world, "search_direct_flight", **route, date="2024-05-22") == []
    assert call(world, "search_direct_flight", origin=[], destination={}, date=None) == []
    assert call(world, "search_direct_flight", **route, date=[]) == "Error: unhashable type: 'list'"


def test_connections_with_a_stop(world: World) -> None:
    found = call(world, "search_onestop_flight", origin="BOS", destination="DEN", date="2024-05-20")
    assert [[leg["flight_number"] for leg in trip] for trip in found] == [["F1", "F2"]]
    assert found[0][1]["date"] == "2024-05-20"


def test_a_connection_after_midnight_leaves_the_next_day(world: World) -> None:
    route = {"origin": "BOS", "destination": "SEA"}
    found = call(world, "search_onestop_flight", **route, date="2024-05-20")
    assert [leg["date"] for leg in found[0]] == ["2024-05-20", "2024-05-21"]
    assert call(world, "search_onestop_flight", **route, date="tomorrow") == (
        "Error: invalid literal for int() with base 10: 'ow'"
    )
    assert call(world, "search_onestop_flight", **route, date=5) == (
        "Error: 'int' object is not subscriptable"
    )


def test_booking(world: World) -> None:
    first = book(world)
    assert first["reservation_id"] == "HATHAT"
    assert first["flights"][0]["price"] == 100
    ids = [book(world)["reservation_id"] for _ in range(3)]
    assert ids == ["HATHAU", "HATHAV", "HATHAV"]
    assert world["users"]["ann"]["reservations"][-1] == "HATHAV"


@pytest.mark.parametrize(
    ("changes", "observation"),
    [
        ({"user_id": "bob"}, "Error: user not found"),
        ({"flights": [{"flight_number": "F9", "date": "x"}]}, "Error: flight F9 not found"),
        (
            {"flights": [{"flight_number": "F1", "date": "2024-05-29"}]},
            "Error: flight F1 not found on date 2024-05-29",
        ),
        (
            {"flights": [{"flight_number": "F1", "date": "2024-05-22"}]},
            "Error: flight F1 not available on date 2024-05-22",
        ),
        ({"cabin": "basic_economy"}, "Error: not enough seats on flight F1"),
        ({"cabin": "first"}, "Error: 'first'"),
        ({"insurance": "yes"}, "Error: payment amount does not add up, total price is 130, but"),
        ({"nonfree_baggages": "1"}, "Error: unsupported operand type(s) for +=: 'int' and 'str'"),
        ({"passengers": 3}, "Error: object of type 'int' has no len()"),
        ({"flights": [{"date": "x"}]}, "Error: 'flight_number'"),
        (
            {"payment_methods": [{"payment_id": "gift_card_1", "amount": 200}]},
            "Error: not enough balance in payment method gift_card_1",
        ),
        (
            {"payment_methods": [{"payment_id": "cash", "amount": 200}]},
            "Error: payment method cash not found",
        ),
    ],
)
def test_bookings_that_are_refused(world: World, changes: dict[str, Any], observation: str) -> None:
    assert str(book(world, **changes)).startswith(observation)
    assert world.changes() == {}


def test_gift_cards_are_charged_and_certificates_used_up(world: World) -> None:
    book(
        world,
        cabin="business",
        payment_methods=[
            {"payment_id": "gift_card_1", "amount": 150},
            {"payment_id": "certificate_1", "amount": 50},
            {"payment_id": "credit_card_1", "amount": 100},
        ],
    )
    assert methods(world)["gift_card_1"]["amount"] == 0
    assert "certificate_1" not in methods(world)


def test_a_certificate_used_twice_breaks_the_booking_off_half_done(world: World) -> None:
    twice = [{"payment_id": "certificate_1", "amount": 50}] * 2
    assert book(world, payment_methods=twice) == "Error: 'certificate_1'"
    assert "certificate_1" not in methods(world)
    assert "HATHAT" not in world["reservations"]


def test_cancelling_reverses_the_payments(world: World) -> None:
    reservation = call(world, "cancel_reservation", reservation_id="R1")
    assert reservation["status"] == "cancelled"
    assert [paid["amount"] for paid in reservation["payment_history"]] == [80, -80]


def test_changing_flights_charges_the_difference_and_keeps_the_cabin(world: World) -> None:
    def change(flights: Any, cabin: str, payment: str) -> Any:
        return call(
            world,
            "update_reservation_flights",
            reservation_id="R1",
            cabin=cabin,
            flights=flights,
            payment_id=payment,
        )

    kept = {"flight_number": "F1", "date": "2024-05-20"}
    new = {"flight_number": "F2", "date": "2024-05-20"}
    assert change([kept], "economy", "certificate_1").startswith("Error: certificate cannot")
    assert change([kept, new], "business", "gift_card_1").startswith("Error: gift card balance")
    reservation = change([kept, new], "economy", "gift_card_1")
    assert [leg["price"] for leg in reservation["flights"]] == [80, 100]
    assert methods(world)["gift_card_1"]["amount"] == 50
    assert reservation["cabin"] == "economy"
    assert change([kept], "business", "credit_card_1")["cabin"] == "economy"


def test_bags_and_passengers(world: World) -> None:
    def bags(count: Any, payment: str = "gift_card_1") -> Any:
        return call(
            world,
            "update_reservation_baggages",
            reservation_id="R1",
            total_baggages=2,
            nonfree_baggages=count,
            payment_id=payment,
        )

    assert bags(9) == "Error: gift card balance is not enough"
    assert bags(1)["payment_history"][-1] == {"payment_id": "gift_card_1", "amount": 50}
    assert methods(world)["gift_card_1"]["amount"] == 100
    assert bags("1") == "Error: unsupported operand type(s) for -: 'str' and 'int'"
    assert call(
        world, "update_reservation_passengers", reservation_id="R1", passengers=[{}, {}]
    ) == ("Error: number of passengers does not match")


def test_certificates_run_out(world: World) -> None:
    sent = [call(world, "send_certificate", user_id="ann", amount=50) for _ in range(4)]
    assert sent[0] == "Certificate certificate_3221322 added to user ann with amount 50."
    assert sent[2].startswith("Certificate certificate_3221324")
    assert sent[3] == "Error: user ann cannot get another certificate"
    assert len(methods(world)) == 6


def test_a_missing_reservation_is_a_missing_user_when_looked_up(world: World) -> None:
    assert call(world, "get_reservation_details", reservation_id="R9") == "Error: user not found"
    assert call(world, "cancel_reservation", reservation_id="R9") == "Error: reservation not found"
    assert call(world, "list_all_airports")["LGA"] == "LaGuardia"
