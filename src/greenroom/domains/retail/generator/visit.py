"""One customer's conversation: their wishes, how they refer to orders, and the lookups.

Builders draw wishes from a visit. They raise `Unsuitable` where the customer, the stock or the
wording would allow none, or more than one right outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from greenroom.domains.generation import Unsuitable, Wish, Wording, needed
from greenroom.domains.retail.generator.content import PLAIN
from greenroom.domains.retail.generator.shop import Customer, Shop
from greenroom.domains.tasks import Action
from greenroom.domains.world import Record


@dataclass
class Visit:
    """A customer in a conversation; every order has one wish at most."""

    rng: Random
    shop: Shop
    customer: Customer
    forgetful: bool
    """The customer names orders by their items instead of their numbers."""
    wording: Wording = PLAIN
    taken: list[str] = field(default_factory=list[str])

    def say(self, text: str, /, **words: str) -> str:
        """One of several ways to say something."""
        return self.wording.say(self.rng, text, **words)

    def take(self, *statuses: str) -> Record:
        """An unambiguous order in one of the states; it is taken from now on."""
        return self.take_each(statuses)[0]

    def take_each(self, *wanted: Sequence[str]) -> list[Record]:
        """For each of several sets of states, another order."""
        return [needed(order) for order in [self._take(statuses) for statuses in wanted]]

    def take_item(self, *statuses: str) -> tuple[Record, list[Record]]:
        """An order in one of the states, and a list of one of its items."""
        order = self.take(*statuses)
        return order, self.items(order)[:1]

    @property
    def last_taken(self) -> Record:
        """The order that was taken last."""
        return self.shop.tables["orders"][self.taken[-1]]

    def _take(self, statuses: Sequence[str]) -> Record | None:
        orders = [order for order in self.customer.orders if order["status"] in statuses]
        free = [order for order in orders if order["order_id"] not in self.taken]
        self.rng.shuffle(free)
        for order in free:
            if not self.forgetful or self._telling_items(order):
                self.taken.append(order["order_id"])
                return order
        return None

    def order_name(self, order: Record) -> str:
        """How the customer refers to an order that was taken."""
        if not self.forgetful:
            return self.say("order_by_number", number=order["order_id"])
        names = [noun(item) for item in self._telling_items(order)][:2]
        self.rng.shuffle(names)
        if len(names) == 2 and self.rng.random() < 0.5:
            return self.say("order_by_two_items", one=names[0], two=names[1])
        return self.say("order_by_item", one=names[0])

    def items(self, order: Record, fewest: int = 1) -> list[Record]:
        """The items of an order with unambiguous names, in random order."""
        items = self._telling_items(order) if self.forgetful else _sole_items(order)
        self.rng.shuffle(items)
        if len(items) < fewest:
            raise Unsuitable
        return items

    def items_name(self, order: Record, items: Sequence[Record]) -> str:
        """How the customer refers to items of an order."""
        names = enumeration([f"the {noun(item)}" for item in items])
        if not self.forgetful:
            return self.say("items_by_number", items=names, number=order["order_id"])
        return self.say("items_by_name", items=names, together=" together" * (len(items) > 1))

    def found(self, order: Record) -> tuple[Action, ...]:
        """The lookups that lead to an order: by its number, or through the profile's orders."""
        if not self.forgetful:
            return (look_up_order(order),)
        seen = self.customer.orders[: self.customer.orders.index(order) + 1]
        return (self.profile(), *(look_up_order(each) for each in seen))

    def profile(self) -> Action:
        """Looking up the customer's profile."""
        return Action("get_user_details", {"user_id": self.customer.user_id})

    def _telling_items(self, order: Record) -> list[Record]:
        # Items whose product occurs only once in all of the customer's orders.
        every = [item["product_id"] for each in self.customer.orders for item in each["items"]]
        return [item for item in order["items"] if every.count(item["product_id"]) == 1]


Builder = Callable[[Visit], Wish]
"""Draws a wish for a visit; raises Unsuitable if it does not fit the customer."""


def noun(item: Mapping[str, Any]) -> str:
    """A product's name within a sentence."""
    return item["name"].lower()


def enumeration(parts: Sequence[str]) -> str:
    """Parts of a sentence with commas and an "and"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def look_up_order(order: Record) -> Action:
    """Looking up an order."""
    return Action("get_order_details", {"order_id": order["order_id"]})


def look_up_product(item: Mapping[str, Any]) -> Action:
    """Looking up the product of an item."""
    return Action("get_product_details", {"product_id": item["product_id"]})


def change(tool: str, order: Record, **arguments: Any) -> Action:
    """Changing an order with a tool."""
    return Action(tool, {"order_id": order["order_id"], **arguments})


def calculation(expression: str) -> Action:
    """Working out a sum."""
    return Action("calculate", {"expression": expression})


def _sole_items(order: Record) -> list[Record]:
    products = [item["product_id"] for item in order["items"]]
    return [item for item in order["items"] if products.count(item["product_id"]) == 1]
