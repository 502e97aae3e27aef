"""Wishes that fail, each with a second wish that works or a transfer to a person.

The customer does not know that the first wish fails: the state of an order, the stock, a balance
or the policy decides it.
"""

from __future__ import annotations

from typing import Final

from greenroom.domains.generation import Unsuitable, Wish, needed
from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.payments import (
    covers,
    method_name,
    order_total,
    other_methods,
    paid_with,
    refund_choice,
    settling_method,
)
from greenroom.domains.retail.generator.questions import move_house, tracked
from greenroom.domains.retail.generator.versions import (
    changes_phrase,
    missing_version,
    other_version,
)
from greenroom.domains.retail.generator.visit import Builder, Visit, look_up_product, noun
from greenroom.domains.retail.generator.wishes import (
    NO_LONGER_NEEDED,
    cancel_order,
    cancelling,
    change_address,
    change_payment,
    exchange_item,
    paying,
    replacing,
    return_item,
    returned_whole,
    returning,
    settled,
    swap_item,
)
from greenroom.domains.retail.order_tools import CANCEL_REASONS
from greenroom.domains.tasks import Action
from greenroom.domains.world import Record


def cancel_too_late(visit: Visit) -> Wish:
    """The order to cancel is on its way already: cancel another one instead."""
    late, order = visit.take_each(["processed"], ["pending"])
    names = {"late": visit.order_name(late), "order": visit.order_name(order)}
    actions = (*visit.found(late), *visit.found(order), cancelling(order))
    return Wish(visit.say("cancel_too_late", **names), actions)


def cancel_or_track(visit: Visit) -> Wish:
    """The order to cancel is on its way already: ask for its tracking number."""
    return tracked(visit, visit.take("processed"), "cancel_or_track")


def cancel_or_return(visit: Visit) -> Wish:
    """The order to cancel has arrived already: send all of it back."""
    return returned_whole(visit, visit.take("delivered"), "cancel_or_return")


def return_or_cancel(visit: Visit) -> Wish:
    """The order to send back has not even been sent: cancel it."""
    order = visit.take("pending")
    reason = visit.rng.choice(CANCEL_REASONS)
    why = "you no longer need it" if reason == NO_LONGER_NEEDED else "it was ordered by mistake"
    text = visit.say("return_or_cancel", order=visit.order_name(order), why=why)
    return Wish(text, (*visit.found(order), cancelling(order, reason)))


def drop_one_item(visit: Visit) -> Wish:
    """Single items cannot be taken out of an order: cancel all of it."""
    order, items = visit.take_item("pending")
    if len(order["items"]) < 2:
        raise Unsuitable
    text = visit.say("drop_one_item", item=visit.items_name(order, items))
    return Wish(text, (*visit.found(order), cancelling(order)))


def gift_card_too_low(visit: Visit) -> Wish:
    """The gift card does not cover an order: pay by another method."""
    order, card = visit.take("pending"), needed(visit.customer.gift_card)
    if covers(card, order_total(order)):
        raise Unsuitable
    others = [m for m in other_methods(visit, order) if m["id"] != card["id"]]
    if not others or paid_with(visit, order)["id"] == card["id"]:
        raise Unsuitable
    name, method = visit.order_name(order), method_name(visit, others[0])
    text = visit.say("gift_card_too_low", order=name, method=method)
    return Wish(text, (*visit.found(order), visit.profile(), paying(order, others[0])))


def refund_elsewhere(visit: Visit) -> Wish:
    """Money cannot go to a method that did not pay: back to where it came from, or a gift card."""
    order, items = visit.take_item("delivered")
    others = [m for m in other_methods(visit, order) if m["source"] != "gift_card"]
    if not others:
        raise Unsuitable
    card = visit.customer.gift_card
    second = card if card and visit.rng.random() < 0.5 else paid_with(visit, order)
    text = visit.say(
        "refund_elsewhere",
        item=visit.items_name(order, items),
        first=method_name(visit, others[0]),
        second=visit.say("gift_card" if second["source"] == "gift_card" else "paid_for_that"),
    )
    reads = (*visit.found(order), visit.profile())
    return Wish(text, (*reads, returning(order, items, second)))


