"""tau2's retail tools on a shop of one customer. The recorded traces cover upstream's answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from greenroom.domains.tau2.hashing import hash_world
from greenroom.domains.tau2.records import merged_world, read_database
from greenroom.domains.tau2.retail import tools
from greenroom.domains.tau2.retail_records import RetailDB
from greenroom.domains.world import Base, World
from greenroom.errors import DataError

ADDRESS = {
    "zip": "1",
    "state": "OR",
    "country": "USA",
    "city": "B",
    "address2": "",
    "address1": "S",
}


def order(order_id: str, status: str, *payments: tuple[str, Any]) -> dict[str, Any]:
    return {
        "order_id": order_id,
        "user_id": "ann",
        "address": ADDRESS,
        "items": [
            {"name": "Lamp", "product_id": "P", "item_id": item_id, "price": 10, "options": {}}
            for item_id in ("1", "2")
        ],
        "fulfillments": [],
        "status": status,
        "payment_history": [
            {"payment_method_id": method, "amount": amount, "transaction_type": "payment"}
            for method, amount in payments
        ],
    }


def raw() -> dict[str, Any]:
    orders = [
        order("pending", "pending", ("gift", 20)),
        order("split", "pending", ("gift", 5), ("gone", 15), ("card", 1)),
        order("delivered", "delivered", ("card", 20)),
        order("unpaid", "pending"),
    ]
    variants = [("3", True, 10.1), ("4", True, 12.35), ("5", False, 9), ("1", True, 10)]
    return {
        "orders": {row["order_id"]: row for row in orders},
        "products": {
            "P": {
                "product_id": "P",
                "name": "Lamp",
                "variants": {
                    key: {"price": price, "available": there, "options": {"n": key}, "item_id": key}
                    for key, there, price in variants
                },
            }
        },
        "users": {
            "ann": {
                "orders": list[str](),
                "email": "Ann@Example.com",
                "name": {"last_name": "Lee", "first_name": "Ann"},
                "payment_methods": {
                    "gift": {"id": "gift", "source": "gift_card", "balance": 3},
                    "card": {"last_four": "1", "brand": "v", "source": "credit_card", "id": "card"},
                },
                "address": ADDRESS,
                "user_id": "ann",
            }
        },
    }


@pytest.fixture
def world() -> World:
    return World(Base(read_database(RetailDB, raw())))


def call(world: World, name: str, **arguments: Any) -> Any:
    text = tools[name].call(world, arguments).observation
    return text if text.startswith("Error") else json.loads(text)


def test_records_have_tau2s_fields_in_tau2s_order(world: World) -> None:
    shown = call(world, "get_order_details", order_id="pending")
    assert list(shown)[4:] == [
        "status",
        "fulfillments",
        "payment_history",
        "cancel_reason",
        "exchange_items",
        "exchange_new_items",
        "exchange_payment_method_id",
        "exchange_price_difference",
        "return_items",
        "return_payment_method_id",
    ]
    assert list(shown["address"]) == ["address1", "address2", "city", "country", "state", "zip"]
    assert shown["cancel_reason"] is None
    assert repr(shown["payment_history"][0]["amount"]) == "20.0"
    assert tools["get_item_details"].call(world, {"item_id": "5"}).observation == (
        '{"item_id": "5", "options": {"n": "5"}, "available": false, "price": 9.0}'
    )


def test_a_database_that_does_not_fit_is_refused_with_its_place() -> None:
    broken = raw()
    broken["users"]["ann"]["email"] = 7
    with pytest.raises(DataError, match=r"users\.ann\.email: Input should be a valid string"):
        read_database(RetailDB, broken)
    with pytest.raises(DataError, match="shops"):
        read_database(RetailDB, raw() | {"shops": {}})


def test_a_cancellation_that_fails_halfway_keeps_the_refunds_before(world: World) -> None:
    before = hash_world(world)
    answer = call(world, "cancel_pending_order", order_id="split", reason="no longer needed")
    assert answer == "Error: Payment method not found"
    assert world["users"].read("ann")["payment_methods"]["gift"]["balance"] == 8.0
    assert world["orders"].read("split")["status"] == "pending"
    assert hash_world(world) != before


def test_every_changed_item_gets_the_last_new_variant(world: World) -> None:
    changed = call(
        world,
        "modify_pending_order_items",
        order_id="pending",
        item_ids=["1", "2"],
        new_item_ids=["4", "3"],
        payment_method_id="card",
    )
    assert [(item["item_id"], item["price"]) for item in changed["items"]] == [
        ("4", 10.1),
        ("3", 10.1),
    ]
    assert changed["payment_history"][1]["amount"] == (12.35 - 10.0) + (10.1 - 10.0)
    assert changed["status"] == "pending (item modified)"


def test_a_changed_order_takes_another_address_and_payment_but_no_other_items(world: World) -> None:
    world["orders"]["pending"]["status"] = "pending (item modified)"
    items = {"item_ids": ["1"], "new_item_ids": ["3"], "payment_method_id": "card"}
    refused = call(world, "modify_pending_order_items", order_id="pending", **items)
    assert refused == "Error: Non-pending order cannot be modified"
    paid = call(world, "modify_pending_order_payment", order_id="pending", payment_method_id="card")
    assert [row["transaction_type"] for row in paid["payment_history"]] == [
        "payment",
        "payment",
        "refund",
    ]
    assert world["users"].read("ann")["payment_methods"]["gift"]["balance"] == 23.0
    moved = call(
        world, "modify_pending_order_address", order_id="pending", **ADDRESS | {"zip": "2"}
    )
    assert moved["address"]["zip"] == "2"


def test_no_payment_is_not_exactly_one(world: World) -> None:
    answer = call(
        world, "modify_pending_order_payment", order_id="unpaid", payment_method_id="card"
    )
    assert answer == "Error: There should be exactly one payment for a pending order"


def test_nothing_exchanged_stores_a_whole_number_and_nothing_changed_a_float(world: World) -> None:
    nothing = {"item_ids": list[str](), "new_item_ids": list[str](), "payment_method_id": "card"}
    exchanged = call(world, "exchange_delivered_order_items", order_id="delivered", **nothing)
    assert repr(exchanged["exchange_price_difference"]) == "0"
    modified = call(world, "modify_pending_order_items", order_id="pending", **nothing)
    assert repr(modified["payment_history"][-1]["amount"]) == "0.0"
    assert modified["payment_history"][-1]["transaction_type"] == "refund"


@pytest.mark.parametrize(
    ("item_ids", "new_item_ids", "answer"),
    [
        (["9"], ["3"], "Error: Number of 9 not found."),
        (["1", "1"], ["3", "3"], "Error: Number of 1 not found."),
        ([None], ["3"], "Error: Number of None not found."),
        (["1"], [], "Error: The number of items to be exchanged should match."),
        (["1"], ["9"], "Error: Variant not found"),
        (["1"], ["5"], "Error: New item 5 not found or available"),
        (["1"], [["3"]], "Error: unhashable type: 'list'"),
        (None, ["3"], "Error: 'NoneType' object is not iterable"),
    ],
)
def test_an_exchange_is_checked_in_tau2s_order(
    world: World, item_ids: Any, new_item_ids: Any, answer: str
) -> None:
    before = hash_world(world)
    arguments = {"item_ids": item_ids, "new_item_ids": new_item_ids, "payment_method_id": "nope"}
    assert (
        call(world, "exchange_delivered_order_items", order_id="delivered", **arguments) == answer
    )
    assert hash_world(world) == before


def test_an_item_may_be_exchanged_for_itself(world: World) -> None:
    arguments = {"item_ids": ["1"], "new_item_ids": ["1"]}
    exchanged = call(
        world,
        "exchange_delivered_order_items",
        order_id="delivered",
        payment_method_id="gift",
        **arguments,
    )
    assert exchanged["exchange_new_items"] == ["1"]


def test_customers_are_found_by_the_address_they_have_now(world: World) -> None:
    wanted = {"first_name": "ANN", "last_name": "lee"}
    find = tools["find_user_id_by_name_zip"]
    assert find.call(world, wanted | {"zip": "1"}).observation == "ann"
    call(world, "modify_user_address", user_id="ann", **ADDRESS | {"zip": "2"})
    assert find.call(world, wanted | {"zip": "1"}).observation == "Error: User not found"
    assert find.call(world, wanted | {"zip": "2"}).observation == "ann"
    email = tools["find_user_id_by_email"].call(world, {"email": "ANN@example.COM"})
    assert email.observation == "ann"


def test_an_address_of_other_types_is_refused_as_pydantic_says(world: World) -> None:
    answer = call(world, "modify_user_address", user_id="ann", **ADDRESS | {"zip": 97205})
    assert answer.startswith("Error: 1 validation error for UserAddress\nzip\n")
    assert world["users"].read("ann")["address"]["zip"] == "1"


def test_tools_find_what_the_data_of_a_task_adds(world: World) -> None:
    variant: dict[str, Any] = {"item_id": "8", "options": {}, "available": True, "price": 1}
    data: dict[str, Any] = {
        "users": {"ann": {"email": "new@example.com"}, "bob": raw()["users"]["ann"]},
        "products": {"P": {"variants": {"8": variant}}},
    }
    changed = merged_world(world, [RetailDB], data)
    find = tools["find_user_id_by_email"]
    assert find.call(changed, {"email": "new@example.com"}).observation == "ann"
    assert find.call(changed, {"email": "ann@example.com"}).observation == "bob"
    assert find.call(world, {"email": "ann@example.com"}).observation == "ann"
    assert call(changed, "get_item_details", item_id="8")["price"] == 1.0
    assert call(world, "get_item_details", item_id="8") == "Error: Item not found"
    whole = raw()
    whole["users"]["bob"] = whole["users"]["ann"]
    whole["users"]["ann"] = whole["users"]["ann"] | {"email": "new@example.com"}
    whole["products"]["P"]["variants"]["8"] = variant
    assert hash_world(changed) == hash_world(World(Base(read_database(RetailDB, whole))))
