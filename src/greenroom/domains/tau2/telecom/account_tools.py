"""The agent's tools: customers, lines, bills and data of the carrier.

Arguments are used as they come, like in tau2. An unfit one gives Python's own error, and what was
changed before it stays changed.
"""

from __future__ import annotations

from typing import Annotated, Any

from greenroom.domains.tau2.rendering import tau2_text, whole
from greenroom.domains.tau2.telecom.billing import CYCLE_END, TODAY, charge
from greenroom.domains.tau2.telecom.lookups import (
    bills_of,
    customer_by_id,
    customer_by_phone,
    line_of_customer,
    look,
    look_for,
    own_line,
    plan_of,
)
from greenroom.domains.tools import Refused, Toolset
from greenroom.domains.world import World

agent_tools = Toolset(owner="TelecomTools", render=tau2_text)

CustomerId = Annotated[str, "The customer's id, such as C1001."]
LineId = Annotated[str, "The id of one of the customer's lines, such as L1001."]
AnyId = Annotated[str, "The id; its first letter says what it is."]

_KINDS = {
    "L": ("lines", "Line"),
    "D": ("devices", "Device"),
    "B": ("bills", "Bill"),
    "C": ("customers", "Customer"),
    "P": ("plans", "Plan"),
}


@agent_tools.add()
def get_customer_by_phone(
    world: World, phone_number: Annotated[str, "The number, written like 555-123-4567."]
) -> Any:
    """Find a customer by a phone number."""
    return whole(customer_by_phone(world, phone_number))


@agent_tools.add()
def get_customer_by_id(world: World, customer_id: CustomerId) -> Any:
    """Find a customer by id."""
    return whole(customer_by_id(world, customer_id))


@agent_tools.add()
def get_customer_by_name(
    world: World,
    full_name: Annotated[str, "First and last name."],
    dob: Annotated[str, "The date of birth as YYYY-MM-DD."],
) -> Any:
    """Find the customers with a name and a date of birth."""
    wanted = full_name.lower()
    customers = [look(world, "customers", key) for key in world["customers"]]
    return [
        whole(customer)
        for customer in customers
        if customer["full_name"].lower() == wanted and customer["date_of_birth"] == dob
    ]


@agent_tools.add()
def get_details_by_id(world: World, id: AnyId) -> Any:  # noqa: A002 - the name is tau2's
    """Find a line, device, bill, customer or plan by id."""
    for letter, (table, kind) in _KINDS.items():
        if id.startswith(letter):
            return whole(look_for(world, table, id, kind))
    raise Refused(f"Unknown ID format or type: {id}")


@agent_tools.add(writes=True)
def suspend_line(
    world: World,
    customer_id: CustomerId,
    line_id: LineId,
    reason: Annotated[str, "Why the line is suspended."],
) -> Any:
    """Suspend an active line."""
    line = own_line(world, customer_id, line_id)
    if line["status"] != "Active":
        raise Refused("Line must be active to suspend")
    line["status"] = "Suspended"
    line["suspension_start_date"] = TODAY
    message = "Line suspended successfully. $5/month holding fee will apply."
    return {"message": message, "line": whole(line)}


@agent_tools.add(writes=True)
def resume_line(world: World, customer_id: CustomerId, line_id: LineId) -> Any:
    """Make a suspended or new line active."""
    line = own_line(world, customer_id, line_id)
    if line["status"] not in ("Suspended", "Pending Activation"):
        raise Refused("Line must be suspended to resume")
    line["status"] = "Active"
    line["suspension_start_date"] = None
    return {"message": "Line resumed successfully", "line": whole(line)}


@agent_tools.add()
def get_bills_for_customer(
    world: World,
    customer_id: CustomerId,
    limit: Annotated[int, "How many bills to return at most."] = 12,
) -> Any:
    """The latest bills of a customer."""
    bills = bills_of(world, customer_by_id(world, customer_id))
    bills.sort(key=lambda bill: bill["issue_date"], reverse=True)
    return [whole(bill) for bill in bills[:limit]]


@agent_tools.add(writes=True)
def send_payment_request(
    world: World,
    customer_id: CustomerId,
    bill_id: Annotated[str, "The id of one of the customer's bills."],
) -> Any:
    """Ask a customer to pay a bill."""
    customer = customer_by_id(world, customer_id)
    if any(bill["status"] == "Awaiting Payment" for bill in bills_of(world, customer)):
        raise Refused("A bill is already awaiting payment for this customer")
    if bill_id not in customer["bill_ids"]:
        raise Refused(f"Bill {bill_id} not found for customer {customer_id}")
    world["bills"][bill_id]["status"] = "Awaiting Payment"
    return f"Payment request sent to the customer for bill {bill_id}"


@agent_tools.add()
def get_data_usage(world: World, customer_id: CustomerId, line_id: LineId) -> Any:
    """What a line has used of its data."""
    line = line_of_customer(world, customer_id, line_id)
    return {
        "line_id": line_id,
        "data_used_gb": line["data_used_gb"],
        "data_limit_gb": plan_of(world, line)["data_limit_gb"],
        "data_refueling_gb": line["data_refueling_gb"],
        "cycle_end_date": CYCLE_END,
    }


@agent_tools.add(writes=True)
def enable_roaming(world: World, customer_id: CustomerId, line_id: LineId) -> Any:
    """Allow a line to be used abroad."""
    line = own_line(world, customer_id, line_id)
    if line["roaming_enabled"]:
        return "Roaming was already enabled"
    line["roaming_enabled"] = True
    return "Roaming enabled successfully"


@agent_tools.add(writes=True)
def disable_roaming(world: World, customer_id: CustomerId, line_id: LineId) -> Any:
    """Forbid that a line is used abroad."""
    line = own_line(world, customer_id, line_id)
    if not line["roaming_enabled"]:
        return "Roaming was already disabled"
    line["roaming_enabled"] = False
    return "Roaming disabled successfully"


@agent_tools.add(kind="generic")
def transfer_to_human_agents(world: World, summary: Annotated[str, "What the user needs."]) -> Any:
    """Hand the user over to a person; the episode goes on."""
    return "Transfer successful"


@agent_tools.add(writes=True)
def refuel_data(
    world: World,
    customer_id: CustomerId,
    line_id: LineId,
    gb_amount: Annotated[float, "How much data to add, in GB."],
) -> Any:
    """Add data to a line and charge for it."""
    line = own_line(world, customer_id, line_id)
    if gb_amount <= 0:
        raise Refused("Refuel amount must be positive")
    price = plan_of(world, line)["data_refueling_price_per_gb"]
    amount = gb_amount * price
    line["data_refueling_gb"] += gb_amount
    charge(world, customer_id, amount, f"Data refueling: {gb_amount} GB at ${price}/GB")
    return {
        "message": f"Successfully added {gb_amount} GB of data for line {line_id} "
        f"for ${amount:.2f}",
        "new_data_refueling_gb": line["data_refueling_gb"],
        "charge": amount,
    }
