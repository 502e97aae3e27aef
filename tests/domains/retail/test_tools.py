"""The retail tools on a shop of two orders. The recorded traces cover what upstream answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from greenroom.domains.retail import tools
from greenroom.domains.world import Base, World

ADDRESS = {
    "address1": "1 Elm St",
    "address2": "",
    "city": "Ames",
    "state": "IA",
    "country": "USA",
    "zip": "50010",
}


def order(order_id: str, status: str, method: str, items: list[str]) -> dict[str, Any]:
    return {
        "order_id": order_id,
        "user_id": "ann_lee_1",
        "address": dict(ADDRESS),
        "items": [
            {"name": "Mug", "product_id": "p1", "item_id": item, "price": 10.1, "options": {}}
            for item in items
        ],
        "fulfillments": [],
        "status": status,
        "payment_history": [
            {"transaction_type": "payment", "amount": 20.2, "payment_method_id": method}
        ],
    }


@pytest.fixture
def world() -> World:
    variants = {
        "i1": {"item_id": "i1", "options": {"size": "S"}, "available": True, "price": 10.1},
        "i2": {"item_id": "i2", "options": {"size": "L"}, "available": True, "price": 30.4},
        "i3": {"item_id": "i3", "options": {"size": "XL"}, "available": False, "price": 1.0},
    }
    return World(
        Base(
            {
                "users": {
                    "ann_lee_1": {
                        "name": {"first_name": "Ann", "last_name": "Lee"},
                        "address": dict(ADDRESS),
                        "email": "Ann.Lee@example.com",
                        "payment_methods": {
                            "gift_card_1": {"source": "gift_card", "balance": 25, "id": "g"},
                            "credit_card_1": {"source": "credit_card", "id": "c"},
                            "paypal_1": {"source": "paypal", "id": "p"},
                        },
                        "orders": ["#W1", "#W2", "#W3"],
                    }
                },
                "products": {"p1": {"name": "Mug", "product_id": "p1", "variants": variants}},
                "orders": {
                    "#W1": order("#W1", "pending", "gift_card_1", ["i1", "i1"]),
                    "#W2": order("#W2", "delivered", "credit_card_1", ["i1", "i2"]),
                    "#W3": order("#W3", "pending", "credit_card_1", ["i1", "i2"]),
                },
            }
        )
    )


def call(world: World, name: str, **arguments: Any) -> Any:
    observation = tools[name].call(world, arguments).observation
    return json.loads(observation) if observation.startswith("{") else observation


def balance(world: World) -> Any:
    return world["users"]["ann_lee_1"]["payment_methods"]["gift_card_1"]["balance"]


def test_customers_are_found(world: World) -> None:
    assert call(world, "find_user_id_by_email", email="ann.LEE@example.com") == "ann_lee_1"
    assert call(world, "find_user_id_by_email", email="x@y.z") == "Error: user not found"
    found = call(world, "find_user_id_by_name_zip", first_name="ann", last_name="LEE", zip="50010")
    assert found == "ann_lee_1"


def test_a_new_default_address_is_searched_by(world: World) -> None:
    call(world, "modify_user_address", user_id="ann_lee_1", **(ADDRESS | {"zip": "99"}))
    by_zip = [
        call(world, "find_user_id_by_name_zip", first_name="Ann", last_name="Lee", zip=code)
        for code in ("50010", "99")
    ]
    assert by_zip == ["Error: user not found", "ann_lee_1"]


def test_a_last_name_is_only_looked_at_behind_a_first_name_that_fits(world: World) -> None:
    def search(first: Any) -> Any:
        return call(world, "find_user_id_by_name_zip", first_name=first, last_name=5, zip="1")

    assert search("Bob") == "Error: user not found"
    assert search("Ann") == "Error: 'int' object has no attribute 'lower'"
    assert search(None) == "Error: 'NoneType' object has no attribute 'lower'"


def test_products_are_listed_by_name(world: World) -> None:
    assert call(world, "list_all_product_types") == {"Mug": "p1"}


def test_cancelling_refunds_a_gift_card_at_once(world: World) -> None:
    order = call(world, "cancel_pending_order", order_id="#W1", reason="no longer needed")
    assert (order["status"], order["cancel_reason"]) == ("cancelled", "no longer needed")
    assert order["payment_history"][1]["transaction_type"] == "refund"
    assert balance(world) == 45.2
    again = call(world, "cancel_pending_order", order_id="#W1", reason="no longer needed")
    assert again == "Error: non-pending order cannot be cancelled"


def test_items_of_a_pending_order_change_once(world: World) -> None:
    def change(new: list[str]) -> Any:
        return call(
            world,
            "modify_pending_order_items",
            order_id="#W1",
            item_ids=["i1"],
            new_item_ids=new,
            payment_method_id="gift_card_1",
        )

    assert change(["i3"]) == "Error: new item i3 not found or available"
    assert change(["i2", "i2"]) == "Error: the number of items to be exchanged should match"
    order = change(["i2"])
    assert [item["item_id"] for item in order["items"]] == ["i2", "i1"]
    assert order["items"][0]["options"] == {"size": "L"}
    assert order["payment_history"][1]["amount"] == 30.4 - 10.1
    assert balance(world) == 4.7
    assert change(["i2"]) == "Error: non-pending order cannot be modified"


def test_a_gift_card_must_cover_the_difference(world: World) -> None:
    world["users"]["ann_lee_1"]["payment_methods"]["gift_card_1"]["balance"] = 1
    observation = call(
        world,
        "exchange_delivered_order_items",
        order_id="#W2",
        item_ids=["i1"],
        new_item_ids=["i2"],
        payment_method_id="gift_card_1",
    )
    assert observation == ("Error: insufficient gift card balance to pay for the price difference")
    assert world["orders"]["#W2"]["status"] == "delivered"


def test_paying_by_another_method(world: World) -> None:
    def pay(method: str) -> Any:
        arguments = {"order_id": "#W1", "payment_method_id": method}
        return call(world, "modify_pending_order_payment", **arguments)

    assert pay("gift_card_1").startswith("Error: the new payment method should be different")
    assert pay("cash") == "Error: payment method not found"
    assert len(pay("paypal_1")["payment_history"]) == 3
    assert balance(world) == 45.2
    assert pay("paypal_1") == ("Error: there should be exactly one payment for a pending order")


def test_returns_go_to_the_original_method_or_a_gift_card(world: World) -> None:
    def send_back(method: str, items: Any) -> Any:
        arguments = {"order_id": "#W2", "item_ids": items, "payment_method_id": method}
        return call(world, "return_delivered_order_items", **arguments)

    assert send_back("paypal_1", ["i1"]).startswith("Error: payment method should be either")
    assert send_back("credit_card_1", ["i1", "i1"]) == "Error: some item not found"
    assert send_back("credit_card_1", 7) == "Error: 'int' object is not iterable"
    order = send_back("gift_card_1", ["i2", "i1"])
    assert (order["status"], order["return_items"]) == ("return requested", ["i1", "i2"])


def test_exchanging_records_the_rounded_difference(world: World) -> None:
    order = call(
        world,
        "exchange_delivered_order_items",
        order_id="#W2",
        item_ids=["i1"],
        new_item_ids=["i2"],
        payment_method_id="credit_card_1",
    )
    assert order["status"] == "exchange requested"
    assert order["exchange_price_difference"] == 20.3


def test_where_a_later_step_fails_the_earlier_ones_stay(world: World) -> None:
    history = world["orders"]["#W1"]["payment_history"]
    history.append({"transaction_type": "payment", "amount": 1, "payment_method_id": "gift_card_9"})
    observation = call(world, "cancel_pending_order", order_id="#W1", reason="no longer needed")
    assert observation == "Error: 'gift_card_9'"
    assert balance(world) == 45.2
    assert world["orders"]["#W1"]["status"] == "pending"


def test_replacements_are_made_one_after_the_other(world: World) -> None:
    # The first turns i2 into i1; the second then meets the first i1 of the order, not that one.
    order = call(
        world,
        "modify_pending_order_items",
        order_id="#W3",
        item_ids=["i2", "i1"],
        new_item_ids=["i1", "i2"],
        payment_method_id="credit_card_1",
    )
    assert [item["item_id"] for item in order["items"]] == ["i2", "i1"]
