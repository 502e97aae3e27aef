"""Discoverable tools for bank accounts: opening, closing, transfers, credits, interest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from greenroom.domains.tau2.banking.answers import (
    Answer,
    account_of,
    agent_tools,
    balance_of,
    days_since,
    discoverable,
    dollars,
    fail,
    listing,
    need,
    number,
    one_of,
    row,
)
from greenroom.domains.tau2.banking.tables import TODAY, add, hex_id, rows
from greenroom.domains.world import Record, World

tools = agent_tools()

_OPEN: Final = ("ACTIVE", "OPEN")
_PERSONAL_CHECKING: Final = ("checking", "personal_checking")

_EARLY_CLOSURE: Final = {
    "checking": {
        (15, 30): ("Light Blue", "Light Green", "Green Fee-Free"),
        (25, 60): ("Blue", "Green"),
        (50, 90): ("Evergreen",),
        (100, 180): ("Bluest",),
    },
    # The data writes "saving", so these never apply.
    "savings": {
        (20, 60): ("Bronze",),
        (35, 90): ("Silver", "Silver Plus"),
        (75, 180): ("Gold", "Gold Plus", "Gold Years"),
        (150, 270): ("Platinum", "Platinum Plus", "Diamond Elite"),
    },
}
_EARLY_CLOSURE_FEES: Final = {
    (account_class, f"{level} Account"): fee_and_days
    for account_class, fees in _EARLY_CLOSURE.items()
    for fee_and_days, levels in fees.items()
    for level in levels
}
"""The fee, and for how many days it is due, by an account's class and level."""


def _type_of(account: Record) -> Any:
    return account.get("account_type", account.get("class", ""))


def _age_of(account: Record) -> int:
    try:
        return days_since(account.get("date_opened", ""))
    except ValueError:
        return 0


def _is_eligible(account_type: str, accounts: Sequence[Record]) -> bool:
    """Whether a customer with these accounts may open one of a type."""
    usable = [account for account in accounts if account.get("status", "") in _OPEN]
    personal = [account for account in usable if _type_of(account) in _PERSONAL_CHECKING]
    if account_type == "savings":
        return any(_age_of(account) >= 14 for account in personal)
    if account_type == "business_checking":
        closed = any(account.get("status") == "CLOSED" for account in accounts)
        return bool(personal) and not closed
    if account_type == "business_savings":
        business = [account for account in usable if _type_of(account) == "business_checking"]
        overdrawn = any(balance_of(account) < 0 for account in accounts)
        return not overdrawn and any(_age_of(account) >= 30 for account in business)
    return True


@discoverable(tools, writes=True)
def open_bank_account_4821(
    world: World, user_id: Any, account_type: Any, account_class: Any
) -> str:
    """Open an account; it has neither class nor level, so some tools refuse it."""
    need(user_id, account_type, account_class)
    types = ("checking", "savings", "business_checking", "business_savings")
    one_of("account_type", account_type, types)
    owned = [account for _, account in rows(world, "accounts", "user_id", user_id)]
    if not _is_eligible(account_type, owned):
        fail("Account eligibility requirements not met.")
    account_id = hex_id(f"account:{user_id}:{account_type}:{account_class}")
    record = {
        "account_id": account_id,
        "user_id": user_id,
        "account_type": account_type,
        "account_class": account_class,
        "current_holdings": "0.00",
        "status": "OPEN",
        "date_opened": TODAY,
    }
    if not add(world, "accounts", account_id, record):
        raise Answer(f"Failed to open account: Account ID '{account_id}' may already exist.")
    return listing(
        "Bank account opened successfully!",
        ("Account ID", account_id),
        ("User ID", user_id),
        ("Account Type", account_type),
        ("Account Class", account_class),
        ("Status", "OPEN"),
        ("Initial Balance", "$0.00"),
        ("Date Opened", TODAY),
    )


@discoverable(tools, writes=True)
def close_bank_account_7392(
    world: World,
    account_id: Any,
    reason: Any = "Customer requested closure",
    waive_early_closure_fee: Any = False,
) -> str:
    """Close an empty account; a fee for early closure may use up what is left."""
    need(account_id, text="Missing required parameter (account_id).")
    account = account_of(world, account_id)
    if account.get("status") == "CLOSED":
        fail(f"Account '{account_id}' is already closed.")
    held = balance_of(account)
    fee = 0 if waive_early_closure_fee else _early_closure_fee(account)
    if fee and held < fee:
        fail("Account unable to be closed.")
    if held - fee != 0:
        fail(f"Account balance must be $0.00 before closing. Current balance: {dollars(held)}")
    world["accounts"][account_id].update(
        status="CLOSED",
        date_closed=TODAY,
        closure_reason=reason,
        early_closure_fee_waived=waive_early_closure_fee,
    )
    return listing(
        "Bank account closed successfully!",
        ("Account ID", account_id),
        ("Account Type", account.get("account_type", "N/A")),
        ("Account Class", account.get("account_class", "N/A")),
        ("Status", "CLOSED"),
        ("Date Closed", TODAY),
        ("Reason", reason),
        ("Early Closure Fee Waived", "Yes" if waive_early_closure_fee else "No"),
    )


def _early_closure_fee(account: Record) -> int:
    known = _EARLY_CLOSURE_FEES.get((account.get("class", ""), account.get("level", "")))
    if known is None or not account.get("date_opened"):
        return 0
    fee, days = known
    try:
        return fee if days_since(account["date_opened"]) < days else 0
    except ValueError:
        return 0


