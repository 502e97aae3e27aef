"""tau2's airline domain: its 14 tools, and how it is played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.domains.airline.policy_checks import CHECKS
from greenroom.domains.packs import read_text
from greenroom.domains.tau2 import airline_flights, airline_reservations, shared_tools
from greenroom.domains.tau2.airline_records import FlightDB
from greenroom.domains.tau2.edition import tau2_edition
from greenroom.domains.tau2.hashing import hash_world
from greenroom.domains.tau2.packs import pack_loader
from greenroom.domains.tau2.records import data_merger, table_reader
from greenroom.domains.tools import Toolset, record_text
from greenroom.domains.world import World

if TYPE_CHECKING:
    from greenroom.domains.editions import Edition

tools = Toolset(owner="AirlineTools")
tools.include(airline_flights.tools)
tools.include(airline_reservations.tools)
tools.add(kind="generic", schema=False)(shared_tools.calculate)
tools.add(kind="generic", schema=False)(shared_tools.transfer_to_human_agents)


@tools.add(schema=False)
def get_reservation_details(world: World, reservation_id: Any) -> str:
    """Show a reservation."""
    refusal = f"Reservation {reservation_id} not found"
    return record_text(world["reservations"], reservation_id, refusal)


@tools.add(schema=False)
def get_user_details(world: World, user_id: Any) -> str:
    """Show a traveller's profile."""
    return record_text(world["users"], user_id, f"User {user_id} not found")


def airline_edition() -> Edition:
    """The rules of tau2's airline domain."""
    load = pack_loader(table_reader(FlightDB), policy=lambda root: read_text(root / "policy.md"))
    return tau2_edition(
        tools,
        load,
        merge=data_merger(FlightDB),
        hash_world=hash_world,
        policy_checks=CHECKS,
    )
