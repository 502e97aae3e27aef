"""Wishes that the customer corrects half-way; only what they want in the end is done."""

from __future__ import annotations

from typing import Final

from greenroom.domains.generation import Unsuitable, Wish, needed
from greenroom.domains.generation.people import make_address, spoken_address
from greenroom.domains.retail.generator.payments import (
    covers,
    method_name,
    order_total,
    other_methods,
    refund_choice,
    settling_method,
)
from greenroom.domains.retail.generator.versions import changes_phrase, other_version
from greenroom.domains.retail.generator.visit import Builder, Visit, noun
from greenroom.domains.retail.generator.wishes import (
    BY_MISTAKE,
    cancelling,
    paying,
    readdressing,
    returning,
    settled,
)


def keep_one(visit: Visit) -> Wish:
    """Two items are to be returned, then only one."""
    order = visit.take("delivered")
    items = visit.items(order, fewest=2)[:2]
    method, words = refund_choice(visit, order)
    keep, back = items
    text = visit.say(
        "correct_keep_one",
        both=visit.items_name(order, items),
        keep=f"the {noun(keep)}",
        back=f"the {noun(back)}",
        method=words,
    )
    return Wish(text, (*visit.found(order), visit.profile(), returning(order, [back], method)))


def one_more(visit: Visit) -> Wish:
    """One item is to be returned, then another one as well."""
    order = visit.take("delivered")
    items = visit.items(order, fewest=2)[:2]
    method, words = refund_choice(visit, order)
    one, two = visit.items_name(order, items[:1]), f"the {noun(items[1])}"
    text = visit.say("correct_one_more", one=one, two=two, method=words)
    return Wish(text, (*visit.found(order), visit.profile(), returning(order, items, method)))


def return_becomes_exchange(visit: Visit) -> Wish:
    """An item is to be returned, then exchanged."""
    order, items = visit.take_item("delivered")
    new = needed(other_version(visit, items[0]))
    item = visit.items_name(order, items)
    text = visit.say("correct_return_to_exchange", item=item, new=new.wording)
    return settled(visit, text, order, [new], settling_method(visit, [new]))


def another_version(visit: Visit) -> Wish:
    """An item is to be replaced by one version, then by another."""
    order, items = visit.take_item("pending", "delivered")
    first, new = (needed(other_version(visit, items[0])) for _ in range(2))
    options = items[0]["options"]
    if first.variant["item_id"] == new.variant["item_id"]:
        raise Unsuitable
    changes = changes_phrase(options, new.variant["options"])
    text = visit.say(
        "correct_version",
        verb="exchange" if order["status"] == "delivered" else "swap",
        item=visit.items_name(order, items),
        first=changes_phrase(options, first.variant["options"]),
        new=visit.say("as_ordered", thing=noun(items[0]), changes=changes),
    )
    return settled(visit, text, order, [new], settling_method(visit, [new]))


def another_address(visit: Visit) -> Wish:
    """The house number of the new address was wrong."""
    order, address = visit.take("pending"), make_address(visit.rng)
    number, street = address["address1"].split(" ", 1)
    wrong = address | {"address1": f"{int(number) + visit.rng.randint(1, 9)} {street}"}
    text = visit.say(
        "correct_address",
        order=visit.order_name(order),
        wrong=spoken_address(wrong),
        address=spoken_address(address),
    )
    only = visit.say("this_order_only")
    return Wish(f"{text} {only}", (*visit.found(order), readdressing(order, address)))


def another_order(visit: Visit) -> Wish:
    """It is another order that is to be cancelled."""
    wrong, order = visit.take_each(["pending"], ["pending"])
    names = {"wrong": visit.order_name(wrong), "order": visit.order_name(order)}
    actions = (*visit.found(wrong), *visit.found(order), cancelling(order))
    return Wish(visit.say("correct_order", **names), actions)


def another_number(visit: Visit) -> Wish:
    """The number of the order was wrong."""
    if visit.forgetful:
        raise Unsuitable
    order = visit.take("pending")
    number = order["order_id"]
    wrong = f"{number[:-2]}{number[-1]}{number[-2]}"
    if wrong in visit.shop.tables["orders"]:
        raise Unsuitable
    text = visit.say("correct_number", wrong=wrong, number=number)
    return Wish(text, (*visit.found(order), cancelling(order, BY_MISTAKE)))


def another_payment(visit: Visit) -> Wish:
    """The order is to be paid by one method, then by another."""
    order = visit.take("pending")
    able = [m for m in other_methods(visit, order) if covers(m, order_total(order))]
    if len(able) < 2:
        raise Unsuitable
    wrong, method = (method_name(visit, each) for each in able[:2])
    text = visit.say("correct_payment", order=visit.order_name(order), wrong=wrong, method=method)
    return Wish(text, (*visit.found(order), visit.profile(), paying(order, able[1])))


def cancellation_becomes_swap(visit: Visit) -> Wish:
    """An order is to be cancelled, then kept with another version of an item."""
    order, items = visit.take_item("pending")
    new = needed(other_version(visit, items[0]))
    text = visit.say(
        "correct_cancel_to_swap",
        order=visit.order_name(order),
        item=f"the {noun(items[0])}",
        new=new.wording,
    )
    return settled(visit, text, order, [new], settling_method(visit, [new]))


CORRECTED: Final[tuple[Builder, ...]] = (
    keep_one,
    one_more,
    return_becomes_exchange,
    another_version,
    another_address,
    another_order,
    another_number,
    another_payment,
    cancellation_becomes_swap,
)
