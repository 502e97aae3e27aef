"""The 16 retail tools: reading tools here, writing tools in `order_tools`."""

from __future__ import annotations

import json
from typing import Annotated, Any

from greenroom.domains import common_tools
from greenroom.domains.retail import order_tools
from greenroom.domains.retail.order_tools import (
    Address1,
    Address2,
    City,
    Country,
    OrderId,
    State,
    UserId,
    ZipCode,
    address_record,
)
from greenroom.domains.tools import Refused, Toolset, own_record, record_text
from greenroom.domains.world import Base, World

tools = Toolset()
tools.include(common_tools.tools)
tools.include(order_tools.tools)


@tools.add()
def find_user_id_by_email(
    world: World, email: Annotated[str, "The customer's email address."]
) -> str:
    """Find a customer's id by email address. Try this before the search by name."""
    found = world.base.derived(_Directory).by_email.get(email.lower())
    if found is None:
        raise Refused("user not found")
    return found


@tools.add()
def find_user_id_by_name_zip(
    world: World,
    first_name: Annotated[str, "The customer's first name."],
    last_name: Annotated[str, "The customer's last name."],
    zip: Annotated[str, "The postal code of the customer's default address."],  # noqa: A002
) -> str:
    """Find a customer's id by name and postal code, when the email address does not lead there."""
    users = world["users"]
    for user_id in world.base.derived(_Directory).by_first_name.get(first_name.lower(), ()):
        user = users.read(user_id)
        if user["name"]["last_name"].lower() == last_name.lower() and user["address"]["zip"] == zip:
            return user_id
    raise Refused("user not found")


@tools.add()
def get_user_details(world: World, user_id: UserId) -> str:
    """Show a customer's profile: name, address, payment methods and order ids."""
    return record_text(world["users"], user_id, "user not found")


@tools.add()
def get_order_details(world: World, order_id: OrderId) -> str:
    """Show an order: its status, items, address, payments and deliveries."""
    return record_text(world["orders"], order_id, "order not found")


@tools.add()
def get_product_details(
    world: World,
    product_id: Annotated[str, "The id of a product, which is not the id of one of its items."],
) -> str:
    """Show a product with all its items: options, price and whether each is in stock."""
    return record_text(world["products"], product_id, "product not found")


@tools.add()
def list_all_product_types(world: World) -> str:
    """List every product that the shop sells, by name, with its product id."""
    return world.base.derived(_Directory).products


@tools.add(writes=True)
def modify_user_address(
    world: World,
    user_id: UserId,
    address1: Address1,
    address2: Address2,
    city: City,
    state: State,
    country: Country,
    zip: ZipCode,  # noqa: A002
) -> str:
    """Replace a customer's default address, once they have confirmed the new one."""
    user = own_record(world["users"], user_id, "user not found")
    user["address"] = address_record(address1, address2, city, state, country, zip)
    return json.dumps(user)


class _Directory:
    """Search indexes, built once per base. No retail tool changes these fields."""

    def __init__(self, base: Base) -> None:
        self.by_email: dict[str, str] = {}
        self.by_first_name: dict[str, list[str]] = {}
        for user_id in base.ids("users"):
            user = base.record("users", user_id)
            self.by_email.setdefault(user["email"].lower(), user_id)
            self.by_first_name.setdefault(user["name"]["first_name"].lower(), []).append(user_id)
        products: list[dict[str, Any]] = [base.record("products", p) for p in base.ids("products")]
        self.products = json.dumps(
            dict(sorted({p["name"]: p["product_id"] for p in products}.items()))
        )
