"""Requests that the policy forbids, and that the customer then drops: nothing is changed.

An order is looked up where the answer depends on it.
"""

from __future__ import annotations

from typing import Final

from greenroom.domains.generation import Unsuitable, Wish
from greenroom.domains.generation.people import make_address, spoken_address
from greenroom.domains.retail.generator import fallbacks
from greenroom.domains.retail.generator.payments import method_name, other_methods
from greenroom.domains.retail.generator.visit import Builder, Visit, noun


def undo_cancellation(visit: Visit) -> Wish:
    """A cancelled order cannot be brought back."""
    order = visit.take("cancelled")
    return Wish(visit.say("refuse_undo", order=visit.order_name(order)), visit.found(order))


def take_out_one_item(visit: Visit) -> Wish:
    """Single items cannot be taken out of an order."""
    order, items = visit.take_item("pending")
    if len(order["items"]) < 2:
        raise Unsuitable
    return Wish(visit.say("refuse_part", item=visit.items_name(order, items)), ())


def add_an_item(visit: Visit) -> Wish:
    """Nothing can be added to an order."""
    order = visit.take("pending")
    other = noun(fallbacks.other_product(visit, order["items"][0]))
    return Wish(visit.say("refuse_adding", other=other, order=visit.order_name(order)), ())


def place_an_order(visit: Visit) -> Wish:
    """The desk places no orders."""
    products = [p for p in visit.shop.products.values() if p["name"][0] not in "AEIOU"]
    return Wish(visit.say("refuse_new_order", other=noun(visit.rng.choice(products))), ())


def split_the_payment(visit: Visit) -> Wish:
    """An order is not split between methods."""
    order = visit.take("pending")
    if len(visit.customer.methods) < 2:
        raise Unsuitable
    one, two = (method_name(visit, m) for m in visit.rng.sample(visit.customer.methods, 2))
    return Wish(visit.say("refuse_split", order=visit.order_name(order), one=one, two=two), ())


def refund_to_another_method(visit: Visit) -> Wish:
    """Money goes back to where it came from, or to a gift card."""
    order, items = visit.take_item("delivered")
    others = [m for m in other_methods(visit, order) if m["source"] != "gift_card"]
    if not others:
        raise Unsuitable
    item, method = visit.items_name(order, items), method_name(visit, others[0])
    text = visit.say("refuse_elsewhere", item=item, method=method)
    return Wish(text, (*visit.found(order), visit.profile()))


def exchange_for_another_product(visit: Visit) -> Wish:
    """An exchange stays within a product."""
    order, items = visit.take_item("delivered")
    other = noun(fallbacks.other_product(visit, items[0]))
    item = visit.items_name(order, items)
    return Wish(visit.say("refuse_other_product", item=item, other=other), visit.found(order))


def cancel_what_was_sent(visit: Visit) -> Wish:
    """An order that is on its way cannot be cancelled."""
    order = visit.take("processed")
    return Wish(visit.say("refuse_late_cancel", order=visit.order_name(order)), visit.found(order))


def redirect_what_was_sent(visit: Visit) -> Wish:
    """An order that is on its way keeps its address."""
    order, address = visit.take("processed"), spoken_address(make_address(visit.rng))
    text = visit.say("refuse_late_address", order=visit.order_name(order), address=address)
    return Wish(text, visit.found(order))


def refund_without_return(visit: Visit) -> Wish:
    """Nothing is refunded that is not sent back."""
    order, items = visit.take_item("delivered")
    return Wish(visit.say("refuse_lost", item=visit.items_name(order, items)), ())


def discount(visit: Visit) -> Wish:
    """The desk grants no discounts."""
    order, items = visit.take_item("delivered", "pending")
    return Wish(visit.say("refuse_discount", item=visit.items_name(order, items)), ())


def ask_about_a_stranger(visit: Visit) -> Wish:
    """Nothing is said about other people's accounts."""
    others = [each for each in visit.shop.customers if each is not visit.customer]
    name = visit.rng.choice(others).profile["name"]
    stranger = f"{name['first_name']} {name['last_name']}"
    return Wish(visit.say("refuse_third_party", stranger=stranger), ())


DROPPED: Final[tuple[Builder, ...]] = (
    undo_cancellation,
    take_out_one_item,
    add_an_item,
    place_an_order,
    split_the_payment,
    refund_to_another_method,
    exchange_for_another_product,
    cancel_what_was_sent,
    redirect_what_was_sent,
    refund_without_return,
    discount,
    ask_about_a_stranger,
)
"""Refused, and nothing is changed."""

SETTLED: Final[tuple[Builder, ...]] = (
    fallbacks.cancel_too_late,
    fallbacks.cancel_or_return,
    fallbacks.return_or_cancel,
    fallbacks.drop_one_item,
    fallbacks.gift_card_too_low,
    fallbacks.refund_elsewhere,
    fallbacks.exchange_for_other_product,
)
"""Refused, and the customer has one change made instead."""
