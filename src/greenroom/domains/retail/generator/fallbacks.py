"""Wishes that fail, each with a second wish that works or a transfer to a person.

The customer does not know that the first wish fails: the state of an order, the stock, a balance
or the policy decides it.
"""

from __future__ import annotations

from typing import Final

from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.delivered_wishes import (
    exchange_item,
    exchanging,
    return_item,
    returning,
)
from greenroom.domains.retail.generator.payments import (
    covers,
    method_name,
    order_total,
    other_methods,
    paid_with,
    refund_choice,
    settling_method,
    settling_text,
)
from greenroom.domains.retail.generator.pending_wishes import (
    BY_MISTAKE,
    NO_LONGER_NEEDED,
    cancel_order,
    cancellation,
    change_address,
    change_payment,
    swap_item,
    swapping,
)
from greenroom.domains.retail.generator.questions import move_house
from greenroom.domains.retail.generator.versions import (
    changes_phrase,
    missing_version,
    other_version,
)
from greenroom.domains.retail.generator.visit import Builder, Visit, Wish, look_up_product, noun
from greenroom.domains.tasks import Action
from greenroom.domains.world import Record


def cancel_too_late(visit: Visit) -> Wish | None:
    """The order to cancel is on its way already: cancel another one instead."""
    late, order = visit.take("processed"), visit.take("pending")
    if late is None or order is None:
        return None
    text = visit.say(
        "You bought more than you can use, so you want to cancel {late}. If it is too late for "
        "that, you want to cancel {order} instead, which you no longer need then. You do not "
        "want both of them cancelled.",
        "You only need one of two orders. You would like to cancel {late} as no longer needed. "
        "Only if that cannot be done any more, {order} is the one you no longer need and want "
        "cancelled.",
        late=visit.order_name(late),
        order=visit.order_name(order),
    )
    actions = (*visit.found(late), *visit.found(order), cancellation(order, NO_LONGER_NEEDED))
    return Wish(text, actions)


def cancel_or_track(visit: Visit) -> Wish | None:
    """The order to cancel is on its way already: ask for its tracking number."""
    order = visit.take("processed")
    if order is None:
        return None
    text = visit.say(
        "You want to cancel {order}, as you no longer need it. If that is not possible any more, "
        "you ask for its tracking number, so that you know when to expect it.",
        "You hope that {order} can still be cancelled: you ordered it by mistake. Otherwise you "
        "want its tracking number.",
        order=visit.order_name(order),
    )
    return Wish(text, visit.found(order), (order["fulfillments"][0]["tracking_id"][0],))


def cancel_or_return(visit: Visit) -> Wish | None:
    """The order to cancel has arrived already: send all of it back."""
    order = visit.take("delivered")
    if order is None:
        return None
    method, words = refund_choice(visit, order)
    text = visit.say(
        "You want to cancel {order}, which you no longer need. A neighbour collects your parcels, "
        "so you do not know whether it has arrived. If it can no longer be cancelled, you want to "
        "return everything in it, with the refund to {method}.",
        "You are abroad and would like {order} cancelled, as it is no longer needed. Should it "
        "have been delivered in the meantime, you want to return all of it and have the money go "
        "to {method}.",
        order=visit.order_name(order),
        method=words,
    )
    reads = (*visit.found(order), visit.profile())
    return Wish(text, (*reads, returning(order, order["items"], method)))


def return_or_cancel(visit: Visit) -> Wish | None:
    """The order to send back has not even been sent: cancel it."""
    order = visit.take("pending")
    if order is None:
        return None
    reason = visit.rng.choice((NO_LONGER_NEEDED, BY_MISTAKE))
    why = "you no longer need it" if reason == NO_LONGER_NEEDED else "it was ordered by mistake"
    text = visit.say(
        "You want to return {order}, because {why}. If it cannot be returned as it has not been "
        "delivered yet, you want the whole order cancelled for the same reason.",
        "You ask to send {order} back, because {why}. If that is not possible yet, as it has not "
        "reached you, you want to have it cancelled instead, for the same reason.",
        order=visit.order_name(order),
        why=why,
    )
    return Wish(text, (*visit.found(order), cancellation(order, reason)))


