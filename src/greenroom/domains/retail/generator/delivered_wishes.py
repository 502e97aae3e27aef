"""Wishes about orders that have arrived: sending things back, or swapping them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.payments import (
    refund_choice,
    settling_method,
    settling_text,
)
from greenroom.domains.retail.generator.versions import (
    Replacement,
    extreme_version,
    other_version,
)
from greenroom.domains.retail.generator.visit import (
    Visit,
    Wish,
    calculation,
    look_up_product,
    noun,
)
from greenroom.domains.tasks import Action
from greenroom.domains.world import Record

_REASONS = (
    "The {thing} is not what you had hoped for.",
    "You got another {thing} as a present.",
    "The {thing} does not suit you after all.",
    "You find that you never use the {thing}.",
)
_REASONS_FOR_MANY = (
    "The trip that you bought them for was called off.",
    "These things are not what you had hoped for.",
    "You simply bought too much.",
)


def returning(order: Record, items: Sequence[Record], method: Record) -> Action:
    """Sending items of a delivered order back."""
    return Action(
        "return_delivered_order_items",
        {
            "order_id": order["order_id"],
            "item_ids": [item["item_id"] for item in items],
            "payment_method_id": method["id"],
        },
    )


def exchanging(order: Record, replacements: Sequence[Replacement], method: Record) -> Action:
    """Exchanging items of a delivered order."""
    return Action(
        "exchange_delivered_order_items",
        {
            "order_id": order["order_id"],
            "item_ids": [each.item["item_id"] for each in replacements],
            "new_item_ids": [each.variant["item_id"] for each in replacements],
            "payment_method_id": method["id"],
        },
    )


def adding_up(items: Sequence[Record]) -> tuple[Action, ...]:
    """Working out what items cost together, where there is something to add."""
    prices = [str(item["price"]) for item in items]
    return (calculation(" + ".join(prices)),) if len(prices) > 1 else ()


def return_item(visit: Visit) -> Wish | None:
    """Send one item back."""
    order = visit.take("delivered")
    items = visit.items(order)[:1] if order else []
    if order is None or not items:
        return None
    method, words = refund_choice(visit, order)
    text = visit.say(
        "You want to return {items}, with the refund to {method}.",
        "You are not keeping {items}: you want to send it back and have the money go to {method}.",
        "You would like to give {items} back. The money should go to {method}.",
        items=visit.items_name(order, items),
        method=words,
    )
    reason = visit.say(*_REASONS, thing=noun(items[0]))
    reads = (*visit.found(order), visit.profile())
    return Wish(f"{text} {reason}", (*reads, returning(order, items, method)))


def return_some_and_ask(visit: Visit) -> Wish | None:
    """Send two or three items of an order back and hear how much that comes to."""
    order = visit.take("delivered")
    items = visit.items(order)[:3] if order else []
    if order is None or len(items) < 2:
        return None
    if len(items) == len(order["items"]) and len(items) > 2:
        items = items[:2]
    refund = money.spoken(money.total(item["price"] for item in items))
    if refund is None:
        return None
    method, words = refund_choice(visit, order)
    text = visit.say(
        "You want to return {items} and have the money sent to {method}. You need to know the "
        "exact refund for them together.",
        "You are sending back {items}. You want the refund to go to {method} and ask what it comes "
        "to in total.",
        items=visit.items_name(order, items),
        method=words,
    )
    reason = visit.rng.choice(_REASONS_FOR_MANY)
    reads = (*visit.found(order), visit.profile(), *adding_up(items))
    return Wish(f"{text} {reason}", (*reads, returning(order, items, method)), (refund,))


def return_everything(visit: Visit) -> Wish | None:
    """Send a whole order back."""
    order = visit.take("delivered")
    if order is None or len(order["items"]) < 2:
        return None
    method, words = refund_choice(visit, order)
    text = visit.say(
        "You want to return everything in {order}, with the refund to {method}.",
        "You are unhappy with all of {order} and want to send every item of it back. The money "
        "should go to {method}.",
        "Nothing from {order} is of any use to you: you want to return all of it and have "
        "the money go to {method}.",
        order=visit.order_name(order),
        method=words,
    )
    reads = (*visit.found(order), visit.profile())
    return Wish(text, (*reads, returning(order, order["items"], method)))


def exchange_item(visit: Visit) -> Wish | None:
    """Exchange one item for another version."""
    return _exchange(visit, other_version)


def exchange_for_extreme(visit: Visit) -> Wish | None:
    """Exchange one item for the cheapest or dearest version of some sort."""
    return _exchange(visit, extreme_version)


def exchange_and_ask(visit: Visit) -> Wish | None:
    """Exchange one item and hear the price difference."""
    order = visit.take("delivered")
    items = visit.items(order)[:1] if order else []
    replacement = other_version(visit, items[0]) if items else None
    method = settling_method(visit, replacement.extra) if replacement else None
    gap = money.spoken(abs(replacement.extra)) if replacement else None
    if order is None or replacement is None or method is None or gap is None:
        return None
    text = visit.say(
        "You want to exchange {item} for {new}, and you ask for the exact price difference "
        "between the two.",
        "You would like to swap {item} for {new}. You insist on hearing by how much the prices "
        "differ, to the cent.",
        item=visit.items_name(order, items),
        new=replacement.wording,
    )
    actions = (
        *visit.found(order),
        look_up_product(replacement.item),
        visit.profile(),
        calculation(f"{replacement.variant['price']} - {replacement.item['price']}"),
        exchanging(order, [replacement], method),
    )
    return Wish(f"{text} {settling_text(visit, method)}", actions, (gap,))


def exchange_two_items(visit: Visit) -> Wish | None:
    """Exchange two items of an order, which has to happen at once."""
    order = visit.take("delivered")
    items = visit.items(order)[:2] if order else []
    replacements = [r for r in (other_version(visit, item) for item in items) if r]
    if order is None or len(replacements) != 2:
        return None
    method = settling_method(visit, money.total(each.extra for each in replacements))
    if method is None:
        return None
    changes = ", and ".join(f"the {noun(each.item)} for {each.wording}" for each in replacements)
    text = visit.say(
        "You want to exchange two things from {order}: {changes}.",
        "Two things from {order} are not right. You want to exchange {changes}.",
        order=visit.order_name(order),
        changes=changes,
    )
    actions = (
        *visit.found(order),
        *(look_up_product(item) for item in items),
        visit.profile(),
        exchanging(order, replacements, method),
    )
    return Wish(f"{text} {settling_text(visit, method)}", actions)


def _exchange(visit: Visit, choose: Callable[[Visit, Record], Replacement | None]) -> Wish | None:
    order = visit.take("delivered")
    items = visit.items(order)[:1] if order else []
    replacement = choose(visit, items[0]) if items else None
    method = settling_method(visit, replacement.extra) if replacement else None
    if order is None or replacement is None or method is None:
        return None
    text = visit.say(
        "You want to exchange {item} for {new}.",
        "You have tried out {item} and would rather have {new}. You want an exchange.",
        "You would like an exchange: you have {item} and want {new}.",
        item=visit.items_name(order, items),
        new=replacement.wording,
    )
    actions = (
        *visit.found(order),
        look_up_product(replacement.item),
        visit.profile(),
        exchanging(order, [replacement], method),
    )
    return Wish(f"{text} {settling_text(visit, method)}", actions)
