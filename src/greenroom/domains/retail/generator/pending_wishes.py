"""Wishes about orders that have not been sent yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.payments import (
    covers,
    method_name,
    order_total,
    other_methods,
    paid_with,
    settling_method,
    settling_text,
)
from greenroom.domains.retail.generator.places import make_address, spoken_address
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

NO_LONGER_NEEDED = "no longer needed"
BY_MISTAKE = "ordered by mistake"

_CANCEL_TEXTS = {
    NO_LONGER_NEEDED: (
        "You want to cancel {order} because you no longer need what is in it.",
        "You no longer need anything from {order}, so you want all of it cancelled.",
        "Your plans fell through and {order} is no longer needed: you want it cancelled.",
    ),
    BY_MISTAKE: (
        "You want to cancel {order}; you ordered it by mistake.",
        "You placed {order} by mistake and want it cancelled.",
        "Placing {order} was a mistake that you have just noticed. You want to cancel it.",
    ),
}


def cancellation(order: Record, reason: str) -> Action:
    """Cancelling an order."""
    return Action("cancel_pending_order", {"order_id": order["order_id"], "reason": reason})


def readdressed(order: Record, address: Record) -> Action:
    """Sending an order to another address."""
    return Action("modify_pending_order_address", {"order_id": order["order_id"], **address})


def swapping(order: Record, replacements: Sequence[Replacement], method: Record) -> Action:
    """Replacing items of a pending order."""
    return Action(
        "modify_pending_order_items",
        {
            "order_id": order["order_id"],
            "item_ids": [each.item["item_id"] for each in replacements],
            "new_item_ids": [each.variant["item_id"] for each in replacements],
            "payment_method_id": method["id"],
        },
    )


def cancel_order(visit: Visit) -> Wish | None:
    """Cancel a pending order."""
    order = visit.take("pending")
    if order is None:
        return None
    reason = visit.rng.choice((NO_LONGER_NEEDED, BY_MISTAKE))
    text = visit.say(*_CANCEL_TEXTS[reason], order=visit.order_name(order))
    return Wish(text, (*visit.found(order), cancellation(order, reason)))


def cancel_and_ask_refund(visit: Visit) -> Wish | None:
    """Cancel a pending order and hear how much comes back."""
    wish = cancel_order(visit)
    if wish is None:
        return None
    order = visit.shop.tables["orders"][visit.taken[-1]]
    refund = money.spoken(order_total(order))
    if refund is None:
        return None
    question = visit.say(
        "You want to be told the exact amount that you get back.",
        "Before it is done, you ask how much money will be refunded, to the cent.",
        "You also ask for the exact amount of the refund.",
    )
    return Wish(f"{wish.text} {question}", wish.actions, (refund,))


def cancel_onto_gift_card(visit: Visit) -> Wish | None:
    """Cancel an order that a gift card paid for, and hear the card's new balance."""
    order = visit.take("pending")
    if order is None or paid_with(visit, order)["source"] != "gift_card":
        return None
    balance, refund = paid_with(visit, order)["balance"], order_total(order)
    after = money.spoken(money.total((balance, refund)))
    if after is None:
        return None
    reason = visit.rng.choice((NO_LONGER_NEEDED, BY_MISTAKE))
    text = visit.say(*_CANCEL_TEXTS[reason], order=visit.order_name(order))
    question = visit.say(
        "You paid with your gift card and ask what its balance will be once the money is back.",
        "As you paid by gift card, you want to know the balance of the card after the refund.",
    )
    actions = (
        *visit.found(order),
        visit.profile(),
        calculation(f"{balance} + {refund}"),
        cancellation(order, reason),
    )
    return Wish(f"{text} {question}", actions, (after,))


def change_address(visit: Visit) -> Wish | None:
    """Send a pending order somewhere else."""
    order = visit.take("pending")
    if order is None:
        return None
    address = make_address(visit.rng)
    text = visit.say(
        "You want {order} to be delivered to {address} instead.",
        "{Order} has to go to another place: {address}.",
        "You will be staying with your sister, so {order} should be sent to {address}.",
        "You gave the wrong delivery address for {order}. The right one is {address}.",
        order=(name := visit.order_name(order)),
        Order=name[0].upper() + name[1:],
        address=spoken_address(address),
    )
    keep = visit.say(
        "That address is for this one order only.", "You need it there this one time only."
    )
    return Wish(f"{text} {keep}", (*visit.found(order), readdressed(order, address)))


