"""The discoverable tool that raises a debit card's limit for a day."""

from __future__ import annotations

from typing import Any, Final

from greenroom.domains.tau2.banking.answers import (
    agent_tools,
    days_since,
    debit_card_of,
    discoverable,
    fail,
    need,
    number,
)
from greenroom.domains.tau2.banking.tables import TODAY
from greenroom.domains.world import Record, World

tools = agent_tools()

_ATM_LIMITS: Final = {
    "blue account": 500,
    "green account": 600,
    "light blue account": 400,
    "green fee-free account": 500,
    "evergreen account": 750,
    "bluest account": 1500,
    "dark green account": 300,
    "gold years account": 600,
    "purple account": 1000,
}
"""What a card without a limit of its own gives a day, by its account's level."""


@discoverable(tools, writes=True)
def request_temporary_debit_card_limit_increase_8374(
    world: World, card_id: Any, limit_type: Any, new_limit: Any
) -> str:
    """Raise a card's limit for a day."""
    need(card_id, text="Missing required parameter: card_id.")
    need(limit_type, text="Missing required parameter: limit_type.")
    if limit_type not in ("atm", "purchase"):
        fail(f"Invalid limit_type '{limit_type}'. Must be 'atm' or 'purchase'.")
    need(new_limit is not None, text="Missing required parameter: new_limit.")
    asked = number(new_limit, f"new_limit must be an integer, got '{new_limit}'.")
    if not asked.is_integer():
        fail(f"new_limit must be an integer, got '{asked}'.")
    limit = int(asked)
    if limit <= 0:
        fail("new_limit must be a positive amount.")
    card = debit_card_of(world, card_id)
    account = _checked_account(world, card_id, card)
    name = "Daily ATM Withdrawal Limit" if limit_type == "atm" else "Daily Purchase Limit"
    current = _current_limit(card, account, limit_type)
    highest = int(current * 1.5)
    if limit > highest:
        fail(
            f"Requested limit ${limit} exceeds the maximum allowed temporary increase. "
            f"Maximum temporary limit is ${highest} (150% of current ${current} limit)."
        )
    if limit <= current:
        fail(f"Requested limit ${limit} is not higher than the current limit of ${current}.")
    world["debit_cards"][card_id].update(
        {
            f"daily_{limit_type}_limit": limit,
            f"temporary_{limit_type}_limit_increase": True,
            f"original_{limit_type}_limit": current,
            f"temporary_{limit_type}_limit_expires": TODAY,
        }
    )
    return (
        f"Temporary {name} Increase Granted Successfully\n"
        f"Card ID: {card_id}\n"
        f"Previous Limit: ${current}\n"
        f"New Temporary Limit: ${limit}\n"
        f"Increase Amount: ${limit - current}\n\n"
        "Important Information:\n"
        "- This temporary increase expires in 24 hours\n"
        f"- After expiration, the limit will revert to ${current}\n"
        "- Only one temporary increase is allowed per 24-hour period\n\n"
        "Note: If the customer is at a third-party (non-Rho-Bank) ATM, that ATM may have its own\n"
        "per-transaction or daily limits that Rho-Bank cannot override. The customer may need to\n"
        "use a Rho-Bank ATM or make multiple smaller withdrawals at third-party ATMs."
    )


def _checked_account(world: World, card_id: Any, card: Record) -> Record:
    """The account of an active card, old enough for higher limits."""
    status = card.get("status")
    if status != "ACTIVE":
        fail(
            f"Debit card '{card_id}' is not active. Current status: {status}. "
            "Only ACTIVE cards can have limit increases."
        )
    account_id, accounts = card.get("account_id"), world["accounts"]
    if not account_id or account_id not in accounts:
        fail(f"Could not find linked account for debit card '{card_id}'.")
    account = accounts.read(account_id)
    status = account.get("status")
    if status != "OPEN":
        fail(
            f"The linked account '{account_id}' is not in good standing. Account status: {status}."
        )
    try:
        age = days_since(account.get("date_opened") or "")
    except ValueError:
        return account  # an age that cannot be read is not checked
    if age < 60:
        fail(
            "Account must be at least 60 days old for a temporary limit increase. "
            f"Account age: {age} days."
        )
    return account


def _current_limit(card: Record, account: Record, limit_type: str) -> Any:
    limit = card.get(f"daily_{limit_type}_limit")
    if limit is not None:
        return limit
    if limit_type == "purchase":
        fail(
            "The card does not have a daily purchase limit configured. This may be a restricted "
            "account type where limits are set by account policy and cannot be modified."
        )
    level = account.get("level", "").lower()
    if "light green" in level:
        fail(
            "Light Green Account (teen checking) cards have policy-based limits that cannot be "
            "modified. The daily ATM withdrawal limit of $150 is fixed by account policy for "
            "safety reasons. The customer may request the parent/guardian to withdraw cash from "
            "their own account if needed."
        )
    if level not in _ATM_LIMITS:
        fail(
            f"Could not determine the default ATM limit for account type '{account.get('level')}'. "
            "Please verify the account type."
        )
    return _ATM_LIMITS[level]
