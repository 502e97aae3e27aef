"""tau2's retail domain: its 16 tools, and how it is played."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from greenroom.domains.packs import read_text
from greenroom.domains.retail.policy_checks import CHECKS
from greenroom.domains.tau2 import retail_orders, shared_tools
from greenroom.domains.tau2.edition import tau2_edition
from greenroom.domains.tau2.hashing import hash_world
from greenroom.domains.tau2.packs import pack_loader
from greenroom.domains.tau2.records import data_merger, table_reader
from greenroom.domains.tau2.retail_orders import Catalogue
from greenroom.domains.tau2.retail_records import RetailDB
from greenroom.domains.tools import Refused, Toolset, record_text
from greenroom.domains.world import Base, World

if TYPE_CHECKING:
    from greenroom.domains.editions import Edition

tools = Toolset(owner="RetailTools")
tools.include(retail_orders.tools)
tools.add(kind="generic", schema=False)(shared_tools.calculate)
tools.add(kind="generic", schema=False)(shared_tools.transfer_to_human_agents)


@tools.add(schema=False)
def find_user_id_by_name_zip(world: World, first_name: Any, last_name: Any, zip: Any) -> str:  # noqa: A002
    """Find a customer's id by name and postal code."""
    users = world["users"]
    namesakes = world.base.derived(_Directory).by_first_name.get(first_name.lower(), ())
    for known_name, user_id in namesakes:
        if known_name == last_name.lower() and users.read(user_id)["address"]["zip"] == zip:
            return user_id
    raise Refused("User not found")


@tools.add(schema=False)
def find_user_id_by_email(world: World, email: Any) -> str:
    """Find a customer's id by email address."""
    found = world.base.derived(_Directory).by_email.get(email.lower())
    if found is None:
        raise Refused("User not found")
    return found


@tools.add(schema=False)
def get_order_details(world: World, order_id: Any) -> str:
    """Show an order."""
    return record_text(world["orders"], order_id, "Order not found")


@tools.add(schema=False)
def get_product_details(world: World, product_id: Any) -> str:
    """Show a product with all its items."""
    return record_text(world["products"], product_id, "Product not found")


@tools.add(schema=False)
def get_item_details(world: World, item_id: Any) -> str:
    """Show one item of a product."""
    found = world.base.derived(_Directory).items.get(item_id)
    if found is None:
        raise Refused("Item not found")
    return found


@tools.add(schema=False)
def get_user_details(world: World, user_id: Any) -> str:
    """Show a customer's profile."""
    return record_text(world["users"], user_id, "User not found")


@tools.add(schema=False)
def list_all_product_types(world: World) -> str:
    """List every product with its id."""
    return world.base.derived(_Directory).products


def retail_edition() -> Edition:
    """The rules of tau2's retail domain."""
    load = pack_loader(table_reader(RetailDB), policy=lambda root: read_text(root / "policy.md"))
    return tau2_edition(
        tools, load, merge=data_merger(RetailDB), hash_world=hash_world, policy_checks=CHECKS
    )


class _Directory:
    """Search indexes, built once per base. No tool changes these fields."""

    def __init__(self, base: Base) -> None:
        self.by_email: Final[dict[str, str]] = {}
        self.by_first_name: Final[dict[str, list[tuple[str, str]]]] = {}
        for user_id in base.ids("users"):
            user = base.record("users", user_id)
            self.by_email.setdefault(user["email"].lower(), user_id)
            first_name, last_name = (
                user["name"][part].lower() for part in ("first_name", "last_name")
            )
            self.by_first_name.setdefault(first_name, []).append((last_name, user_id))
        products = base.derived(Catalogue).products.values()
        self.items: Final[dict[str, str]] = {}
        for product in products:
            for item_id, variant in product["variants"].items():
                self.items.setdefault(item_id, json.dumps(variant))
        names = {product["name"]: product["product_id"] for product in products}
        self.products: Final = json.dumps(names, sort_keys=True)
