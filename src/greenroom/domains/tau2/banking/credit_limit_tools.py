"""Discoverable tools for credit limits: requests, the payments behind them, decisions."""

from __future__ import annotations

from typing import Any

from greenroom.domains.tau2.banking.answers import (
    Answer,
    agent_tools,
    belongs,
    card_account_of,
    discoverable,
    dollars,
    fail,
    listing,
    need,
    number,
    plain_number,
)
from greenroom.domains.tau2.banking.tables import TODAY, add, hex_id, rows
from greenroom.domains.world import World

tools = agent_tools()

_OPEN_DISPUTE = ("SUBMITTED", "UNDER_REVIEW", "PENDING")
_OPEN_ORDER = ("PENDING", "PROCESSING", "SHIPPED")
_BAD_STANDING = ("PAST_DUE", "DELINQUENT", "COLLECTIONS", "CLOSED")


def _request_id(account_id: Any, user_id: Any, increase: float) -> str:
    return f"cli_{hex_id(f'cli_request:{account_id}:{user_id}:{increase:.2f}', 12)}"


@discoverable(tools, writes=True)
def submit_credit_limit_increase_request_7392(
    world: World, credit_card_account_id: Any, user_id: Any, requested_increase_amount: Any
) -> str:
    """Ask for a higher limit."""
    need(credit_card_account_id, user_id, requested_increase_amount is not None)
    complaint = "Invalid requested_increase_amount. Must be a whole number"
    asked = number(requested_increase_amount, f"{complaint}.")
    if not asked.is_integer():
        fail(f"{complaint} of dollars.")
    increase = int(asked)
    if increase <= 0:
        fail("Requested increase amount must be positive.")
    account = card_account_of(world, credit_card_account_id)
    belongs(account, "Credit card account", credit_card_account_id, user_id)
    request_id = _request_id(credit_card_account_id, user_id, increase)
    record = {
        "request_id": request_id,
        "credit_card_account_id": credit_card_account_id,
        "user_id": user_id,
        "requested_increase_amount": increase,
        "submitted_at": TODAY,
        "status": "PENDING",
    }
    if not add(world, "credit_limit_increase_requests", request_id, record):
        fail("A similar request may already exist.")
    return "Credit limit increase request submitted successfully.\n\n" + listing(
        "Executed: submit_credit_limit_increase_request_7392",
        ("Request ID", request_id),
        ("Account", credit_card_account_id),
        ("Requested Increase", f"${increase:,}"),
        ("Status", "PENDING"),
    )


@discoverable(tools)
def get_payment_history_6183(world: World, credit_card_account_id: Any, months: Any) -> str:
    """Show the latest payments of a card account."""
    need(
        credit_card_account_id,
        months is not None,
        text="Missing required parameters (credit_card_account_id, months).",
    )
    try:
        count = int(months)
    except (TypeError, ValueError):
        fail("Invalid months value. Must be a positive integer.")
    if count <= 0:
        fail("months must be a positive integer.")
    account_id = credit_card_account_id
    found = rows(world, "payment_history", "credit_card_account_id", account_id)
    if not found:
        raise Answer(f"No payment history found for account '{account_id}'.")
    # The original compares dates as texts.
    payments = [payment for _, payment in found]
    payments.sort(key=lambda payment: payment.get("payment_date") or "", reverse=True)
    shown = payments[:count]
    late = [place for place, payment in enumerate(shown) if payment.get("status") != "ON_TIME"]
    text = (
        f"Payment history for account '{account_id}' (last {count} months):\n"
        f"Consecutive on-time payments: {late[0] if late else len(shown)}"
    )
    return text + "".join(
        f"\n\n  - Payment Date: {payment.get('payment_date')}"
        f"\n    Amount: {payment.get('amount')}"
        f"\n    Status: {payment.get('status')}"
        for payment in shown
    )


@discoverable(tools, writes=True)
def approve_credit_limit_increase_5847(
    world: World, credit_card_account_id: Any, user_id: Any, new_credit_limit: Any
) -> str:
    """Raise a limit."""
    need(credit_card_account_id, user_id, new_credit_limit is not None)
    account = card_account_of(world, credit_card_account_id)
    belongs(account, "Credit card account", credit_card_account_id, user_id)
    disputes = rows(world, "transaction_disputes", "user_id", user_id)
    orders = rows(world, "credit_card_orders", "credit_card_account_id", credit_card_account_id)
    if (
        any(dispute.get("status") in _OPEN_DISPUTE for _, dispute in disputes)
        or any(order.get("status") in _OPEN_ORDER for _, order in orders)
        or account.get("account_status", "").upper() in _BAD_STANDING
    ):
        fail("Credit limit increase request cannot be approved at this time.")
    try:
        old = plain_number(str(account.get("credit_limit", "$0.00")))
    except ValueError:
        old = 0.0
    new = float(new_credit_limit)
    world["credit_card_accounts"][credit_card_account_id]["credit_limit"] = dollars(new)
    request_id = _request_id(credit_card_account_id, user_id, new - old)
    record = {
        "request_id": request_id,
        "credit_card_account_id": credit_card_account_id,
        "user_id": user_id,
        "previous_limit": dollars(old),
        "new_limit": dollars(new),
        "increase_amount": dollars(new - old),
        "decision_date": TODAY,
        "status": "APPROVED",
    }
    # A request for the same increase keeps its record.
    add(world, "credit_limit_increase_requests", request_id, record)
    return (
        listing(
            "Credit limit increase approved!",
            ("Account", credit_card_account_id),
            ("Previous Limit", dollars(old)),
            ("New Limit", dollars(new)),
            ("Increase", dollars(new - old)),
            ("Effective Date", TODAY),
        )
        + "\nThe customer will receive a confirmation email."
    )


@discoverable(tools, writes=True)
def deny_credit_limit_increase_5848(
    world: World, credit_card_account_id: Any, user_id: Any, denial_reason: Any
) -> str:
    """Refuse a higher limit."""
    need(credit_card_account_id, user_id, denial_reason)
    reasons = (
        "insufficient_account_age",
        "cooldown_period_active",
        "pending_disputes",
        "pending_replacement_card",
        "past_due_balance",
        "high_utilization",
        "insufficient_payment_history",
        "requested_amount_exceeds_limit",
        "other",
    )
    if denial_reason not in reasons:
        fail(f"Invalid denial_reason. Must be one of: {', '.join(reasons)}")
    card_account_of(world, credit_card_account_id)
    request_id = _request_id(credit_card_account_id, user_id, 0.0)
    record = {
        "request_id": request_id,
        "credit_card_account_id": credit_card_account_id,
        "user_id": user_id,
        "denial_reason": denial_reason,
        "decision_date": TODAY,
        "status": "DENIED",
    }
    add(world, "credit_limit_increase_requests", request_id, record)
    return (
        listing(
            "Credit limit increase request denied.",
            ("Account", credit_card_account_id),
            ("Denial Reason", denial_reason),
            ("Date", TODAY),
        )
        + "\nThe customer will receive a notification explaining the denial."
    )
