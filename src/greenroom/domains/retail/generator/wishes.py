"""Wishes about orders that have not been sent yet, and about orders that have arrived."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from greenroom.domains.generation import Unsuitable, Wish, needed
from greenroom.domains.generation.people import make_address, spoken_address
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
from greenroom.domains.retail.generator.versions import (
    Replacement,
    extreme_version,
    other_version,
)
from greenroom.domains.retail.generator.visit import (
    Visit,
    calculation,
    change,
    look_up_product,
    noun,
)
from greenroom.domains.retail.order_tools import CANCEL_REASONS
from greenroom.domains.tasks import Action
from greenroom.domains.world import Record

NO_LONGER_NEEDED, BY_MISTAKE = CANCEL_REASONS
_CANCEL_TEXTS = {NO_LONGER_NEEDED: "cancel_unneeded", BY_MISTAKE: "cancel_mistaken"}
_REPLACING_TOOLS = {
    "pending": "modify_pending_order_items",
    "delivered": "exchange_delivered_order_items",
}


def cancelling(order: Record, reason: str = NO_LONGER_NEEDED) -> Action:
    """Cancelling an order."""
    return change("cancel_pending_order", order, reason=reason)


def paying(order: Record, method: Record) -> Action:
    """Paying an order by another method."""
    return change("modify_pending_order_payment", order, payment_method_id=method["id"])


def readdressing(order: Record, address: Record) -> Action:
    """Sending an order to another address."""
    return change("modify_pending_order_address", order, **address)


def returning(order: Record, items: Sequence[Record], method: Record) -> Action:
    """Sending items of a delivered order back."""
    item_ids = [item["item_id"] for item in items]
    method_id = method["id"]
    return change(
        "return_delivered_order_items", order, item_ids=item_ids, payment_method_id=method_id
    )


def replacing(order: Record, replacements: Sequence[Replacement], method: Record) -> Action:
    """Replacing items of an order by others of the same products."""
    return change(
        _REPLACING_TOOLS[order["status"]],
        order,
        item_ids=[each.item["item_id"] for each in replacements],
        new_item_ids=[each.variant["item_id"] for each in replacements],
        payment_method_id=method["id"],
    )


def cancel_order(visit: Visit) -> Wish:
    """Cancel a pending order."""
    order = visit.take("pending")
    reason = visit.rng.choice(CANCEL_REASONS)
    text = visit.say(_CANCEL_TEXTS[reason], order=visit.order_name(order))
    return Wish(text, (*visit.found(order), cancelling(order, reason)))


def cancel_and_ask_refund(visit: Visit) -> Wish:
    """Cancel a pending order and hear how much comes back."""
    wish = cancel_order(visit)
    refund = needed(money.spoken(order_total(visit.last_taken)))
    return Wish(f"{wish.text} {visit.say('ask_refund')}", wish.actions, (refund,))


def cancel_onto_gift_card(visit: Visit) -> Wish:
    """Cancel an order that a gift card paid for, and hear the card's new balance."""
    order = visit.take("pending")
    if paid_with(visit, order)["source"] != "gift_card":
        raise Unsuitable
    balance, refund = paid_with(visit, order)["balance"], order_total(order)
    after = needed(money.spoken(money.total((balance, refund))))
    reason = visit.rng.choice(CANCEL_REASONS)
    text = visit.say(_CANCEL_TEXTS[reason], order=visit.order_name(order))
    reads = (*visit.found(order), visit.profile(), calculation(f"{balance} + {refund}"))
    actions = (*reads, cancelling(order, reason))
    return Wish(f"{text} {visit.say('ask_new_balance')}", actions, (after,))


def change_address(visit: Visit) -> Wish:
    """Send a pending order somewhere else."""
    order = visit.take("pending")
    address = make_address(visit.rng)
    text = visit.say(
        "change_address", order=visit.order_name(order), address=spoken_address(address)
    )
    actions = (*visit.found(order), readdressing(order, address))
    return Wish(f"{_sentence(text)} {visit.say('this_order_only')}", actions)


def send_home(visit: Visit) -> Wish:
    """Send a pending order to the address in the profile."""
    order = visit.take("pending")
    home = visit.customer.profile["address"]
    if order["address"] == home:
        raise Unsuitable
    text = _sentence(visit.say("send_home", order=visit.order_name(order)))
    return Wish(text, (*visit.found(order), visit.profile(), readdressing(order, home)))


def _sentence(text: str) -> str:
    # A sentence may begin with the name of an order.
    return text[0].upper() + text[1:]


def change_payment(visit: Visit) -> Wish:
    """Pay a pending order by another method."""
    order = visit.take("pending")
    able = [m for m in other_methods(visit, order) if covers(m, order_total(order))]
    if not able:
        raise Unsuitable
    text = visit.say(
        "change_payment", order=visit.order_name(order), method=method_name(visit, able[0])
    )
    return Wish(text, (*visit.found(order), visit.profile(), paying(order, able[0])))


def readdress_and_swap(visit: Visit) -> Wish:
    """Change the address and an item of the same order, which only works in this sequence."""
    wish = swap_item(visit)
    address = make_address(visit.rng)
    text = visit.say("readdress_too", address=spoken_address(address))
    *reads, swap = wish.actions
    actions = (*reads, readdressing(visit.last_taken, address), swap)
    return Wish(f"{wish.text} {text}", actions)


