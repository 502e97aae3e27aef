"""The orders: items, status and payment of each."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from greenroom.domains.generation.people import make_address
from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.catalogue import fresh_id
from greenroom.domains.world import Record

Weighted = tuple[tuple[int, ...], tuple[int, ...]]

ORDERS_PER_CUSTOMER: Final[Weighted] = ((1, 2, 3, 4, 5), (14, 32, 30, 17, 7))
MANY_ORDERS: Final[Weighted] = ((2, 3, 4, 5, 6), (20, 28, 27, 15, 10))
"""For tasks with several changes."""
_ITEMS_PER_ORDER: Final = ((1, 2, 3, 4), (30, 35, 23, 12))
_STATUSES: Final = (("pending", "delivered", "processed", "cancelled"), (40, 40, 12, 8))
_SENT_ELSEWHERE: Final = 0.25
_SAME_PRODUCT_TWICE: Final = 0.08


def make_orders(
    rng: Random,
    users: Mapping[str, Record],
    products: Mapping[str, Record],
    per_customer: Weighted = ORDERS_PER_CUSTOMER,
) -> dict[str, Record]:
    """Orders for every customer, by id; each is added to the customer's profile."""
    orders: dict[str, Record] = {}
    trackings: set[str] = set()
    shelf = list(products.values())
    for user_id, user in users.items():
        for _ in range(_drawn(rng, per_customer)):
            order_id = fresh_id(rng, 7, orders, "#W")
            orders[order_id] = _order(rng, order_id, (user_id, user), shelf, trackings)
            user["orders"].append(order_id)
    return orders


def _drawn(rng: Random, weighted: Weighted) -> int:
    values, weights = weighted
    return rng.choices(values, weights)[0]


def _order(
    rng: Random,
    order_id: str,
    buyer: tuple[str, Record],
    shelf: list[Record],
    trackings: set[str],
) -> Record:
    user_id, user = buyer
    items = _items(rng, shelf)
    status = rng.choices(*_STATUSES)[0]
    method_id = _affordable(rng, user, items)
    payment = {
        "transaction_type": "payment",
        "amount": money.total(item["price"] for item in items),
        "payment_method_id": method_id,
    }
    history = [payment]
    if status == "cancelled":
        history.append(payment | {"transaction_type": "refund"})
    elsewhere = rng.random() < _SENT_ELSEWHERE
    return {
        "order_id": order_id,
        "user_id": user_id,
        "address": make_address(rng) if elsewhere else dict(user["address"]),
        "items": items,
        "fulfillments": _fulfillments(rng, status, items, trackings),
        "status": status,
        "payment_history": history,
    }


def _affordable(rng: Random, user: Record, items: list[Record]) -> str:
    # Gift cards pay for large orders only if there is no other method.
    methods = list(user["payment_methods"].values())
    large = money.total(item["price"] for item in items) > 600
    others = [method for method in methods if method["source"] != "gift_card"]
    return rng.choice(others if large and others else methods)["id"]


def _items(rng: Random, shelf: list[Record]) -> list[Record]:
    chosen = rng.sample(shelf, _drawn(rng, _ITEMS_PER_ORDER))
    items = [_item(product, rng.choice(list(product["variants"].values()))) for product in chosen]
    if rng.random() < _SAME_PRODUCT_TWICE:
        others = [v for key, v in chosen[0]["variants"].items() if key != items[0]["item_id"]]
        items.append(_item(chosen[0], rng.choice(others)))
    return items


def _item(product: Record, variant: Record) -> Record:
    return {
        "name": product["name"],
        "product_id": product["product_id"],
        "item_id": variant["item_id"],
        "price": variant["price"],
        "options": dict(variant["options"]),
    }


def _fulfillments(
    rng: Random, status: str, items: list[Record], trackings: set[str]
) -> list[Record]:
    if status not in ("processed", "delivered"):
        return []
    tracking = fresh_id(rng, 12, trackings)
    trackings.add(tracking)
    return [{"tracking_id": [tracking], "item_ids": [item["item_id"] for item in items]}]
