"""Questions, and wishes about the profile."""

from __future__ import annotations

from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.payments import order_total
from greenroom.domains.retail.generator.pending_wishes import readdressed
from greenroom.domains.retail.generator.places import make_address, spoken_address
from greenroom.domains.retail.generator.visit import (
    Visit,
    Wish,
    calculation,
    look_up_order,
    look_up_product,
    noun,
)
from greenroom.domains.tasks import Action
from greenroom.domains.world import Record

_ALL_PRODUCTS = Action("list_all_product_types")


def move_house(visit: Visit) -> Wish | None:
    """Change the default address."""
    address = make_address(visit.rng)
    text = visit.say(
        "You have moved and want your account to have your new default address: {address}.",
        "You want the default address of your account changed to {address}.",
        "Your new home is {address}. You want that to be the default address in your profile.",
        address=spoken_address(address),
    )
    keep = visit.say(
        "That is for future orders: none of your present ones should be sent there.",
        "None of the orders that you have placed already should go there.",
    )
    return Wish(f"{text} {keep}", (visit.profile(), _moved(visit, address)))


def move_house_and_order(visit: Visit) -> Wish | None:
    """Change the default address and send a pending order there as well."""
    order = visit.take("pending")
    if order is None:
        return None
    address = make_address(visit.rng)
    text = visit.say(
        "You have moved to {address}. You want this to be your default address, and {order} has "
        "to go there too.",
        "You want both your default address and the delivery address of {order} changed to "
        "{address}.",
        order=visit.order_name(order),
        address=spoken_address(address),
    )
    actions = (
        *visit.found(order),
        visit.profile(),
        _moved(visit, address),
        readdressed(order, address),
    )
    return Wish(text, actions)


def ask_number_in_stock(visit: Visit) -> Wish | None:
    """How many versions of a product are in stock, if they are ten or more."""
    product = _product(visit)
    count = len(_stock(product))
    if count < 10:
        return None
    text = visit.say(
        "You want to know how many different versions of the {product} are in stock right now.",
        "You are curious about the {product}: of how many versions is there stock at the moment? "
        "You want the number.",
        product=noun(product),
    )
    return Wish(text, (_ALL_PRODUCTS, look_up_product(product)), (str(count),))


def ask_extreme_price(visit: Visit) -> Wish | None:
    """The price of the cheapest or most expensive version in stock."""
    product = _product(visit)
    prices = [variant["price"] for variant in _stock(product)]
    cheapest = visit.rng.random() < 0.6
    price = money.spoken((min if cheapest else max)(prices)) if len(prices) > 1 else None
    if price is None:
        return None
    text = visit.say(
        "You want to know the price of the {which} {product} that is in stock.",
        "You ask what the {which} {product} in stock costs.",
        which="cheapest" if cheapest else "most expensive",
        product=noun(product),
    )
    return Wish(text, (_ALL_PRODUCTS, look_up_product(product)), (price,))


def ask_price_range(visit: Visit) -> Wish | None:
    """The price difference of the cheapest and most expensive version in stock."""
    product = _product(visit)
    prices = [variant["price"] for variant in _stock(product)]
    gap = money.spoken(money.difference(max(prices), min(prices))) if len(prices) > 2 else None
    if gap is None:
        return None
    text = visit.say(
        "You want to know by how much the most expensive {product} in stock and the cheapest one "
        "in stock differ in price.",
        "You ask for the price difference between the cheapest and the most expensive {product}, "
        "counting only what is in stock.",
        product=noun(product),
    )
    sum_up = calculation(f"{max(prices)} - {min(prices)}")
    return Wish(text, (_ALL_PRODUCTS, look_up_product(product), sum_up), (gap,))


def ask_tracking(visit: Visit) -> Wish | None:
    """The tracking number of a parcel."""
    order = visit.take("processed", "delivered")
    if order is None:
        return None
    text = visit.say(
        "You need the tracking number of {order}.",
        "You want to be given the tracking number for {order}.",
        order=visit.order_name(order),
    )
    return Wish(text, visit.found(order), (order["fulfillments"][0]["tracking_id"][0],))


def ask_balance(visit: Visit) -> Wish | None:
    """The balance of the gift card."""
    card = visit.customer.gift_card
    balance = money.spoken(card["balance"]) if card else None
    if balance is None:
        return None
    text = visit.say(
        "You ask how much is left on your gift card.",
        "You want to know the exact balance of your gift card.",
    )
    return Wish(text, (visit.profile(),), (balance,))


def ask_pending_total(visit: Visit) -> Wish | None:
    """The total of all pending orders."""
    orders = [order for order in visit.customer.orders if order["status"] == "pending"]
    total = money.spoken(money.total(order_total(order) for order in orders))
    if len(orders) < 2 or total is None:
        return None
    text = visit.say(
        "You want to know what all your orders that are still pending come to together.",
        "You ask for the combined total of all of your orders that are still pending.",
    )
    reads = (visit.profile(), *(look_up_order(order) for order in visit.customer.orders))
    sum_up = calculation(" + ".join(str(order_total(order)) for order in orders))
    return Wish(text, (*reads, sum_up), (total,))


def _moved(visit: Visit, address: Record) -> Action:
    return Action("modify_user_address", {"user_id": visit.customer.user_id, **address})


def _product(visit: Visit) -> Record:
    return visit.rng.choice(list(visit.shop.products.values()))


def _stock(product: Record) -> list[Record]:
    return [variant for variant in product["variants"].values() if variant["available"]]