def send_home(visit: Visit) -> Wish | None:
    """Send a pending order to the address in the profile."""
    order = visit.take("pending")
    home = visit.customer.profile["address"]
    if order is None or order["address"] == home:
        return None
    text = visit.say(
        "You had {order} addressed to somebody else, but now it should come to your home, the "
        "default address in your profile.",
        "You want {order} to go to the default address of your account and not to the address "
        "that you gave with it.",
        "{Order} is going to the wrong address. You want it sent to the default address in your "
        "profile instead.",
        order=(name := visit.order_name(order)),
        Order=name[0].upper() + name[1:],
    )
    return Wish(text, (*visit.found(order), visit.profile(), readdressed(order, home)))


def change_payment(visit: Visit) -> Wish | None:
    """Pay a pending order by another method."""
    order = visit.take("pending")
    if order is None:
        return None
    able = [m for m in other_methods(visit, order) if covers(m, order_total(order))]
    if not able:
        return None
    text = visit.say(
        "You want to pay for {order} with {method} instead of the way you chose at first.",
        "You would like the payment for {order} moved to {method}.",
        "You picked the wrong payment method for {order}; it should be {method}.",
        order=visit.order_name(order),
        method=method_name(visit, able[0]),
    )
    change = Action(
        "modify_pending_order_payment",
        {"order_id": order["order_id"], "payment_method_id": able[0]["id"]},
    )
    return Wish(text, (*visit.found(order), visit.profile(), change))


def swap_item(visit: Visit) -> Wish | None:
    """Change an item of a pending order to another version."""
    return _swap(visit, other_version)


def swap_for_extreme(visit: Visit) -> Wish | None:
    """Change an item of a pending order to the cheapest or dearest version of some sort."""
    return _swap(visit, extreme_version)


def _swap(visit: Visit, choose: Callable[[Visit, Record], Replacement | None]) -> Wish | None:
    order = visit.take("pending")
    items = visit.items(order) if order else []
    replacement = choose(visit, items[0]) if items else None
    method = settling_method(visit, replacement.extra) if replacement else None
    if order is None or replacement is None or method is None:
        return None
    text = visit.say(
        "You want to change {item} to {new}.",
        "You have had second thoughts about {item}: you would rather have {new}.",
        "Before it is sent, you want {item} replaced by {new}.",
        item=visit.items_name(order, items[:1]),
        new=replacement.wording,
    )
    actions = (
        *visit.found(order),
        look_up_product(replacement.item),
        visit.profile(),
        swapping(order, [replacement], method),
    )
    return Wish(f"{text} {settling_text(visit, method)}", actions)


def swap_two_items(visit: Visit) -> Wish | None:
    """Change two items of a pending order at once; no more, as the tool's sum is not rounded.

    A sum of two differences is the same in either order, of three it may not be.
    """
    order = visit.take("pending")
    items = visit.items(order)[:2] if order else []
    replacements = [r for r in (other_version(visit, item) for item in items) if r]
    if order is None or len(replacements) != 2:
        return None
    method = settling_method(visit, money.total(each.extra for each in replacements))
    if method is None:
        return None
    changes = ", and ".join(f"the {noun(each.item)} for {each.wording}" for each in replacements)
    text = visit.say(
        "There are two changes you want made to {order} before it is sent: swap {changes}.",
        "You want to change two things in {order}. You want to swap {changes}.",
        order=visit.order_name(order),
        changes=changes,
    )
    actions = (
        *visit.found(order),
        *(look_up_product(item) for item in items),
        visit.profile(),
        swapping(order, replacements, method),
    )
    return Wish(f"{text} {settling_text(visit, method)}", actions)


def readdress_and_swap(visit: Visit) -> Wish | None:
    """Change the address and an item of the same order, which only works in this sequence."""
    wish = swap_item(visit)
    if wish is None:
        return None
    order = visit.shop.tables["orders"][visit.taken[-1]]
    address = make_address(visit.rng)
    text = visit.say(
        "The same order should also be delivered to another address: {address}.",
        "You also want that order sent to {address} and not to the address it has now.",
        address=spoken_address(address),
    )
    *reads, swap = wish.actions
    return Wish(f"{wish.text} {text}", (*reads, readdressed(order, address), swap))
