"""The rule between the two worlds: what the phone sees of the carrier, and payments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from greenroom.domains.tau2.telecom.lookups import bills_of, look, look_for
from greenroom.domains.tau2.telecom.phone import look_around, surroundings_of
from greenroom.domains.tools import Refused

if TYPE_CHECKING:
    from greenroom.domains.world import Base, Record, World
    from greenroom.domains.worlds import Worlds


def sync(worlds: Worlds) -> None:
    """Bring both worlds in step; nothing happens until the user has a phone number.

    The phone itself does not react: its connection changes at its next network search.
    """
    carrier, user = worlds.agent, worlds.user
    if user is None:
        return
    surroundings = look_around(user)
    number = surroundings["phone_number"]
    if number is None:
        return
    if not user["surroundings"].touched():
        surroundings = surroundings_of(user)
    subscriber = _subscriber(carrier, number)
    line = carrier["lines"].touched().get(subscriber.line_id)
    seen = subscriber.seen if line is None else _seen(line, subscriber.limit)
    surroundings["line_active"] = seen.line_active
    surroundings["roaming_allowed"] = seen.roaming_allowed
    surroundings["mobile_data_usage_exceeded"] = seen.usage_exceeded
    request = surroundings["payment_request"]
    if request is not None and request["paid"]:
        look_for(carrier, "bills", request["bill_id"], "Bill")
        carrier["bills"][request["bill_id"]]["status"] = "Paid"
        request = surroundings["payment_request"] = None
    if request is None:
        surroundings["payment_request"] = _asked_for(carrier, subscriber.customer_id)


class _Seen(NamedTuple):
    """What a phone sees of its line."""

    line_active: bool
    roaming_allowed: bool
    usage_exceeded: bool


class _Subscriber(NamedTuple):
    """Who has a number. No call changes a number or a plan, or adds a line or a customer."""

    line_id: str
    customer_id: str
    limit: float
    """The data of the line's plan, in GB."""
    seen: _Seen
    """As long as the line is as in the base."""


def _seen(line: Record, limit: float) -> _Seen:
    return _Seen(
        line["status"] == "Active",
        bool(line["roaming_enabled"]),
        line["data_used_gb"] >= limit + line["data_refueling_gb"],
    )


def _subscribers(base: Base) -> dict[str, _Subscriber]:
    """Whoever has a number, found once for a base: the sync rule runs after every call."""
    records = {
        table: {key: base.record(table, key) for key in base.ids(table)}
        for table in ("plans", "customers", "lines")
    }
    lines, plans = records["lines"], records["plans"]
    owners: dict[str, str] = {}
    for key, customer in records["customers"].items():
        own = [lines[line]["phone_number"] for line in customer["line_ids"] if line in lines]
        for number in [customer["phone_number"], *own]:
            owners.setdefault(number, key)
    found: dict[str, _Subscriber] = {}
    for key, line in lines.items():
        number = line["phone_number"]
        if number in owners and line["plan_id"] in plans:
            limit = plans[line["plan_id"]]["data_limit_gb"]
            subscriber = _Subscriber(key, owners[number], limit, _seen(line, limit))
            found.setdefault(number, subscriber)
    return found


def _subscriber(carrier: World, number: Any) -> _Subscriber:
    subscribers = carrier.base.derived(_subscribers)
    if isinstance(number, str) and number in subscribers:
        return subscribers[number]
    raise Refused(f"Line with phone number {number} not found")


def _asked_for(carrier: World, customer_id: str) -> Record | None:
    # Hardly ever is there a bill to pay: do not look at all bills of the customer.
    own = carrier["bills"].touched().values()
    if not carrier.base.derived(_awaits) and not any(map(_awaits_payment, own)):
        return None
    for bill in bills_of(carrier, look(carrier, "customers", customer_id)):
        if _awaits_payment(bill):
            return {"bill_id": bill["bill_id"], "amount_due": bill["total_due"], "paid": False}
    return None


def _awaits_payment(bill: Record | None) -> bool:
    return bill is not None and bill["status"] == "Awaiting Payment"


def _awaits(base: Base) -> bool:
    return any(_awaits_payment(base.record("bills", key)) for key in base.ids("bills"))
