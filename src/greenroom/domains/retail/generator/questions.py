"""Questions, and wishes about the profile."""

from __future__ import annotations

from greenroom.domains.generation import Unsuitable, Wish, needed
from greenroom.domains.generation.people import make_address, spoken_address
from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.payments import order_total
from greenroom.domains.retail.generator.visit import (
    Visit,
    calculation,
    look_up_order,
    look_up_product,
    noun,
)
from greenroom.domains.retail.generator.wishes import readdressing
from greenroom.domains.tasks import Action
from greenroom.domains.world import Record

_ALL_PRODUCTS = Action("list_all_product_types")


def move_house(visit: Visit) -> Wish:
    """Change the default address."""
    address = make_address(visit.rng)
    text = visit.say("move_house", address=spoken_address(address))
    keep = visit.say("future_orders_only")
    return Wish(f"{text} {keep}", (visit.profile(), _moved(visit, address)))


def move_house_and_order(visit: Visit) -> Wish:
    """Change the default address and send a pending order there as well."""
    order = visit.take("pending")
    address = make_address(visit.rng)
    name, place = visit.order_name(order), spoken_address(address)
    text = visit.say("move_house_and_order", order=name, address=place)
    writes = (_moved(visit, address), readdressing(order, address))
    return Wish(text, (*visit.found(order), visit.profile(), *writes))


def ask_number_in_stock(visit: Visit) -> Wish:
    """How many versions of a product are in stock, if they are ten or more."""
    product = _product(visit)
    count = len(_prices(product))
    if count < 10:
        raise Unsuitable
    text = visit.say("ask_number_in_stock", product=noun(product))
    return Wish(text, (_ALL_PRODUCTS, look_up_product(product)), (str(count),))


def ask_extreme_price(visit: Visit) -> Wish:
    """The price of the cheapest or most expensive version in stock."""
    product = _product(visit)
    prices = _prices(product)
    cheapest = visit.rng.random() < 0.6
    if len(prices) < 2:
        raise Unsuitable
    price = needed(money.spoken((min if cheapest else max)(prices)))
    which = "cheapest" if cheapest else "most expensive"
    text = visit.say("ask_extreme_price", which=which, product=noun(product))
    return Wish(text, (_ALL_PRODUCTS, look_up_product(product)), (price,))


def ask_price_range(visit: Visit) -> Wish:
    """The price difference of the cheapest and most expensive version in stock."""
    product = _product(visit)
    prices = _prices(product)
    if len(prices) < 3:
        raise Unsuitable
    gap = needed(money.spoken(money.difference(max(prices), min(prices))))
    text = visit.say("ask_price_range", product=noun(product))
    sum_up = calculation(f"{max(prices)} - {min(prices)}")
    return Wish(text, (_ALL_PRODUCTS, look_up_product(product), sum_up), (gap,))


def ask_tracking(visit: Visit) -> Wish:
    """The tracking number of a parcel."""
    return tracked(visit, visit.take("processed", "delivered"), "ask_tracking")


def tracked(visit: Visit, order: Record, text: str) -> Wish:
    """The wish for the tracking number of an order, in the words of a text."""
    said = visit.say(text, order=visit.order_name(order))
    return Wish(said, visit.found(order), (order["fulfillments"][0]["tracking_id"][0],))


def ask_balance(visit: Visit) -> Wish:
    """The balance of the gift card."""
    balance = needed(money.spoken(needed(visit.customer.gift_card)["balance"]))
    return Wish(visit.say("ask_balance"), (visit.profile(),), (balance,))


def ask_pending_total(visit: Visit) -> Wish:
    """The total of all pending orders."""
    orders = [order for order in visit.customer.orders if order["status"] == "pending"]
    if len(orders) < 2:
        raise Unsuitable
    total = needed(money.spoken(money.total(order_total(order) for order in orders)))
    reads = (visit.profile(), *(look_up_order(order) for order in visit.customer.orders))
    sum_up = calculation(" + ".join(str(order_total(order)) for order in orders))
    return Wish(visit.say("ask_pending_total"), (*reads, sum_up), (total,))


def _moved(visit: Visit, address: Record) -> Action:
    return Action("modify_user_address", {"user_id": visit.customer.user_id, **address})


def _product(visit: Visit) -> Record:
    return visit.rng.choice(list(visit.shop.products.values()))


def _prices(product: Record) -> list[float]:
    # Of the versions in stock.
    return [each["price"] for each in product["variants"].values() if each["available"]]