def drop_one_item(visit: Visit) -> Wish | None:
    """Single items cannot be taken out of an order: cancel all of it."""
    order = visit.take("pending")
    items = visit.items(order)[:1] if order else []
    if order is None or not items or len(order["items"]) < 2:
        return None
    text = visit.say(
        "You no longer need {item} and want it removed, while the rest of that order stays. If it "
        "is not possible to remove a single item, you want the whole order cancelled as no longer "
        "needed.",
        "You no longer need {item} and want just that one thing cancelled. If an order can only "
        "be cancelled as a whole, then you want all of that order cancelled, as you no longer "
        "need it.",
        item=visit.items_name(order, items),
    )
    return Wish(text, (*visit.found(order), cancellation(order, NO_LONGER_NEEDED)))


def gift_card_too_low(visit: Visit) -> Wish | None:
    """The gift card does not cover an order: pay by another method."""
    order, card = visit.take("pending"), visit.customer.gift_card
    if order is None or card is None or covers(card, order_total(order)):
        return None
    others = [m for m in other_methods(visit, order) if m["id"] != card["id"]]
    if not others or paid_with(visit, order)["id"] == card["id"]:
        return None
    text = visit.say(
        "You want {order} to be paid with your gift card instead. You do not know what is left on "
        "the card: if it is not enough for the whole order, you want to pay with {method}.",
        "You would like {order} to be paid by your gift card. If the card does not cover the whole "
        "amount, you want the payment moved to {method} instead.",
        order=visit.order_name(order),
        method=method_name(visit, others[0]),
    )
    change = Action(
        "modify_pending_order_payment",
        {"order_id": order["order_id"], "payment_method_id": others[0]["id"]},
    )
    return Wish(text, (*visit.found(order), visit.profile(), change))


def refund_elsewhere(visit: Visit) -> Wish | None:
    """Money cannot go to a method that did not pay: back to where it came from, or a gift card."""
    order = visit.take("delivered")
    items = visit.items(order)[:1] if order else []
    if order is None or not items:
        return None
    paid = paid_with(visit, order)
    others = [m for m in other_methods(visit, order) if m["source"] != "gift_card"]
    if not others:
        return None
    card = visit.customer.gift_card
    second = card if card and visit.rng.random() < 0.5 else paid
    original = "the payment method you used for that order"
    text = visit.say(
        "You want to return {item} and have the money go to {first}. If that is not possible, you "
        "settle for {second}.",
        "You would like to send {item} back, with the refund to {first}; only if the shop cannot "
        "do that, it should go to {second}.",
        item=visit.items_name(order, items),
        first=method_name(visit, others[0]),
        second="your gift card" if second["source"] == "gift_card" else original,
    )
    reads = (*visit.found(order), visit.profile())
    return Wish(text, (*reads, returning(order, items, second)))


def exchange_for_other_product(visit: Visit) -> Wish | None:
    """An item cannot be exchanged for another product: send it back."""
    order = visit.take("delivered")
    items = visit.items(order)[:1] if order else []
    if order is None or not items:
        return None
    method, words = refund_choice(visit, order)
    text = visit.say(
        "You want to exchange {item} for a different kind of product, a {other}. If that cannot be "
        "done, you want to return the {thing}, with the refund to {method}.",
        "You would rather have a {other} and ask to have {item} exchanged for one. Should the shop "
        "not do that, you want to send the {thing} back and have the money go to {method}.",
        item=visit.items_name(order, items),
        thing=noun(items[0]),
        other=noun(_other_product(visit, items[0])),
        method=words,
    )
    reads = (*visit.found(order), visit.profile())
    return Wish(text, (*reads, returning(order, items, method)))


