"""The discoverable tool that orders a debit card."""

from __future__ import annotations

from typing import Any, Final

from greenroom.domains.tau2.banking.answers import (
    account_of,
    agent_tools,
    belongs,
    discoverable,
    dollars,
    fail,
    need,
    number,
    one_of,
)
from greenroom.domains.tau2.banking.tables import TODAY, add, first_digits, hex_id, rows
from greenroom.domains.world import Record, World

tools = agent_tools()

_DELIVERY: Final = {"STANDARD": "7-10", "EXPEDITED": "3-5", "RUSH": "1-2"}
"""Business days until a card arrives."""
_DESIGNS: Final = ("CLASSIC", "PREMIUM", "CUSTOM")
_EXPIRES: Final = "11/30/2029"
_LOSSES: Final = {
    "lost": "lost",
    "stolen": "stolen",
    "fraud": "fraud",
    "fraud_suspected": "fraud",
}
"""Why a card is replaced, by the reason for which the last one was closed."""


@discoverable(tools, writes=True)
def order_debit_card_5739(
    world: World,
    account_id: Any,
    user_id: Any,
    delivery_option: Any,
    delivery_fee: Any,
    card_design: Any,
    design_fee: Any,
    shipping_address: Any,
    excess_replacement_fee: Any = None,
) -> str:
    """Order a card for a checking account; the fees are charged to it."""
    delivery_cost = _fee("delivery_fee", delivery_fee)
    design_cost = _fee("design_fee", design_fee)
    excess_cost = _optional_fee(excess_replacement_fee)
    need(
        account_id,
        user_id,
        delivery_option,
        delivery_cost is not None,
        card_design,
        design_cost is not None,
        shipping_address,
        text="Missing required parameters. Required: account_id, user_id, delivery_option, "
        "delivery_fee, card_design, design_fee, shipping_address.",
    )
    assert delivery_cost is not None
    assert design_cost is not None
    one_of("delivery_option", delivery_option.upper(), tuple(_DELIVERY))
    one_of("card_design", card_design.upper(), _DESIGNS)
    delivery, design = delivery_option.upper(), card_design.upper()
    held = _checked_holdings(world, account_id, user_id)
    total = delivery_cost + design_cost + excess_cost
    if total > 0 and held < total:
        fail(
            f"Insufficient funds for fees. Total fees: {dollars(total)}. "
            f"Current balance: {dollars(held)}"
        )
    order_id = f"dcord_{hex_id(f'debit_card_order:{account_id}:{user_id}:{delivery}', 12)}"
    order = {
        "order_id": order_id,
        "account_id": account_id,
        "user_id": user_id,
        "delivery_option": delivery,
        "card_design": design,
        "shipping_address": shipping_address,
        "delivery_fee": delivery_cost,
        "design_fee": design_cost,
        "excess_replacement_fee": excess_cost,
        "total_fee": total,
        "order_date": TODAY,
        "expected_delivery": f"{_DELIVERY[delivery]} business days",
        "status": "PENDING",
    }
    if not add(world, "debit_card_orders", order_id, order):
        fail("Failed to create debit card order. Order may already exist.")
    costs = {
        name: f"${cost:.0f}" if name == "Excess Replacement" else f"${cost}"
        for name, cost in (
            ("Delivery", delivery_cost),
            ("Design", design_cost),
            ("Excess Replacement", excess_cost),
        )
        if cost > 0
    }
    charged = "Total Fees: $0 (No additional charges)"
    if total > 0:
        world["accounts"][account_id]["current_holdings"] = f"{held - total:.2f}"
        _log_fee(world, account_id, order_id, total, costs)
        details = ", ".join(f"{name}: {cost}" for name, cost in costs.items())
        charged = (
            f"Total Fees: {dollars(total)} ({details}) - CHARGED to account {account_id}\n"
            f"New Account Balance: {dollars(held - total)}"
        )
    card_id = _add_card(world, account_id, user_id, design)
    return (
        "Debit Card Order Confirmed\n"
        f"Order ID: {order_id}\n"
        f"Card ID: {card_id}\n"
        f"Linked Account: {account_id}\n"
        f"Delivery Option: {delivery}\n"
        f"Card Design: {design}\n"
        f"Shipping Address: {shipping_address}\n"
        f"Expected Delivery: {_DELIVERY[delivery]} business days\n\n"
        "Note: Card will arrive with status PENDING. "
        "Customer must call to activate after receiving the card.\n"
        f"{charged}"
    )


