"""Finding records of the carrier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.domains.tools import Refused

if TYPE_CHECKING:
    from greenroom.domains.world import Base, Record, World


def _records(base: Base) -> dict[str, dict[str, Record]]:
    return {
        table: {key: base.record(table, key) for key in base.ids(table)} for table in base.tables
    }


def look(world: World, table: str, key: str) -> Record:
    """A record that is only read: this world's own, or the one that all worlds share.

    Reading this way costs no decoding. To change a record, take `world[table][key]`.
    """
    own = world[table].touched().get(key)
    return world.base.derived(_records)[table][key] if own is None else own


def look_for(world: World, table: str, key: Any, kind: str) -> Record:
    """The same for any key; raises Refused if there is no such record."""
    # Only a text can be an id: lists and other values that cannot be keys are refused alike.
    if isinstance(key, str) and key in world[table]:
        return look(world, table, key)
    raise Refused(f"{kind} with ID {key} not found")


def customer_by_id(world: World, customer_id: Any) -> Record:
    """The customer with an id, for reading."""
    return look_for(world, "customers", customer_id, "Customer")


def customer_by_phone(world: World, phone_number: Any) -> Record:
    """The first customer who has the number, or a line that has it."""
    for customer_id in world["customers"]:
        customer = look(world, "customers", customer_id)
        if customer["phone_number"] == phone_number:
            return customer
        for line_id in customer["line_ids"]:
            if look_for(world, "lines", line_id, "Line")["phone_number"] == phone_number:
                return customer
    raise Refused(f"Customer with phone number {phone_number} not found")


def bills_of(world: World, customer: Record) -> list[Record]:
    """The bills of a customer, in the customer's order."""
    return [look_for(world, "bills", bill_id, "Bill") for bill_id in customer["bill_ids"]]


def line_of_customer(world: World, customer_id: Any, line_id: Any) -> Record:
    """A line that belongs to a customer, for reading."""
    _check_line(world, customer_id, line_id)
    return look(world, "lines", line_id)


def own_line(world: World, customer_id: Any, line_id: Any) -> Record:
    """A line that belongs to a customer, to be changed."""
    _check_line(world, customer_id, line_id)
    return world["lines"][line_id]


def _check_line(world: World, customer_id: Any, line_id: Any) -> None:
    if line_id not in customer_by_id(world, customer_id)["line_ids"]:
        raise Refused(f"Line {line_id} not found for customer {customer_id}")
    if line_id not in world["lines"]:
        raise Refused(f"Line with ID {line_id} not found")


def plan_of(world: World, line: Record) -> Record:
    """The plan of a line."""
    return look_for(world, "plans", line["plan_id"], "Plan")
