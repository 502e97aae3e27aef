"""Bills that calls create, and the dates on them. It is always 25 February 2025."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.domains.tau2.telecom.lookups import bills_of, customer_by_id

if TYPE_CHECKING:
    from greenroom.domains.world import Record, World

TODAY = "2025-02-25"
CYCLE_END = "2025-02-28"

MINTED = "bills minted"
"""Where a world's memory keeps how many ids of bills were made in this episode.

tau2 makes a random id. Here the n-th id of an episode is `B` and n as eight hexadecimal digits, so
that an episode can be replayed. A checker of recorded traces sets the number to begin after.
"""


def charge(world: World, customer_id: str, amount: float, description: str) -> None:
    """Put an amount on the customer's first draft bill; without one, start the next month's."""
    customer = customer_by_id(world, customer_id)
    drafts = (bill["bill_id"] for bill in bills_of(world, customer) if bill["status"] == "Draft")
    bill_id = next(drafts, None)
    if bill_id is None:
        bill_id = _new_id(world)
        _append(
            world,
            bill_id,
            customer_id,
            {
                "period_start": "2025-03-01",
                "period_end": "2025-03-31",
                "issue_date": "2025-03-01",
                "total_due": 0.0,
                "due_date": "2025-03-15",
                "line_items": [],
                "status": "Draft",
            },
        )
    bill = world["bills"][bill_id]
    bill["line_items"].append(_item(description, amount))
    bill["total_due"] += amount


def add_overdue_bill(
    world: World, customer_id: str, bill_id: str, line: Record, due: float
) -> None:
    """Add last month's bill for a line, overdue."""
    _append(
        world,
        bill_id,
        customer_id,
        {
            "period_start": "2025-01-01",
            "period_end": "2025-01-31",
            "issue_date": "2025-01-01",
            "total_due": due,
            "due_date": "2025-01-15",
            "line_items": [_item(f"Charge for line {line['line_id']}", due)],
            "status": "Overdue",
        },
    )


def _append(world: World, bill_id: str, customer_id: str, rest: Record) -> None:
    world["bills"][bill_id] = {"bill_id": bill_id, "customer_id": customer_id, **rest}
    world["customers"][customer_id]["bill_ids"].append(bill_id)


def _item(description: str, amount: float) -> Record:
    kind = "Credit" if amount < 0 else "Charge"
    # A line item is a record of its own in tau2: its amount becomes a float.
    item: dict[str, Any] = {"description": description, "amount": float(amount)}
    return item | {"date": TODAY, "item_type": kind}


def _new_id(world: World) -> str:
    bills = world["bills"]
    while True:
        world.memory[MINTED] = number = world.memory.get(MINTED, 0) + 1
        bill_id = f"B{number:08x}"
        if bill_id not in bills:
            return bill_id