def _fee(name: str, value: Any) -> float | None:
    return None if value is None else number(value, f"{name} must be a number.")


def _optional_fee(value: Any) -> float:
    try:
        return float(value or 0)
    except (TypeError, ValueError):
        return 0  # as the original stores it


def _checked_holdings(world: World, account_id: Any, user_id: Any) -> float:
    """What is on an account that a card can be ordered for."""
    account = account_of(world, account_id)
    if account.get("class") != "checking":
        fail(
            "Debit cards can only be ordered for checking accounts. "
            f"Account '{account_id}' is a {account.get('class')} account."
        )
    if account.get("status") != "OPEN":
        fail(f"Account must be OPEN. Account '{account_id}' has status: {account.get('status')}")
    belongs(account, "Account", account_id, user_id)
    try:
        # The original cannot read amounts with a dollar sign here.
        held = float(str(account.get("current_holdings", "0")).replace(",", ""))
    except ValueError:
        held = 0.0
    if held < 25:
        fail(f"Account must have a minimum balance of $25. Current balance: {dollars(held)}")
    orders = rows(world, "debit_card_orders", "account_id", account_id)
    if any(order.get("status") == "PENDING" for _, order in orders):
        fail(f"There is already a pending debit card order for account '{account_id}'.")
    cards = rows(world, "debit_cards", "account_id", account_id)
    if any(card.get("status") == "ACTIVE" for _, card in cards):
        fail(
            f"Account '{account_id}' already has an active debit card. "
            "Maximum 1 active card per checking account."
        )
    return held


def _log_fee(
    world: World, account_id: Any, order_id: str, total: float, costs: dict[str, str]
) -> None:
    parts = ", ".join(f"{name} {cost}" for name, cost in costs.items())
    transaction_id = f"btxn_dcfee_{order_id[-8:]}"
    record = {
        "transaction_id": transaction_id,
        "account_id": account_id,
        "date": TODAY,
        "description": f"DEBIT CARD ORDER FEE - {parts}",
        "amount": -total,
        "type": "debit_card_fee",
        "status": "posted",
    }
    add(world, "bank_account_transaction_history", transaction_id, record)


def _add_card(world: World, account_id: Any, user_id: Any, design: str) -> str:
    card_id = f"dbc_{hex_id(f'debit_card:{account_id}:{user_id}:{TODAY}', 12)}"
    users = world["users"]
    holder = users.read(user_id).get("name", "CARDHOLDER") if user_id in users else "CARDHOLDER"
    record = {
        "card_id": card_id,
        "account_id": account_id,
        "user_id": user_id,
        "cardholder_name": holder.upper(),
        "last_4_digits": first_digits(hex_id(f"card_details:{card_id}:last4", 8), 4).zfill(4),
        "cvv": first_digits(hex_id(f"card_details:{card_id}:cvv", 6), 3).zfill(3),
        "status": "PENDING",
        "issue_date": TODAY,
        "expiration_date": _EXPIRES,
        "card_design": design,
        "issue_reason": _issue_reason(world, account_id),
    }
    add(world, "debit_cards", card_id, record)
    return card_id


def _issue_reason(world: World, account_id: Any) -> str:
    cards: list[Record] = [card for _, card in rows(world, "debit_cards", "account_id", account_id)]
    if not cards:
        return "new_account"
    closed = [card for card in cards if card.get("status") == "CLOSED"]
    reason = closed[0].get("closure_reason", "") if closed else ""
    return _LOSSES.get(reason, "first_card")
