"""The tools that a banking customer is told about; those for given tools are in `discovery`."""

from __future__ import annotations

from typing import Any, Final

from greenroom.domains.tau2.banking import answers
from greenroom.domains.tau2.banking.answers import dollars, listing
from greenroom.domains.tau2.banking.tables import TODAY, add, hex_id, transaction_id_of
from greenroom.domains.tau2.banking.user_discoverable_tools import referral_of
from greenroom.domains.world import World

tools = answers.user_tools()

_REWARDS: Final[dict[str, tuple[float, dict[str, float]]]] = {
    "Bronze Rewards Card": (1.0, {}),
    "Silver Rewards Card": (1.0, {"Travel": 4.0, "Software": 4.0}),
    "Gold Rewards Card": (2.5, {}),
    "Platinum Rewards Card": (10.0, {}),
    "Business Bronze Rewards Card": (1.0, {}),
    "Business Silver Rewards Card": (1.0, {"Travel": 10.0, "Software": 10.0}),
    "Green Rewards Card": (1.0, {"Sustainable": 3.0}),
    "Business Gold Rewards Card": (1.0, {"Operations": 2.5}),
    "Business Platinum Rewards Card": (1.5, {"Travel": 4.0, "Software": 4.0, "Media": 4.0}),
    "Silver Zoom Card": (1.0, {"Transportation": 3.0}),
    "Diamond Elite Card": (5.0, {}),
    "EcoCard": (1.0, {"Green": 5.0}),
    "Crypto-Cash Back": (2.0, {}),
}
"""What a card gives back in percent: for most purchases, and by category."""
CARD_TYPES: Final = sorted(_REWARDS)


@tools.add(writes=True, schema=False)
def apply_for_credit_card(
    world: World,
    card_type: Any,
    customer_name: Any,
    annual_income: Any,
    rho_bank_subscription: Any = False,
) -> str:
    """Apply for a card."""
    if card_type not in CARD_TYPES:
        return f"Error: Invalid card_type '{card_type}'. Must be one of: {CARD_TYPES}"
    try:
        income = float(annual_income)
    except (TypeError, ValueError):
        return "Error: Invalid annual_income. Must be a number."
    key = hex_id(f"credit_card:{card_type}:{customer_name}:{income}:{rho_bank_subscription}")
    record = {
        "application_id": key,
        "card_type": card_type,
        "customer_name": customer_name,
        "annual_income": income,
        "rho_bank_subscription": rho_bank_subscription,
        "status": "PENDING",
        "date": TODAY,
    }
    if not add(world, "credit_card_applications", key, record):
        return f"Failed to submit application: Record ID '{key}' may already exist."
    return (
        "Credit card application submitted:\n"
        "Your application has been successfully submitted. "
        "You will receive a decision within 5-7 business days via email."
    )


@tools.add(writes=True, schema=False)
def submit_referral(world: World, user_id: Any, account_type: Any) -> str:
    """Refer somebody to an account."""
    parts = ["referral", user_id, account_type]
    key = hex_id(":".join(parts))  # raises what the original raises for anything but texts
    if not add(world, "referrals", key, referral_of(key, user_id, account_type)):
        return f"Failed to submit referral: Record ID '{key}' may already exist."
    return (
        listing(
            "Referral request submitted successfully!",
            ("Referral ID", key),
            ("Referrer ID", user_id),
            ("Account Type", account_type),
            ("Status", "NO_PROGRESS"),
            ("Date", TODAY),
        )
        + "\n\nShare your referral ID with the person you're referring. "
        "They will need to use this when applying for their account."
    )


@tools.add(writes=True, schema=False)
def request_human_agent_transfer(world: World) -> str:
    """Ask for a person."""
    count = len(world["human_transfer_requests"]) + 1
    key = f"transfer_request_{count}"
    record = {
        "request_id": key,
        "request_number": count,
        "requested_at": TODAY,
        "status": "PENDING",
    }
    add(world, "human_transfer_requests", key, record)
    return f"Transfer request #{count} submitted.\nThe agent will process your request."


@tools.add(writes=True, schema=False)
def submit_transaction(
    world: World,
    user_id: Any,
    credit_card_type: Any,
    merchant_name: Any,
    amount: Any,
    category: Any,
) -> str:
    """Buy something with a card."""
    if credit_card_type not in _REWARDS:
        known = list(_REWARDS)
        return f"Error: Unknown credit card type '{credit_card_type}'. Available types: {known}"
    key = transaction_id_of(user_id, credit_card_type, merchant_name, amount, category)
    default, by_category = _REWARDS[credit_card_type]
    rate = by_category.get(category, default)
    rewards = f"{int(amount * rate)} points"
    record = {
        "transaction_id": key,
        "user_id": user_id,
        "credit_card_type": credit_card_type,
        "merchant_name": merchant_name,
        "transaction_amount": dollars(amount),
        "transaction_date": TODAY,
        "category": category,
        "status": "COMPLETED",
        "rewards_earned": rewards,
    }
    if not add(world, "credit_card_transaction_history", key, record):
        return f"Failed to submit transaction: Record ID '{key}' may already exist."
    return (
        listing(
            "Transaction submitted successfully!",
            ("Transaction ID", key),
            ("User ID", user_id),
            ("Card Type", credit_card_type),
            ("Merchant", merchant_name),
            ("Amount", dollars(amount)),
            ("Category", category),
            ("Date", TODAY),
            ("Rewards Earned", f"{rewards} ({rate}% cashback rate)"),
        )
        + "\n"
    )
