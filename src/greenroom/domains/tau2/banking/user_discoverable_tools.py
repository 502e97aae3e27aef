"""The user's discoverable tools: they work once the agent has given them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from greenroom.domains.tau2.banking.answers import (
    account_of,
    balance_of,
    discoverable,
    dollars,
    fail,
    listing,
    number,
    user_tools,
)
from greenroom.domains.tau2.banking.dispute_tools import dispute_id_of
from greenroom.domains.tau2.banking.tables import (
    TODAY,
    add,
    first_digits,
    hex_id,
    is_missing,
    rows,
)
from greenroom.domains.world import World

tools = user_tools()


def _begin(world: World, tool: str, arguments: Mapping[str, Any], success: str) -> str:
    """Log a call of a tool that was given; return the beginning of its answer.

    A call is logged before it is checked, so one that fails is logged as well.
    """
    if not rows(world, "user_discoverable_tools", "tool_name", tool):
        fail(
            f"Tool '{tool}' has not been given to you by the agent. The agent must first use "
            "`give_discoverable_user_tool` to give this tool to you."
        )
    record = {
        "tool_name": tool,
        "arguments": dict(arguments),
        "called_at": TODAY,
        "status": "CALLED",
    }
    seed = f"user_discoverable_tool_call:{tool}:{json.dumps(arguments, sort_keys=True)}"
    add(world, "user_discoverable_tool_calls", hex_id(seed), record)
    return f"{success}\n\nExecuted: {tool}\nArguments: {json.dumps(arguments, indent=2)}\n"


@discoverable(tools, writes=True)
def submit_cash_back_dispute_0589(world: World, user_id: Any, transaction_id: Any) -> str:
    """Dispute the cash back of a transaction."""
    text = _begin(
        world,
        "submit_cash_back_dispute_0589",
        {"user_id": user_id, "transaction_id": transaction_id},
        "Cash back dispute submitted successfully. Your case has been queued for review.",
    )
    dispute_id = dispute_id_of(user_id, transaction_id)
    record = {
        "dispute_id": dispute_id,
        "user_id": user_id,
        "transaction_id": transaction_id,
        "submitted_at": TODAY,
        "status": "SUBMITTED",
    }
    status = "SUBMITTED - Your dispute has been queued for review."
    if _resolves_disputes(world):
        record |= {"status": "RESOLVED", "resolution": "APPROVED"}
        status = (
            "RESOLVED - The dispute has been reviewed and approved. "
            "The transaction rewards need to be updated."
        )
    if not add(world, "cash_back_disputes", dispute_id, record):
        return f"{text}Note: Dispute may have already been submitted for this transaction."
    return f"{text}Dispute ID: {dispute_id}\nStatus: {status}"


def _resolves_disputes(world: World) -> bool:
    """Whether a task's configuration settles disputes at once."""
    settings = world["task_config"]
    if "dispute_settings" not in settings:
        return False
    return bool(settings.read("dispute_settings").get("auto_resolve_disputes", False))


@discoverable(tools, writes=True)
def get_referral_link(world: World, user_id: Any, card_name: Any) -> str:
    """Make a link to refer somebody to a card."""
    text = _begin(
        world,
        "get_referral_link",
        {"user_id": user_id, "card_name": card_name},
        "Referral link generated successfully. Share this link with the person you want to refer.",
    )
    referral_id = hex_id(f"referral_link:{user_id}:{card_name}")
    if not add(world, "referrals", referral_id, referral_of(referral_id, user_id, card_name)):
        return f"{text}Note: A referral link for this card may have already been generated."
    return (
        f"{text}Referral ID: {referral_id}\nReferral link: https://rhobank.com/refer/{referral_id}"
    )


def referral_of(referral_id: str, user_id: Any, account_type: Any) -> dict[str, Any]:
    """The record of a new referral."""
    return {
        "referral_id": referral_id,
        "referrer_id": user_id,
        "referred_account_type": account_type,
        "referral_status": "NO_PROGRESS",
        "date": TODAY,
    }


@discoverable(tools)
def get_card_last_4_digits(world: World, credit_card_account_id: Any) -> str:
    """Look at a card's number; a read that is logged."""
    text = _begin(
        world,
        "get_card_last_4_digits",
        {"credit_card_account_id": credit_card_account_id},
        "Card information retrieved successfully.",
    )
    if is_missing(world, "credit_card_accounts", "account_id", credit_card_account_id):
        fail(f"Credit card account '{credit_card_account_id}' not found.")
    digest = sha256(f"card_last4:{credit_card_account_id}".encode()).hexdigest()
    return f"{text}Last 4 digits of card: {first_digits(digest, 4).ljust(4, '0')}"


@discoverable(tools, writes=True)
def deposit_check_3847(world: World, account_id: Any, check_amount: Any) -> str:
    """Deposit a check by photo."""
    text = _begin(
        world,
        "deposit_check_3847",
        {"account_id": account_id, "check_amount": check_amount},
        "Check deposited successfully. "
        "Funds will be available according to your account's deposit policy.",
    )
    amount = number(check_amount, f"Invalid check amount '{check_amount}'. Must be a number.")
    if amount <= 0:
        fail("Check amount must be positive.")
    account = account_of(world, account_id)
    if account.get("status") not in ("ACTIVE", "OPEN"):
        fail(f"Account '{account_id}' is not active.")
    held = balance_of(account)
    world["accounts"][account_id]["current_holdings"] = dollars(held + amount)
    return text + listing(
        "Check deposit processed!",
        ("Account", account_id),
        ("Check Amount", dollars(amount)),
        ("Previous Balance", dollars(held)),
        ("New Balance", dollars(held + amount)),
    )
