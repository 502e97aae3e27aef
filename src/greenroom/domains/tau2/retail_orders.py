"""tau2's retail tools that change orders.

The order of the checks decides which error is shown, and the steps before a failed one stay done.
Arguments are used as they come: what Python raises for a wrong type is what tau2 answers, too.
"""

from __future__ import annotations

import json
from typing import Any, Final

from greenroom.domains.tau2.retail_records import UserAddress
from greenroom.domains.tools import Refused, Toolset, own_record
from greenroom.domains.world import Base, Record, World

CANCEL_REASONS = frozenset({"no longer needed", "ordered by mistake"})

tools = Toolset(owner="RetailTools")


@tools.add(writes=True, schema=False)
def cancel_pending_order(world: World, order_id: Any, reason: Any) -> str:
    """Cancel a pending order and refund what was paid."""
    order = _order(world, order_id)
    if order["status"] != "pending":
        raise Refused("Non-pending order cannot be cancelled")
    if reason not in CANCEL_REASONS:
        raise Refused("Invalid reason")
    refunds: list[Record] = []
    for payment in order["payment_history"]:
        method_id, amount = payment["payment_method_id"], payment["amount"]
        refunds.append(_transaction("refund", amount, method_id))
        method = _payment_method(world, _user(world, order["user_id"])["user_id"], method_id)
        if _is_gift_card(method):
            _credit(method, amount)
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    order["payment_history"].extend(refunds)
    return json.dumps(order)


@tools.add(writes=True, schema=False)
def exchange_delivered_order_items(
    world: World, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
) -> str:
    """Exchange items of a delivered order for others of the same products."""
    order = _order(world, order_id)
    if order["status"] != "delivered":
        raise Refused("Non-delivered order cannot be exchanged")
    missing = _first_missing(order, item_ids)
    if missing is not None:
        raise Refused(f"Number of {missing[0]} not found.")
    if len(item_ids) != len(new_item_ids):
        raise Refused("The number of items to be exchanged should match.")
    difference = 0
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=False):
        item = _item(order, item_id)
        difference += _available_variant(world, item, new_item_id)["price"] - item["price"]
    difference = round(difference, 2)
    method = _payment_method(world, order["user_id"], payment_method_id)
    if _is_gift_card(method) and method["balance"] < difference:
        raise Refused("Insufficient gift card balance to pay for the price difference")
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    return json.dumps(order)


@tools.add(writes=True, schema=False)
def modify_pending_order_address(
    world: World,
    order_id: Any,
    address1: Any,
    address2: Any,
    city: Any,
    state: Any,
    country: Any,
    zip: Any,  # noqa: A002
) -> str:
    """Change where a pending order is sent, also one whose items were changed."""
    order = _pending_order(world, order_id)
    order["address"] = address_record(address1, address2, city, state, country, zip)
    return json.dumps(order)


@tools.add(writes=True, schema=False)
def modify_pending_order_items(
    world: World, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
) -> str:
    """Replace items of a pending order by others of the same products, once per order."""
    order = _order(world, order_id)
    if order["status"] != "pending":
        raise Refused("Non-pending order cannot be modified")
    missing = _first_missing(order, item_ids)
    if missing is not None:
        raise Refused(f"{missing[0]} not found")
    if len(item_ids) != len(new_item_ids):
        raise Refused("The number of items to be exchanged should match")
    difference = 0
    variant: Record = {}
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=False):
        if item_id == new_item_id:
            raise Refused("The new item id should be different from the old item id")
        item = _item(order, item_id)
        variant = _available_variant(world, item, new_item_id)
        difference += variant["price"] - item["price"]
    method = _payment_method(world, order["user_id"], payment_method_id)
    if _is_gift_card(method) and method["balance"] < difference:
        raise Refused("Insufficient gift card balance to pay for the new item")

    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_transaction(kind, float(abs(difference)), payment_method_id))
    if _is_gift_card(method):
        _credit(method, -difference)
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=False):
        item = _item(order, item_id)
        item["item_id"] = new_item_id
        # As in tau2, every changed item gets price and options of the last new one.
        item["price"] = variant["price"]
        item["options"] = dict(variant["options"])
    order["status"] = "pending (item modified)"
    return json.dumps(order)


