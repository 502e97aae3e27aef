"""Ground truths that break a rule of the policy are found, and others are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.policy_checks import breaches
from greenroom.domains.tasks import Action, Task
from greenroom.domains.world import Record
from tests.conftest import TAU2_DATA
from tests.domains.small import small_domain


@pytest.fixture(scope="module")
def airline() -> Domain:
    return load_domain("airline")


@pytest.fixture(scope="module")
def shop() -> Domain:
    return load_domain("retail")


def said(domain: Domain, *actions: Action) -> list[str]:
    return [one.sentence for one in breaches(domain, Task("Go.", actions))]


def first(domain: Domain, table: str, fits: Callable[[Record], bool]) -> Record:
    """The first record of a table that fits."""
    base = domain.pack.base
    return next(one for key in base.ids(table) if fits(one := base.record(table, key)))


def status(domain: Domain, flight: Record) -> str:
    return domain.pack.base.record("flights", flight["flight_number"])["dates"][flight["date"]][
        "status"
    ]


def is_ahead(domain: Domain, reservation: Record) -> bool:
    return all(status(domain, one) == "available" for one in reservation["flights"])


def is_old(reservation: Record) -> bool:
    return reservation["created_at"] < "2024-05-14"


def is_refundable(reservation: Record) -> bool:
    return reservation["insurance"] == "yes" or reservation["cabin"] == "business"


def cancel(reservation: Record) -> Action:
    return Action("cancel_reservation", {"reservation_id": reservation["reservation_id"]})


def test_what_comes_after_the_end_is_found_in_any_domain() -> None:
    end = Action("transfer_to_human_agents", {"summary": "s"})
    lit = Action("light", {"lamp": "hall"})
    assert said(small_domain(), lit, end) == []
    assert said(small_domain(), end, lit) == [
        "comes after transfer_to_human_agents, which ends the conversation: nobody can do it"
    ]


def test_cancelling_needs_a_reason_that_the_policy_has(airline: Domain) -> None:
    def is_bound(one: Record) -> bool:
        return is_ahead(airline, one) and is_old(one) and not is_refundable(one)

    def is_insured(one: Record) -> bool:
        return is_ahead(airline, one) and is_old(one) and is_refundable(one)

    bound = first(airline, "reservations", is_bound)
    (sentence,) = said(airline, cancel(bound))
    assert sentence.startswith(f"cancels {bound['reservation_id']}, which is ")
    assert said(airline, cancel(first(airline, "reservations", is_insured))) == []
    fresh = first(airline, "reservations", lambda one: one["created_at"] > "2024-05-14T16")
    if is_ahead(airline, fresh):
        assert said(airline, cancel(fresh)) == []


def test_basic_economy_keeps_its_flights_and_others_their_ends(airline: Domain) -> None:
    def change(one: Record, flights: list[Any], cabin: str | None = None) -> Action:
        return Action(
            "update_reservation_flights",
            {
                "reservation_id": one["reservation_id"],
                "cabin": cabin or one["cabin"],
                "flights": [
                    {"flight_number": f["flight_number"], "date": f["date"]} for f in flights
                ],
                "payment_id": one["payment_history"][0]["payment_id"],
            },
        )

    basic = first(
        airline, "reservations", lambda one: one["cabin"] == "basic_economy" and one["flights"]
    )
    later = [{**flight, "date": "2024-05-31"} for flight in basic["flights"]]
    (sentence,) = said(airline, change(basic, later))
    assert "which is basic economy" in sentence
    assert said(airline, change(basic, basic["flights"], "economy")) == []  # the cabin alone
    one_way = first(
        airline,
        "reservations",
        lambda one: one["cabin"] == "economy" and one["flight_type"] == "one_way",
    )
    elsewhere = first(
        airline,
        "flights",
        lambda one: (
            one["destination"] != one_way["destination"] and one["origin"] == one_way["origin"]
        ),
    )
    flown = [{"flight_number": elsewhere["flight_number"], "date": "2024-05-20"}]
    (sentence,) = said(airline, change(one_way, flown))
    assert sentence.startswith(f"changes a journey from {one_way['origin']} to ")


def test_bags_are_added_and_paid_for_by_the_allowance(airline: Domain) -> None:
    reservation = first(
        airline,
        "reservations",
        lambda one: one["cabin"] == "economy" and one["total_baggages"] > 0,
    )
    user = airline.pack.base.record("users", reservation["user_id"])
    free = {"regular": 1, "silver": 2, "gold": 3}[user["membership"]]
    allowed = free * len(reservation["passengers"])

    def bags(total: int, paid: int) -> Action:
        return Action(
            "update_reservation_baggages",
            {
                "reservation_id": reservation["reservation_id"],
                "total_baggages": total,
                "nonfree_baggages": paid,
                "payment_id": reservation["payment_history"][0]["payment_id"],
            },
        )

    most = max(allowed, reservation["total_baggages"]) + 1
    assert said(airline, bags(most, most - allowed)) == []
    (sentence,) = said(airline, bags(most, most - allowed + 1))
    assert f"it should be {most - allowed}" in sentence
    fewer = reservation["total_baggages"] - 1
    assert said(airline, bags(fewer, max(0, fewer - allowed))) == [
        f"takes the checked bags down from {fewer + 1} to {fewer}"
    ]


def test_each_airlines_policy_says_how_many_bags_are_free(airline: Domain) -> None:
    reservation = first(
        airline,
        "reservations",
        lambda one: (
            one["cabin"] == "business"
            and airline.pack.base.record("users", one["user_id"])["membership"] == "gold"
        ),
    )
    number = len(reservation["passengers"])
    called = Action(
        "update_reservation_baggages",
        {
            "reservation_id": reservation["reservation_id"],
            "total_baggages": 5 * number,
            "nonfree_baggages": number,
            "payment_id": reservation["payment_history"][0]["payment_id"],
        },
    )
    assert "| gold | 2 | 3 | 4 |" in airline.pack.policy
    assert said(airline, called) == []

    def with_policy(text: str) -> list[str]:
        return said(Domain(airline.edition, replace(airline.pack, policy=text)), called)

    three = "a gold member, 2 free checked bag for each basic economy passenger, 3 free checked "
    three += "bag for each economy passenger, and 3 free checked bags for each business passenger"
    (sentence,) = with_policy(three)
    assert f"it should be {2 * number}" in sentence
    # What a policy does not tell cannot be broken.
    assert with_policy("Gold members are welcome.") == []


def test_certificates_are_for_members_the_insured_and_business(airline: Domain) -> None:
    base = airline.pack.base

    def journeys(user: Record) -> list[Record]:
        return [base.record("reservations", name) for name in user["reservations"]]

    def send(user_id: str, amount: int) -> Action:
        return Action("send_certificate", {"user_id": user_id, "amount": amount})

    def key_of(fits: Callable[[Record], bool]) -> str:
        return next(key for key in base.ids("users") if fits(base.record("users", key)))

    def is_plain(user: Record) -> bool:
        found = journeys(user)
        return user["membership"] == "regular" and not any(is_refundable(one) for one in found)

    plain = key_of(lambda user: is_plain(user) and bool(user["reservations"]))
    assert said(airline, send(plain, 100)) == [
        f"compensates {plain}, a regular member without insurance"
    ]
    gold = key_of(lambda user: user["membership"] == "gold" and bool(user["reservations"]))
    size = len(journeys(base.record("users", gold))[0]["passengers"])
    assert said(airline, send(gold, 100 * size)) == []
    assert "sends a certificate of 17" in said(airline, send(gold, 17))[0]


def test_bookings_have_at_most_five_passengers_and_one_certificate(airline: Domain) -> None:
    base = airline.pack.base
    user_id = next(
        key
        for key in base.ids("users")
        if sum(
            one["source"] == "certificate"
            for one in base.record("users", key)["payment_methods"].values()
        )
        > 1
    )
    methods = base.record("users", user_id)["payment_methods"].values()
    certificates = [one["id"] for one in methods if one["source"] == "certificate"]

    def book(passengers: int, payments: list[str]) -> Action:
        fields: dict[str, Any] = {
            "user_id": user_id,
            "cabin": "economy",
            "passengers": [{}] * passengers,
            "payment_methods": [{"payment_id": one, "amount": 1} for one in payments],
            "total_baggages": 0,
            "nonfree_baggages": 0,
        }
        return Action("book_reservation", fields)

    assert said(airline, book(2, certificates[:1])) == []
    assert said(airline, book(6, certificates[:1])) == [
        "books for 6 passengers, and at most 5 are allowed"
    ]
    assert said(airline, book(1, certificates[:2])) == [
        "pays by 2 of certificate, and at most 1 is allowed"
    ]


def test_a_shop_conversation_changes_one_customers_things(shop: Domain) -> None:
    orders = shop.pack.base
    one = first(shop, "orders", lambda order: order["status"] == "pending")
    other = first(
        shop,
        "orders",
        lambda order: order["status"] == "pending" and order["user_id"] != one["user_id"],
    )

    def cancelled(order: Record) -> Action:
        fields = {"order_id": order["order_id"], "reason": "no longer needed"}
        return Action("cancel_pending_order", fields)

    assert said(shop, cancelled(one)) == []
    (sentence,) = said(shop, cancelled(one), cancelled(other))
    assert sentence == (
        f"changes what belongs to {other['user_id']}, while the conversation is with "
        f"{one['user_id']}"
    )
    item = one["items"][0]["item_id"]
    swap = Action(
        "modify_pending_order_items",
        {"order_id": one["order_id"], "item_ids": [item], "new_item_ids": [item]},
    )
    assert said(shop, swap) == [f"replaces item {item} by itself"]
    assert orders.ids("orders")


def test_arguments_of_another_form_are_no_breach(airline: Domain, shop: Domain) -> None:
    odd: list[dict[str, Any]] = [{}, {"reservation_id": []}, {"reservation_id": "NOPE"}]
    for domain in (airline, shop):
        for name in domain.tools:
            for kwargs in odd:
                assert said(domain, Action(name, kwargs)) == []


@pytest.mark.official
def test_tau_benchs_tasks_break_rules_that_tau2s_keep(
    official_retail: Domain, official_airline: Domain
) -> None:
    def faulty(domain: Domain) -> list[int]:
        tasks = enumerate(domain.tasks("test"))
        return [index for index, task in tasks if any(breaches(domain, task))]

    # Read by hand: exchanges for the same item; cancellations of bound or flown journeys, another
    # airport, and bags that are free.
    assert faulty(official_retail) == [18, 91, 108]
    assert faulty(official_airline) == [10, 19, 23, 26, 27, 34]


@pytest.mark.tau2_data
@pytest.mark.parametrize("env", ["retail", "airline", "telecom"])
def test_tau2s_corrected_tasks_keep_the_rules(env: str) -> None:
    domain = load_domain(env, TAU2_DATA)
    assert [
        index for index, one in enumerate(domain.tasks("base")) if any(breaches(domain, one))
    ] == []


@pytest.mark.tau2_data
def test_a_carrier_keeps_its_limits() -> None:
    telecom = load_domain("telecom", TAU2_DATA)
    base = telecom.pack.base
    paid = first(telecom, "bills", lambda bill: bill["status"] == "Paid")
    line = first(telecom, "lines", lambda _: True)
    owner = first(telecom, "customers", lambda one: line["line_id"] in one["line_ids"])
    whose = {"customer_id": owner["customer_id"], "line_id": line["line_id"]}
    assert said(
        telecom,
        Action("send_payment_request", {"customer_id": "C1", "bill_id": paid["bill_id"]}),
        Action("refuel_data", {**whose, "gb_amount": 2.0}),
        Action("refuel_data", {**whose, "gb_amount": 2.5}),
    ) == [
        f"asks for the payment of {paid['bill_id']}, which is Paid and not overdue",
        "adds 2.5 GB, and at most 2 are allowed",
    ]
    ended = [
        (customer["customer_id"], one["line_id"])
        for customer in (base.record("customers", key) for key in base.ids("customers"))
        for one in (base.record("lines", key) for key in customer["line_ids"])
        if (one.get("contract_end_date") or "9999") < "2025-02-25"
    ]
    for customer_id, line_id in ended:
        resumed = Action("resume_line", {"customer_id": customer_id, "line_id": line_id})
        assert "whose contract ended on" in said(telecom, resumed)[0]
