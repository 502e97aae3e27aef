"""Payment methods: their names in instructions, and their use."""

from __future__ import annotations

from collections.abc import Sequence

from greenroom.domains.generation import Unsuitable
from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.versions import Replacement
from greenroom.domains.retail.generator.visit import Visit
from greenroom.domains.world import Record

_BRANDS = {"visa": "Visa", "mastercard": "Mastercard"}


def method_name(visit: Visit, method: Record) -> str:
    """A payment method in the customer's words; the name is unambiguous."""
    if method["source"] == "paypal":
        return visit.say("paypal")
    if method["source"] == "gift_card":
        return visit.say("gift_card")
    cards = [m for m in visit.customer.methods if m["source"] == "credit_card"]
    if len(cards) == 1 and visit.rng.random() < 0.4:
        return "your credit card"
    brand = _BRANDS[method["brand"]]
    return visit.say("credit_card", brand=brand, digits=method["last_four"])


def paid_with(visit: Visit, order: Record) -> Record:
    """The payment method that an order was paid with."""
    method_id = order["payment_history"][0]["payment_method_id"]
    return visit.customer.profile["payment_methods"][method_id]


def order_total(order: Record) -> float:
    """The total of an order."""
    return order["payment_history"][0]["amount"]


def covers(method: Record, price: float) -> bool:
    """Whether a method can pay a price; only gift cards have a limit."""
    return method["source"] != "gift_card" or money.cents(method["balance"]) >= money.cents(price)


def other_methods(visit: Visit, order: Record) -> list[Record]:
    """The methods that an order was not paid with, in random order."""
    paid = paid_with(visit, order)
    others = [method for method in visit.customer.methods if method["id"] != paid["id"]]
    visit.rng.shuffle(others)
    return others


def settling_method(visit: Visit, replacements: Sequence[Replacement]) -> Record:
    """A method of the customer for a price difference, which may also be a refund."""
    price = money.total(each.extra for each in replacements)
    able = [method for method in visit.customer.methods if covers(method, price)]
    if not able:
        raise Unsuitable
    return visit.rng.choice(able)


def refund_choice(visit: Visit, order: Record) -> tuple[Record, str]:
    """The method for a refund and its name: the paying method or a gift card."""
    paid, card = paid_with(visit, order), visit.customer.gift_card
    if card is not None and card["id"] != paid["id"] and visit.rng.random() < 0.4:
        return card, visit.say("gift_card")
    if visit.rng.random() < 0.5:
        return paid, visit.say("original_method")
    return paid, method_name(visit, paid)