@tools.add(writes=True, schema=False)
def modify_pending_order_payment(world: World, order_id: Any, payment_method_id: Any) -> str:
    """Pay a pending order by another method, also one whose items were changed."""
    order = _pending_order(world, order_id)
    method = _payment_method(world, order["user_id"], payment_method_id)
    history = order["payment_history"]
    if len(history) != 1 or history[0]["transaction_type"] != "payment":
        raise Refused("There should be exactly one payment for a pending order")
    old_method_id, amount = history[0]["payment_method_id"], history[0]["amount"]
    if old_method_id == payment_method_id:
        raise Refused("The new payment method should be different from the current one")
    if _is_gift_card(method) and method["balance"] < amount:
        raise Refused("Insufficient gift card balance to pay for the order")
    history.append(_transaction("payment", amount, payment_method_id))
    history.append(_transaction("refund", amount, old_method_id))
    if _is_gift_card(method):
        _credit(method, -amount)
    old_method = _payment_method(world, order["user_id"], old_method_id)
    if _is_gift_card(old_method):
        _credit(old_method, amount)
    return json.dumps(order)


@tools.add(writes=True, schema=False)
def modify_user_address(
    world: World,
    user_id: Any,
    address1: Any,
    address2: Any,
    city: Any,
    state: Any,
    country: Any,
    zip: Any,  # noqa: A002
) -> str:
    """Replace a customer's default address."""
    user = _user(world, user_id)
    user["address"] = address_record(address1, address2, city, state, country, zip)
    return json.dumps(user)


@tools.add(writes=True, schema=False)
def return_delivered_order_items(
    world: World, order_id: Any, item_ids: Any, payment_method_id: Any
) -> str:
    """Ask for the return of items of a delivered order."""
    order = _order(world, order_id)
    if order["status"] != "delivered":
        raise Refused("Non-delivered order cannot be returned")
    user_id = _user(world, order["user_id"])["user_id"]
    method = _payment_method(world, user_id, payment_method_id)
    paid_by = order["payment_history"][0]["payment_method_id"]
    if not _is_gift_card(method) and payment_method_id != paid_by:
        raise Refused("Payment method should be the original payment method")
    if _first_missing(order, item_ids) is not None:
        raise Refused("Some item not found")
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    return json.dumps(order)


class Catalogue:
    """The products of a base, for reading only: no tool changes them."""

    def __init__(self, base: Base) -> None:
        ids = base.ids("products")
        self.products: Final = {key: base.record("products", key) for key in ids}


def _order(world: World, order_id: Any) -> Record:
    return own_record(world["orders"], order_id, "Order not found")


def _pending_order(world: World, order_id: Any) -> Record:
    order = _order(world, order_id)
    if "pending" not in order["status"]:
        raise Refused("Non-pending order cannot be modified")
    return order


def _user(world: World, user_id: Any) -> Record:
    return own_record(world["users"], user_id, "User not found")


def _payment_method(world: World, user_id: Any, method_id: Any) -> Record:
    methods = _user(world, user_id)["payment_methods"]
    if method_id not in methods:
        raise Refused("Payment method not found")
    return methods[method_id]


def _first_missing(order: Record, item_ids: Any) -> tuple[Any] | None:
    # In a tuple, because None may be the id that is missing.
    ordered = [item["item_id"] for item in order["items"]]
    for item_id in item_ids:
        if item_ids.count(item_id) > ordered.count(item_id):
            return (item_id,)
    return None


def _item(order: Record, item_id: Any) -> Record:
    for item in order["items"]:
        if item["item_id"] == item_id:
            return item
    raise Refused(f"Item {item_id} not found")


def _available_variant(world: World, item: Record, new_item_id: Any) -> Record:
    product = world.base.derived(Catalogue).products.get(item["product_id"])
    if product is None:
        raise Refused("Product not found")
    variants = product["variants"]
    if new_item_id not in variants:
        raise Refused("Variant not found")
    if not variants[new_item_id]["available"]:
        raise Refused(f"New item {new_item_id} not found or available")
    return variants[new_item_id]


def _transaction(kind: str, amount: Any, method_id: Any) -> Record:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": method_id}


def _is_gift_card(method: Record) -> bool:
    return method["source"] == "gift_card"


def _credit(method: Record, amount: Any) -> None:
    method["balance"] = round(method["balance"] + amount, 2)


def address_record(
    address1: Any, address2: Any, city: Any, state: Any, country: Any, zip_code: Any
) -> Record:
    """An address as the database stores it; raises pydantic's error for what is no text."""
    return UserAddress(
        address1=address1, address2=address2, city=city, state=state, country=country, zip=zip_code
    ).model_dump()
