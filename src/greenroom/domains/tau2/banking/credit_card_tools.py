"""Discoverable tools for credit cards: rewards, replacement, closure, credits, flags, payments."""

from __future__ import annotations

import json
from typing import Any

from greenroom.domains.tau2.banking.answers import (
    agent_tools,
    balance_of,
    belongs,
    card_account_of,
    discoverable,
    dollars,
    fail,
    listing,
    need,
    one_of,
    plain_number,
    row,
    titled,
)
from greenroom.domains.tau2.banking.tables import (
    TODAY,
    add,
    hex_id,
    is_missing,
    transaction_id_of,
)
from greenroom.domains.world import World

tools = agent_tools()


def _check_card_account(world: World, account_id: Any) -> None:
    # The original looks for it by a query, so an id that breaks the query passes.
    if is_missing(world, "credit_card_accounts", "account_id", account_id):
        fail(f"Credit card account '{account_id}' not found.")


@discoverable(tools, writes=True)
def update_transaction_rewards_3847(
    world: World, transaction_id: Any, new_rewards_earned: Any
) -> str:
    """Correct the rewards of a card transaction."""
    need(transaction_id, new_rewards_earned)
    history = world["credit_card_transaction_history"]
    if transaction_id not in history:
        fail(f"Transaction '{transaction_id}' not found.")
    history[transaction_id]["rewards_earned"] = new_rewards_earned
    given = {"transaction_id": transaction_id, "new_rewards_earned": new_rewards_earned}
    return (
        "Transaction rewards updated successfully.\n\n"
        "Executed: update_transaction_rewards_3847\n"
        f"Arguments: {json.dumps(given, indent=2)}\n"
    ) + listing(
        "Transaction updated:",
        ("Transaction ID", transaction_id),
        ("New Rewards", new_rewards_earned),
    )


@discoverable(tools, writes=True)
def order_replacement_credit_card_7291(
    world: World,
    credit_card_account_id: Any,
    user_id: Any,
    shipping_address: Any,
    reason: Any,
    expedited_shipping: Any = False,
) -> str:
    """Order a new card; the old one is cancelled."""
    need(
        credit_card_account_id,
        user_id,
        shipping_address,
        reason,
        text="Missing required parameters "
        "(credit_card_account_id, user_id, shipping_address, reason).",
    )
    reasons = ("fraud_suspected", "lost", "stolen", "damaged", "expired", "other")
    one_of("reason", reason, reasons)
    _check_card_account(world, credit_card_account_id)
    seed = f"credit_card_order:{credit_card_account_id}:{user_id}:{reason}"
    order_id = f"ccord_{hex_id(seed, 12)}"
    record = {
        "order_id": order_id,
        "credit_card_account_id": credit_card_account_id,
        "user_id": user_id,
        "shipping_address": shipping_address,
        "reason": reason,
        "expedited_shipping": expedited_shipping,
        "order_date": TODAY,
        "status": "ORDERED",
        "old_card_cancelled": True,
    }
    if not add(world, "credit_card_orders", order_id, record):
        fail("Order may have already been placed for this card replacement.")
    accounts = world["credit_card_accounts"]
    if credit_card_account_id in accounts:
        accounts[credit_card_account_id].update(status="CLOSED", closed_date=TODAY)
    method, days = ("Expedited", "2-3") if expedited_shipping else ("Standard", "7-10")
    return (
        f"Order ID: {order_id}\n"
        f"Card Account: {credit_card_account_id}\n"
        f"Reason: {titled(reason)}\n"
        f"Shipping Address: {shipping_address}\n"
        f"Shipping Method: {method}\n"
        f"Expected Delivery: {days} business days\n\n"
        "The old card has been cancelled for security. "
        "The new card will have the same account number but a new card number and CVV."
    )