@discoverable(tools, writes=True)
def transfer_funds_between_bank_accounts_7291(
    world: World, source_account_id: Any, destination_account_id: Any, amount: Any
) -> str:
    """Move money from one account to another."""
    source_id, destination_id = source_account_id, destination_account_id
    need(
        source_id,
        destination_id,
        amount is not None,
        text="Missing required parameters (source_account_id, destination_account_id, amount).",
    )
    moved = number(amount, f"Invalid amount '{amount}'. Must be a number.")
    if moved <= 0:
        fail("Transfer amount must be positive.")
    if source_id == destination_id:
        fail("Source and destination accounts cannot be the same.")
    source = row(world, "accounts", source_id, f"Source account '{source_id}' not found.")
    missing = f"Destination account '{destination_id}' not found."
    destination = row(world, "accounts", destination_id, missing)
    if source.get("status") not in _OPEN:
        fail(f"Source account '{source_id}' is not active.")
    if destination.get("status") not in _OPEN:
        fail(f"Destination account '{destination_id}' is not active.")
    held = balance_of(source)
    if held < moved:
        fail(
            f"Insufficient funds. Source account balance is {dollars(held)}, "
            f"but transfer amount is {dollars(moved)}."
        )
    left, now = dollars(held - moved), dollars(balance_of(destination) + moved)
    world["accounts"][source_id]["current_holdings"] = left
    world["accounts"][destination_id]["current_holdings"] = now
    return listing(
        "Transfer completed successfully!",
        ("Amount", dollars(moved)),
        ("From", f"{source_id} (new balance: {left})"),
        ("To", f"{destination_id} (new balance: {now})"),
    )


@discoverable(tools, writes=True)
def apply_checking_account_credit_5829(
    world: World, account_id: Any, amount: Any, credit_type: Any
) -> str:
    """Credit an amount to a checking account."""
    credited = _checked_credit(account_id, amount, credit_type, ("rebate_credit", "fee_refund"))
    account = account_of(world, account_id)
    if account.get("class", "").lower() != "checking":
        fail(
            f"Account '{account_id}' is not a checking account. "
            "Credits can only be applied to checking accounts."
        )
    return _credit(world, account_id, credited, credit_type, "checking_credit", sign="$")


@discoverable(tools, writes=True)
def apply_savings_account_credit_6831(
    world: World, account_id: Any, amount: Any, credit_type: Any
) -> str:
    """Credit an amount to a savings account."""
    types = ("interest_correction", "fee_refund", "goodwill_credit")
    credited = _checked_credit(account_id, amount, credit_type, types)
    account = account_of(world, account_id)
    if account.get("class", "").lower() not in ("saving", "savings"):
        fail(
            f"Account '{account_id}' is not a savings account. "
            "This tool only applies to savings accounts."
        )
    return _credit(world, account_id, credited, credit_type, "savings_credit", sign="")


def _checked_credit(account_id: Any, amount: Any, credit_type: Any, types: Sequence[str]) -> float:
    need(account_id, amount is not None, credit_type)
    credited = number(amount, "Invalid credit amount. Must be a number.")
    if credited <= 0:
        fail("Credit amount must be positive.")
    one_of("credit_type", credit_type, types)
    return credited


def _credit(
    world: World, account_id: Any, amount: float, credit_type: str, seed: str, *, sign: str
) -> str:
    account = account_of(world, account_id)
    if account.get("status") not in _OPEN:
        fail(f"Account '{account_id}' is not active.")
    held = balance_of(account)
    world["accounts"][account_id]["current_holdings"] = f"{sign}{held + amount:.2f}"
    transaction_id = f"txn_{hex_id(f'{seed}:{account_id}:{credit_type}:{amount}:{TODAY}')}"
    # The same credit again replaces its transaction.
    world["bank_account_transaction_history"][transaction_id] = {
        "transaction_id": transaction_id,
        "account_id": account_id,
        "date": TODAY,
        "description": f"{credit_type.replace('_', ' ').upper()} - CUSTOMER SERVICE",
        "amount": amount,
        "type": credit_type,
        "status": "posted",
    }
    return listing(
        "\nCredit applied successfully!",
        ("Transaction ID", transaction_id),
        ("Account", account_id),
        ("Credit Type", credit_type),
        ("Amount", dollars(amount)),
        ("Previous Balance", dollars(held)),
        ("New Balance", dollars(held + amount)),
    )


@discoverable(tools, writes=True)
def submit_interest_discrepancy_report_7294(
    world: World,
    account_id: Any,
    user_id: Any,
    expected_apy: Any,
    actual_apy: Any,
    amount_difference: Any,
) -> str:
    """Report wrong interest; the original has no table for reports, so nothing is kept."""
    given = (expected_apy, actual_apy, amount_difference)
    need(account_id, user_id, *(value is not None for value in given))
    complaint = "expected_apy, actual_apy, and amount_difference must be numbers."
    expected, actual, difference = (number(value, complaint) for value in given)
    account = account_of(world, account_id)
    customer = row(world, "users", user_id, f"User '{user_id}' not found.")
    seed = f"interest_report:{account_id}:{user_id}:{expected}:{actual}:{TODAY}"
    return (
        listing(
            "\nInterest Discrepancy Report Submitted Successfully!",
            ("Report ID", f"IDR_{hex_id(seed)}"),
            ("Account", f"{account_id} ({account.get('level', 'Unknown')})"),
            ("Customer", customer.get("name", "Unknown")),
            ("Expected APY", f"{expected}%"),
            ("Actual APY", f"{actual}%"),
            ("APY Difference", f"{round(expected - actual, 4)}%"),
            ("Amount Difference", dollars(difference)),
            ("Status", "PENDING_REVIEW"),
        )
        + "\n\nThe backend team will investigate this discrepancy and ensure correct APY "
        "calculations are applied going forward."
    )
