"""The whole shop of a seed, and its customers with their orders at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from greenroom.domains.retail.generator.catalogue import make_products
from greenroom.domains.retail.generator.orders import ORDERS_PER_CUSTOMER, Weighted, make_orders
from greenroom.domains.retail.generator.people import make_users
from greenroom.domains.world import Record


@dataclass(frozen=True)
class Customer:
    """A customer's profile and orders."""

    user_id: str
    profile: Record
    orders: tuple[Record, ...]

    @property
    def methods(self) -> list[Record]:
        """The payment methods, in the order of the profile."""
        return list(self.profile["payment_methods"].values())

    @property
    def gift_card(self) -> Record | None:
        """The customer's only gift card, if there is one."""
        return next((m for m in self.methods if m["source"] == "gift_card"), None)


@dataclass(frozen=True)
class Shop:
    """The tables of the database, and the customers to draw from."""

    tables: Mapping[str, Mapping[str, Record]]
    customers: tuple[Customer, ...]

    @property
    def products(self) -> Mapping[str, Record]:
        """The products by id."""
        return self.tables["products"]

    def variants(self, product_id: str) -> list[Record]:
        """All versions of a product, in stock or not."""
        return list(self.products[product_id]["variants"].values())


def stream(seed: int, purpose: str) -> Random:
    """Random numbers of a seed for one purpose, so that one part can change without the others.

    The seed is a text, because -1 and 1 would be the same seed as numbers.
    """
    return Random(f"greenroom retail {seed} {purpose}")  # noqa: S311


def make_shop(seed: int, customers: int, orders: Weighted = ORDERS_PER_CUSTOMER) -> Shop:
    """The shop of a seed with this many customers, who have so many orders each."""
    products = make_products(stream(seed, "products"))
    users = make_users(stream(seed, "people"), customers)
    placed = make_orders(stream(seed, "orders"), users, products, orders)
    return Shop(
        tables={"users": users, "products": products, "orders": placed},
        customers=tuple(
            Customer(user_id, user, tuple(placed[order_id] for order_id in user["orders"]))
            for user_id, user in users.items()
        ),
    )