def readdress_and_repay(visit: Visit) -> Wish:
    """Change the payment and the address of the same order."""
    wish = change_payment(visit)
    address = make_address(visit.rng)
    text = visit.say("readdress_too", address=spoken_address(address))
    return Wish(f"{wish.text} {text}", (*wish.actions, readdressing(visit.last_taken, address)))


def return_item(visit: Visit) -> Wish:
    """Send one item back."""
    order, items = visit.take_item("delivered")
    method, words = refund_choice(visit, order)
    text = visit.say("return_item", items=visit.items_name(order, items), method=words)
    reason = visit.say("reason_to_return", thing=noun(items[0]))
    reads = (*visit.found(order), visit.profile())
    return Wish(f"{text} {reason}", (*reads, returning(order, items, method)))


def return_some_and_ask(visit: Visit) -> Wish:
    """Send two or three items of an order back and hear how much that comes to."""
    order = visit.take("delivered")
    items = visit.items(order, fewest=2)[:3]
    if len(items) == len(order["items"]):
        items = items[:2]
    refund = needed(money.spoken(money.total(item["price"] for item in items)))
    method, words = refund_choice(visit, order)
    text = visit.say("return_some_and_ask", items=visit.items_name(order, items), method=words)
    reason = visit.say("reason_to_return_many")
    adding_up = calculation(" + ".join(str(item["price"]) for item in items))
    reads = (*visit.found(order), visit.profile(), adding_up)
    return Wish(f"{text} {reason}", (*reads, returning(order, items, method)), (refund,))


def return_everything(visit: Visit) -> Wish:
    """Send a whole order back."""
    order = visit.take("delivered")
    if len(order["items"]) < 2:
        raise Unsuitable
    return returned_whole(visit, order, "return_everything")


def returned_whole(visit: Visit, order: Record, text: str) -> Wish:
    """The wish to send a whole order back, in the words of a text."""
    method, words = refund_choice(visit, order)
    said = visit.say(text, order=visit.order_name(order), method=words)
    reads = (*visit.found(order), visit.profile())
    return Wish(said, (*reads, returning(order, order["items"], method)))


Choice = Callable[[Visit, Record], Replacement | None]


def _replace_item(visit: Visit, status: str, choose: Choice, text: str) -> Wish:
    order, items = visit.take_item(status)
    new = needed(choose(visit, items[0]))
    method = settling_method(visit, [new])
    said = visit.say(text, item=visit.items_name(order, items), new=new.wording)
    return settled(visit, said, order, [new], method)


def swap_item(visit: Visit) -> Wish:
    """Change an item of a pending order to another version."""
    return _replace_item(visit, "pending", other_version, "swap_item")


def swap_for_extreme(visit: Visit) -> Wish:
    """Change an item of a pending order to the cheapest or dearest version of some sort."""
    return _replace_item(visit, "pending", extreme_version, "swap_item")


def exchange_item(visit: Visit) -> Wish:
    """Exchange one item for another version."""
    return _replace_item(visit, "delivered", other_version, "exchange_item")


def exchange_for_extreme(visit: Visit) -> Wish:
    """Exchange one item for the cheapest or dearest version of some sort."""
    return _replace_item(visit, "delivered", extreme_version, "exchange_item")


def exchange_and_ask(visit: Visit) -> Wish:
    """Exchange one item and hear the price difference."""
    order, items = visit.take_item("delivered")
    new = needed(other_version(visit, items[0]))
    method = settling_method(visit, [new])
    gap = needed(money.spoken(abs(new.extra)))
    item = visit.items_name(order, items)
    text = visit.say("exchange_and_ask", item=item, new=new.wording)
    wish = settled(visit, text, order, [new], method)
    *reads, exchange = wish.actions
    sum_up = calculation(f"{new.variant['price']} - {new.item['price']}")
    return Wish(wish.text, (*reads, sum_up, exchange), (gap,))


def _replace_two_items(visit: Visit, status: str, text: str) -> Wish:
    order = visit.take(status)
    items = visit.items(order)[:2]
    found = [other_version(visit, item) for item in items]
    replacements = [needed(each) for each in found]
    if len(replacements) < 2:
        raise Unsuitable
    method = settling_method(visit, replacements)
    changes = ", and ".join(f"the {noun(each.item)} for {each.wording}" for each in replacements)
    said = visit.say(text, order=visit.order_name(order), changes=changes)
    return settled(visit, said, order, replacements, method)


def swap_two_items(visit: Visit) -> Wish:
    """Change two items of a pending order at once; no more, as the tool's sum is not rounded.

    A sum of two differences is the same in either order, of three it may not be.
    """
    return _replace_two_items(visit, "pending", "swap_two_items")


def exchange_two_items(visit: Visit) -> Wish:
    """Exchange two items of an order, which has to happen at once."""
    return _replace_two_items(visit, "delivered", "exchange_two_items")


def settled(
    visit: Visit, text: str, order: Record, replacements: Sequence[Replacement], method: Record
) -> Wish:
    """The wish to replace items of an order, where a method settles the price difference."""
    actions = (
        *visit.found(order),
        *(look_up_product(each.item) for each in replacements),
        visit.profile(),
        replacing(order, replacements, method),
    )
    settling = visit.say("settle_difference", method=method_name(visit, method))
    return Wish(f"{text} {settling}", actions)