def second_choice(visit: Visit) -> Wish | None:
    """The first choice is not available: take another version, delivered or not."""
    order = visit.take("pending", "delivered")
    items = visit.items(order)[:1] if order else []
    missing = missing_version(visit, items[0]) if items else None
    replacement = other_version(visit, items[0]) if missing else None
    method = settling_method(visit, replacement.extra) if replacement else None
    if order is None or replacement is None or method is None:
        return None
    delivered = order["status"] == "delivered"
    text = visit.say(
        "You want to {verb} {item} for the same one but {first}. If there is none like that in "
        "stock, you want one that is exactly like the {thing} you ordered but {second}.",
        "You would like to {verb} {item}. Your first choice is one like it but {first}. If that "
        "cannot be had, your second choice is one exactly like the {thing} you ordered but "
        "{second}.",
        verb="exchange" if delivered else "swap",
        item=visit.items_name(order, items),
        thing=noun(replacement.item),
        first=str(missing),
        # Said in full: "the same" alone might mean the same as the first choice.
        second=changes_phrase(replacement.item["options"], replacement.variant["options"]),
    )
    change = exchanging if delivered else swapping
    actions = (
        *visit.found(order),
        look_up_product(replacement.item),
        visit.profile(),
        change(order, [replacement], method),
    )
    return Wish(f"{text} {settling_text(visit, method)}", actions)


def exchange_within_budget(visit: Visit) -> Wish | None:
    """Exchange an item if the better one does not cost too much more, else send it back."""
    order = visit.take("delivered")
    items = visit.items(order)[:1] if order else []
    replacement = other_version(visit, items[0]) if items else None
    if order is None or replacement is None or money.cents(replacement.extra) < 1200:
        return None
    affordable = visit.rng.random() < 0.5
    # Whole steps of five dollars, and never closer to the difference than two.
    extra = replacement.extra
    budget = int(extra + 2) // 5 * 5 + 5 if affordable else int(extra - 2) // 5 * 5
    paid = paid_with(visit, order)
    if not covers(paid, replacement.extra):
        return None
    text = visit.say(
        "You want to exchange {item} for {new}, but only if that costs you no more than ${budget} "
        "extra, paid with {method}. If it costs more than that, you want to return the {thing} "
        "instead, with the refund to {method}.",
        "You would like {new} in exchange for {item}, and you are ready to pay up to ${budget} on "
        "top with {method}. If the difference is larger, you want to send the {thing} back and "
        "have the money go to {method}.",
        item=visit.items_name(order, items),
        new=replacement.wording,
        thing=noun(items[0]),
        budget=str(budget),
        method=method_name(visit, paid),
    )
    outcome = (
        exchanging(order, [replacement], paid) if affordable else returning(order, items, paid)
    )
    reads = (*visit.found(order), look_up_product(replacement.item), visit.profile())
    return Wish(text, (*reads, outcome))


def whichever_is_pending(visit: Visit) -> Wish | None:
    """One of two orders can still be cancelled, and the customer does not know which."""
    order, other = visit.take("pending"), visit.take("processed", "delivered", "cancelled")
    if order is None or other is None:
        return None
    names = [visit.order_name(order), visit.order_name(other)]
    visit.rng.shuffle(names)
    text = visit.say(
        "You have lost track of {one} and {two}: one of them is still pending. You want that one "
        "cancelled, as you no longer need it, and the other left alone.",
        "Of {one} and {two}, you want the one cancelled that is still pending; you do not know "
        "which it is. You no longer need it.",
        one=names[0],
        two=names[1],
    )
    actions = (*visit.found(order), *visit.found(other), cancellation(order, NO_LONGER_NEEDED))
    return Wish(text, actions)


def _other_product(visit: Visit, item: Record) -> Record:
    # The sentence says "a": nothing that would need "an".
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


def then_a_person(visit: Visit) -> Wish | None:
    """A change that the tools can make, then a request that needs a person."""
    wish = visit.rng.choice(_FIRST)(visit)
    if wish is None:
        return None
    matter, summary = visit.rng.choice(_BEYOND_THE_DESK)
    text = visit.say(
        "Only when that is done, you bring up something else: you want to {matter}. If the agent "
        "cannot help with it, you ask to be put through to a person.",
        "After that has been taken care of, and not before, you say that you also want to "
        "{matter}. You are fine with being handed over to somebody who can help.",
        matter=matter,
    )
    handover = Action("transfer_to_human_agents", {"summary": f"The customer asks for {summary}."})
    return Wish(f"{wish.text} {text}", (*wish.actions, handover))
