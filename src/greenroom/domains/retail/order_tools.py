"""The retail tools that change orders.

They behave exactly as Tau Bench's: the order of the checks decides which error is shown, and the
steps before a failed one stay done.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from greenroom.domains.tools import Refused, Toolset, own_record
from greenroom.domains.world import Record, World

tools = Toolset()

CANCEL_REASONS = ("no longer needed", "ordered by mistake")

OrderId = Annotated[str, "The order number with its leading '#', for example '#W1234567'."]
UserId = Annotated[str, "The customer's id, for example 'maya_lindholm_4821'."]
PaymentMethodId = Annotated[
    str,
    "One of the customer's payment methods, for example 'gift_card_1234567' or "
    "'credit_card_1234567'; their profile lists them.",
]
Address1 = Annotated[str, "Street and number."]
Address2 = Annotated[str, "Flat, floor or suite; empty if there is none."]
City = Annotated[str, "The city."]
State = Annotated[str, "The state's two letters, for example 'OR'."]
Country = Annotated[str, "The country, for example 'USA'."]
ZipCode = Annotated[str, "The postal code, for example '97205'."]
NewItemIds = Annotated[
    list[str],
    "The ids of the items to get instead, one for each old item in the same order; each must be "
    "of the same product as the item it replaces.",
]


@tools.add(writes=True)
def cancel_pending_order(
    world: World,
    order_id: OrderId,
    reason: Annotated[
        Literal["no longer needed", "ordered by mistake"], "Why the customer cancels."
    ],
) -> str:
    """Cancel an order that is still pending and refund what was paid, once the customer confirms.

    Gift cards are credited at once, other payment methods within 5 to 7 business days.
    """
    order = _order(world, order_id, "pending", "non-pending order cannot be cancelled")
    if reason not in CANCEL_REASONS:
        raise Refused("invalid reason")
    refunds: list[Record] = []
    for payment in order["payment_history"]:
        method_id, amount = payment["payment_method_id"], payment["amount"]
        refunds.append(_transaction("refund", amount, method_id))
        if _is_gift_card_id(method_id):
            _credit(world, order, method_id, amount)
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    order["payment_history"].extend(refunds)
    return json.dumps(order)


@tools.add(writes=True)
def modify_pending_order_address(
    world: World,
    order_id: OrderId,
    address1: Address1,
    address2: Address2,
    city: City,
    state: State,
    country: Country,
    zip: ZipCode,  # noqa: A002
) -> str:
    """Change where a pending order is sent, once the customer has confirmed the new address."""
    order = _order(world, order_id, "pending", "non-pending order cannot be modified")
    order["address"] = address_record(address1, address2, city, state, country, zip)
    return json.dumps(order)


@tools.add(writes=True)
def modify_pending_order_items(
    world: World,
    order_id: OrderId,
    item_ids: Annotated[list[str], "The ids of the items to replace; an id may occur twice."],
    new_item_ids: NewItemIds,
    payment_method_id: PaymentMethodId,
) -> str:
    """Replace items of a pending order by others of the same products, once the customer confirms.

    This can be done once per order, so gather every change first.
    """
    order = _order(world, order_id, "pending", "non-pending order cannot be modified")
    difference = _price_difference(world, order, item_ids, new_item_ids)
    method = _payment_method(world, order, payment_method_id)
    if method["source"] == "gift_card" and method["balance"] < difference:
        raise Refused("insufficient gift card balance to pay for the new item")

    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_transaction(kind, abs(difference), payment_method_id))
    if method["source"] == "gift_card":
        _credit(world, order, payment_method_id, -difference)
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=False):
        item = _item(order, item_id)
        variant = world["products"].read(item["product_id"])["variants"][new_item_id]
        item["item_id"] = new_item_id
        item["price"] = variant["price"]
        item["options"] = variant["options"]
    order["status"] = "pending (item modified)"
    return json.dumps(order)


@tools.add(writes=True)
def modify_pending_order_payment(
    world: World, order_id: OrderId, payment_method_id: PaymentMethodId
) -> str:
    """Pay a pending order by another method, once the customer has confirmed it."""
    order = _order(world, order_id, "pending", "non-pending order cannot be modified")
    method = _payment_method(world, order, payment_method_id)
    history = order["payment_history"]
    if len(history) > 1 or history[0]["transaction_type"] != "payment":
        raise Refused("there should be exactly one payment for a pending order")
    old_method_id, amount = history[0]["payment_method_id"], history[0]["amount"]
    if old_method_id == payment_method_id:
        raise Refused("the new payment method should be different from the current one")
    if method["source"] == "gift_card" and method["balance"] < amount:
        raise Refused("insufficient gift card balance to pay for the order")

    history.append(_transaction("payment", amount, payment_method_id))
    history.append(_transaction("refund", amount, old_method_id))
    if method["source"] == "gift_card":
        _credit(world, order, payment_method_id, -amount)
    if _is_gift_card_id(old_method_id):
        _credit(world, order, old_method_id, amount)
    return json.dumps(order)


@tools.add(writes=True)
def return_delivered_order_items(
    world: World,
    order_id: OrderId,
    item_ids: Annotated[list[str], "The ids of the items to send back; an id may occur twice."],
    payment_method_id: PaymentMethodId,
) -> str:
    """Ask for the return of items of a delivered order, once the customer confirms.

    The money goes to the method that paid for the order, or to a gift card.
    """
    order = _order(world, order_id, "delivered", "non-delivered order cannot be returned")
    _payment_method(world, order, payment_method_id)
    paid_by = order["payment_history"][0]["payment_method_id"]
    if not _is_gift_card_id(payment_method_id) and payment_method_id != paid_by:
        raise Refused("payment method should be either the original payment method or a gift card")
    for _ in _missing_items(order, item_ids):
        raise Refused("some item not found")
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    return json.dumps(order)


@tools.add(writes=True)
def exchange_delivered_order_items(
    world: World,
    order_id: OrderId,
    item_ids: Annotated[list[str], "The ids of the items to give back; an id may occur twice."],
    new_item_ids: NewItemIds,
    payment_method_id: PaymentMethodId,
) -> str:
    """Exchange items of a delivered order for others of the same products, once confirmed.

    A delivered order can be exchanged or returned once, so gather every item first.
    """
    order = _order(world, order_id, "delivered", "non-delivered order cannot be exchanged")
    difference = round(_price_difference(world, order, item_ids, new_item_ids), 2)
    method = _payment_method(world, order, payment_method_id)
    if method["source"] == "gift_card" and method["balance"] < difference:
        raise Refused("insufficient gift card balance to pay for the price difference")
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    return json.dumps(order)


def _order(world: World, order_id: Any, status: str, refusal: str) -> Record:
    order = own_record(world["orders"], order_id, "order not found")
    if order["status"] != status:
        raise Refused(refusal)
    return order


def _price_difference(world: World, order: Record, item_ids: Any, new_item_ids: Any) -> Any:
    # Add up in the order of the items: float sums depend on the order.
    for item_id in _missing_items(order, item_ids):
        raise Refused(f"{item_id} not found")
    if len(item_ids) != len(new_item_ids):
        raise Refused("the number of items to be exchanged should match")
    difference = 0
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=False):
        item = _item(order, item_id)
        variants = world["products"].read(item["product_id"])["variants"]
        if not (new_item_id in variants and variants[new_item_id]["available"]):
            raise Refused(f"new item {new_item_id} not found or available")
        difference += variants[new_item_id]["price"] - item["price"]
    return difference


def _missing_items(order: Record, item_ids: Any) -> Iterator[Any]:
    ordered = [item["item_id"] for item in order["items"]]
    for item_id in item_ids:
        if item_ids.count(item_id) > ordered.count(item_id):
            yield item_id


def _item(order: Record, item_id: str) -> Record:
    return [item for item in order["items"] if item["item_id"] == item_id][0]  # noqa: RUF015


def _payment_method(world: World, order: Record, method_id: Any) -> Record:
    methods = world["users"].read(order["user_id"])["payment_methods"]
    if method_id not in methods:
        raise Refused("payment method not found")
    return methods[method_id]


def _transaction(kind: str, amount: Any, method_id: str) -> Record:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": method_id}


def _is_gift_card_id(method_id: str) -> bool:
    return "gift_card" in method_id


def _credit(world: World, order: Record, method_id: str, amount: Any) -> None:
    method = world["users"][order["user_id"]]["payment_methods"][method_id]
    method["balance"] = round(method["balance"] + amount, 2)


def address_record(
    address1: Any, address2: Any, city: Any, state: Any, country: Any, zip_code: Any
) -> dict[str, Any]:
    """An address as the database stores it."""
    return {
        "address1": address1,
        "address2": address2,
        "city": city,
        "state": state,
        "country": country,
        "zip": zip_code,
    }