def exchange_for_other_product(visit: Visit) -> Wish:
    """An item cannot be exchanged for another product: send it back."""
    order, items = visit.take_item("delivered")
    method, words = refund_choice(visit, order)
    text = visit.say(
        "exchange_for_other_product",
        item=visit.items_name(order, items),
        thing=noun(items[0]),
        other=noun(other_product(visit, items[0])),
        method=words,
    )
    reads = (*visit.found(order), visit.profile())
    return Wish(text, (*reads, returning(order, items, method)))


def second_choice(visit: Visit) -> Wish:
    """The first choice is not available: take another version, delivered or not."""
    order, items = visit.take_item("pending", "delivered")
    missing = needed(missing_version(visit, items[0]))
    new = needed(other_version(visit, items[0]))
    method = settling_method(visit, [new])
    text = visit.say(
        "second_choice",
        verb="exchange" if order["status"] == "delivered" else "swap",
        item=visit.items_name(order, items),
        thing=noun(new.item),
        first=missing,
        # Said in full: "the same" alone might mean the same as the first choice.
        second=changes_phrase(new.item["options"], new.variant["options"]),
    )
    return settled(visit, text, order, [new], method)


def exchange_within_budget(visit: Visit) -> Wish:
    """Exchange an item if the better one does not cost too much more, else send it back."""
    order, items = visit.take_item("delivered")
    new = needed(other_version(visit, items[0]))
    extra = new.extra
    if money.cents(extra) < 1200:
        raise Unsuitable
    affordable = visit.rng.random() < 0.5
    # Whole steps of five dollars, and never closer to the difference than two.
    budget = int(extra + 2) // 5 * 5 + 5 if affordable else int(extra - 2) // 5 * 5
    paid = paid_with(visit, order)
    if not covers(paid, extra):
        raise Unsuitable
    text = visit.say(
        "exchange_within_budget",
        item=visit.items_name(order, items),
        new=new.wording,
        thing=noun(items[0]),
        budget=str(budget),
        method=method_name(visit, paid),
    )
    outcome = replacing(order, [new], paid) if affordable else returning(order, items, paid)
    reads = (*visit.found(order), look_up_product(new.item), visit.profile())
    return Wish(text, (*reads, outcome))


def whichever_is_pending(visit: Visit) -> Wish:
    """One of two orders can still be cancelled, and the customer does not know which."""
    order, other = visit.take_each(["pending"], ["processed", "delivered", "cancelled"])
    names = [visit.order_name(order), visit.order_name(other)]
    visit.rng.shuffle(names)
    text = visit.say("whichever_is_pending", one=names[0], two=names[1])
    return Wish(text, (*visit.found(order), *visit.found(other), cancelling(order)))


def other_product(visit: Visit, item: Record) -> Record:
    """Another product than an item's; its name follows "a", never "an"."""
    products = visit.shop.products.values()
    others = [p for p in products if p["name"] != item["name"] and p["name"][0] not in "AEIOU"]
    return visit.rng.choice(others)


_FIRST: Final[tuple[Builder, ...]] = (
    cancel_order,
    change_address,
    change_payment,
    swap_item,
    return_item,
    exchange_item,
    move_house,
)

_BEYOND_THE_DESK: Final = (
    ("open a wholesale account for your climbing club", "a wholesale account for a climbing club"),
    ("change the email address of your account", "a new email address for the account"),
    ("have a torn tent from years ago repaired under warranty", "a warranty repair of a tent"),
    ("book a place on one of the shop's guided walks", "a place on a guided walk"),
    ("get a copy of an invoice with your company's tax number on it", "an invoice for a company"),
    ("have a new credit card added to your profile", "a credit card to be added to the profile"),
    ("have the spelling of your last name in the profile corrected", "a correction of the name"),
    ("talk about a job at the shop's warehouse", "a job at the warehouse"),
)


def then_a_person(visit: Visit) -> Wish:
    """A change that the tools can make, then a request that needs a person."""
    wish = visit.rng.choice(_FIRST)(visit)
    person = handover(visit)
    return Wish(f"{wish.text} {person.text}", (*wish.actions, *person.actions))


def handover(visit: Visit) -> Wish:
    """A request that needs a person, to come after everything else."""
    matter, summary = visit.rng.choice(_BEYOND_THE_DESK)
    transfer = Action("transfer_to_human_agents", {"summary": f"The customer asks for {summary}."})
    return Wish(visit.say("then_a_person", matter=matter), (transfer,))