@discoverable(tools, writes=True)
def log_credit_card_closure_reason_4521(
    world: World, credit_card_account_id: Any, user_id: Any, closure_reason: Any
) -> str:
    """Note why a customer wants to close a card account."""
    need(credit_card_account_id, user_id, closure_reason)
    reasons = (
        "annual_fee",
        "not_using_card",
        "found_better_card",
        "unhappy_with_rewards",
        "simplifying_finances",
        "negative_experience",
        "other",
    )
    one_of("closure_reason", closure_reason, reasons)
    record_id = f"clsr_{hex_id(f'closure_reason:{credit_card_account_id}:{user_id}', 12)}"
    given = {
        "credit_card_account_id": credit_card_account_id,
        "user_id": user_id,
        "closure_reason": closure_reason,
    }
    record = {"record_id": record_id, **given, "logged_at": TODAY, "status": "LOGGED"}
    add(world, "credit_card_closure_reasons", record_id, record)
    return (
        "Closure reason logged successfully.\n\n"
        "Executed: log_credit_card_closure_reason_4521\n"
        f"Arguments: {json.dumps(given, indent=2)}\n"
        f"Closure reason '{closure_reason}' logged for account {credit_card_account_id}."
    )


@discoverable(tools, writes=True)
def apply_statement_credit_8472(
    world: World, user_id: Any, credit_card_account_id: Any, amount: Any, reason: Any
) -> str:
    """Credit an amount to a card account, as a transaction; its balance stays."""
    need(
        user_id,
        credit_card_account_id,
        amount is not None,
        reason,
        text="Missing required parameters (user_id, credit_card_account_id, amount, reason).",
    )
    if amount <= 0:
        fail("Credit amount must be positive.")
    reasons = (
        "goodwill_adjustment",
        "promotional_credit",
        "annual_fee_reversal",
        "late_fee_reversal",
        "interest_charge_reversal",
        "dispute_resolution",
        "price_match",
        "retention_offer",
        "error_correction",
        "other",
    )
    one_of("reason", reason, reasons)
    _check_card_account(world, credit_card_account_id)
    transaction_id = transaction_id_of(
        user_id, "STATEMENT_CREDIT", reason, amount, "Statement Credit"
    )
    record = {
        "transaction_id": transaction_id,
        "user_id": user_id,
        "credit_card_account_id": credit_card_account_id,
        "credit_card_type": "N/A",
        "merchant_name": "Rho-Bank Statement Credit",
        "transaction_amount": f"-{dollars(amount)}",
        "transaction_date": TODAY,
        "category": "Statement Credit",
        "status": "COMPLETED",
        "rewards_earned": "0 points",
        "credit_reason": reason,
    }
    if not add(world, "credit_card_transaction_history", transaction_id, record):
        fail(
            "Failed to apply statement credit. "
            f"Transaction ID '{transaction_id}' may already exist."
        )
    return "Statement credit applied successfully.\n\n" + listing(
        "Executed: apply_statement_credit_8472",
        ("Transaction ID", transaction_id),
        ("User ID", user_id),
        ("Account", credit_card_account_id),
        ("Credit Amount", dollars(amount)),
        ("Reason", titled(reason)),
        ("Date", TODAY),
    )


@discoverable(tools, writes=True)
def apply_credit_card_account_flag_6147(
    world: World,
    credit_card_account_id: Any,
    user_id: Any,
    flag_type: Any,
    expiration_date: Any,
    reason: Any,
) -> str:
    """Put a flag such as a waived fee on a card account."""
    need(
        credit_card_account_id,
        user_id,
        flag_type,
        expiration_date,
        reason,
        text="Missing required parameters "
        "(credit_card_account_id, user_id, flag_type, expiration_date, reason).",
    )
    one_of(
        "flag_type", flag_type, ("annual_fee_waived", "promotional_apr", "rewards_bonus", "other")
    )
    reasons = ("retention_offer", "loyalty_benefit", "promotional", "error_correction", "other")
    one_of("reason", reason, reasons)
    _check_card_account(world, credit_card_account_id)
    seed = f"account_flag:{credit_card_account_id}:{flag_type}:{expiration_date}"
    flag_id = f"ccflag_{hex_id(seed, 12)}"
    record = {
        "flag_id": flag_id,
        "credit_card_account_id": credit_card_account_id,
        "user_id": user_id,
        "flag_type": flag_type,
        "effective_date": TODAY,
        "expiration_date": expiration_date,
        "reason": reason,
        "applied_at": TODAY,
        "status": "ACTIVE",
    }
    if not add(world, "credit_card_account_flags", flag_id, record):
        fail(f"Failed to apply account flag. Flag ID '{flag_id}' may already exist.")
    return listing(
        "Account flag applied successfully!",
        ("Flag ID", flag_id),
        ("Account", credit_card_account_id),
        ("User ID", user_id),
        ("Flag Type", titled(flag_type)),
        ("Effective Date", TODAY),
        ("Expiration Date", expiration_date),
        ("Reason", titled(reason)),
    )


