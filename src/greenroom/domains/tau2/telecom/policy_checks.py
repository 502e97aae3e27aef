"""What the carrier's policy forbids, and its tools let pass."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from greenroom.domains.policy_checks import Moment, PolicyCheck

_TODAY: Final = date(2025, 2, 25)
_MOST_GB: Final = 2


def bill_is_overdue(moment: Moment) -> str | None:
    """A payment is asked for where a bill is overdue."""
    if moment.action.name != "send_payment_request":
        return None
    bill = moment.record("bills", moment.action.kwargs["bill_id"])
    if bill is None or bill["status"] == "Overdue":
        return None
    return f"asks for the payment of {bill['bill_id']}, which is {bill['status']} and not overdue"


def line_may_be_resumed(moment: Moment) -> str | None:
    """A line stays suspended while a bill is overdue, or once its contract has ended."""
    if moment.action.name != "resume_line":
        return None
    line = moment.record("lines", moment.action.kwargs["line_id"])
    customer = moment.record("customers", moment.action.kwargs["customer_id"])
    if line is None or customer is None:
        return None
    ends = line.get("contract_end_date")
    if ends is not None and date.fromisoformat(str(ends)[:10]) < _TODAY:
        return f"resumes {line['line_id']}, whose contract ended on {ends}"
    bills = (moment.record("bills", one) for one in customer["bill_ids"])
    owed = [bill["bill_id"] for bill in bills if bill is not None and bill["status"] == "Overdue"]
    return f"resumes {line['line_id']}, while {owed[0]} is overdue" if owed else None


def refuel_is_small(moment: Moment) -> str | None:
    """At most two gigabytes are added to a line."""
    action = moment.action
    if action.name != "refuel_data" or action.kwargs["gb_amount"] <= _MOST_GB:
        return None
    return f"adds {action.kwargs['gb_amount']} GB, and at most {_MOST_GB} are allowed"


CHECKS: Final[tuple[PolicyCheck, ...]] = (bill_is_overdue, line_may_be_resumed, refuel_is_small)

__all__ = ["CHECKS"]