@discoverable(tools, writes=True)
def close_credit_card_account_7834(world: World, credit_card_account_id: Any, user_id: Any) -> str:
    """Close a card account."""
    need(
        credit_card_account_id,
        user_id,
        text="Missing required parameters (credit_card_account_id, user_id).",
    )
    _check_card_account(world, credit_card_account_id)
    accounts = world["credit_card_accounts"]
    if credit_card_account_id not in accounts:
        fail(f"Failed to close credit card account '{credit_card_account_id}'.")
    accounts[credit_card_account_id].update(status="CLOSED", closed_date=TODAY, closed_by=user_id)
    given = {"credit_card_account_id": credit_card_account_id, "user_id": user_id}
    return (
        "Credit card account closed successfully.\n\n"
        "Executed: close_credit_card_account_7834\n"
        f"Arguments: {json.dumps(given, indent=2)}\n"
        f"Account {credit_card_account_id} has been closed."
    )


@discoverable(tools, writes=True)
def pay_credit_card_from_checking_9182(
    world: World,
    user_id: Any,
    checking_account_id: Any,
    credit_card_account_id: Any,
    amount: Any,
) -> str:
    """Pay a card's balance from a checking account."""
    need(
        user_id,
        checking_account_id,
        credit_card_account_id,
        amount is not None,
        text="Missing required parameters "
        "(user_id, checking_account_id, credit_card_account_id, amount).",
    )
    try:
        paid = float(amount)
    except (TypeError, ValueError):
        fail("Invalid payment amount. Must be a positive number.")
    if paid <= 0:
        fail("Payment amount must be a positive number.")
    missing = f"Checking account '{checking_account_id}' not found."
    checking = row(world, "accounts", checking_account_id, missing)
    belongs(checking, "Checking account", checking_account_id, user_id)
    if checking.get("class") != "checking":
        fail(f"Account '{checking_account_id}' is not a checking account.")
    held = balance_of(checking)
    if paid > held:
        fail(
            "Insufficient funds in checking account. "
            f"Available balance: {dollars(held)}, requested payment: {dollars(paid)}."
        )
    card = card_account_of(world, credit_card_account_id)
    belongs(card, "Credit card account", credit_card_account_id, user_id)
    try:
        owed = plain_number(str(card.get("current_balance", "$0.00")))
    except ValueError:
        owed = 0.0
    if paid > owed:
        fail(
            f"Payment amount ({dollars(paid)}) exceeds credit card balance ({dollars(owed)}). "
            "Please specify an amount up to the outstanding balance."
        )
    # This tool alone writes what is left on the checking account without a dollar sign.
    world["accounts"][checking_account_id]["current_holdings"] = f"{held - paid:.2f}"
    world["credit_card_accounts"][credit_card_account_id]["current_balance"] = dollars(owed - paid)
    return (
        listing(
            "Payment processed successfully!",
            ("Payment Amount", dollars(paid)),
            ("From Checking Account", checking_account_id),
            ("To Credit Card Account", credit_card_account_id),
            ("New Checking Balance", dollars(held - paid)),
            ("New Credit Card Balance", dollars(owed - paid)),
        )
        + "\nThe payment has been applied immediately."
    )
