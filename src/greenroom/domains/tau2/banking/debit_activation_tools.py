"""Discoverable tools for a debit card's activation, and the rule for its PIN."""

from __future__ import annotations

from typing import Any, Final

from greenroom.domains.tau2.banking.answers import (
    agent_tools,
    debit_card_of,
    discoverable,
    fail,
    need,
    titled,
)
from greenroom.domains.tau2.banking.tables import TODAY, rows
from greenroom.domains.world import Record, World

tools = agent_tools()

_REASONS: Final = {
    "activate_debit_card_8291": ("new_account", "first_card"),
    "activate_debit_card_8292": ("lost", "stolen", "fraud"),
    "activate_debit_card_8293": ("expired", "damaged", "upgrade", "bank_reissue"),
}
"""Why a card was issued that a tool activates."""
_TOOLS: Final = {reason: tool for tool, reasons in _REASONS.items() for reason in reasons}
_RUNS: Final = "0123456789", "9876543210"


def check_pin(pin: Any) -> None:
    """Answer why a PIN is not allowed, if it is not."""
    if not pin or not pin.isdigit() or len(pin) != 4:
        fail("PIN must be exactly 4 digits.")
    if any(pin in run for run in _RUNS):
        fail("PIN cannot be sequential (e.g., 1234). Please choose a more secure PIN.")
    if len(set(pin)) == 1:
        fail("PIN cannot be all the same digit (e.g., 1111). Please choose a more secure PIN.")


def check_digits(value: Any, count: int, name: str) -> None:
    """Answer how many digits something has, if it has not."""
    if not value.isdigit() or len(value) != count:
        fail(f"{name} must be exactly {count} digits.")


def check_linked_account(world: World, card: Record, done: str) -> None:
    """Answer that a card's account is not open, if it is not."""
    account_id, accounts = card.get("account_id"), world["accounts"]
    if not account_id or account_id not in accounts:
        return
    if accounts.read(account_id).get("status") != "OPEN":
        fail(
            f"The linked checking account '{account_id}' is no longer open. Card cannot be {done}."
        )


def _activate(
    world: World, tool: str, card_id: Any, last_4_digits: Any, date: Any, cvv: Any, pin: Any
) -> str:
    """Activate a card and answer why it was issued."""
    need(
        card_id,
        last_4_digits,
        date,
        cvv,
        pin,
        text="Missing required parameters. "
        "Required: card_id, last_4_digits, expiration_date, cvv, pin.",
    )
    check_pin(pin)
    check_digits(cvv, 3, "CVV")
    check_digits(last_4_digits, 4, "Last 4 digits")
    card = debit_card_of(world, card_id)
    reason = card.get("issue_reason", "new_account")
    if reason not in _REASONS[tool]:
        fail(
            f"Wrong activation tool. This card has issue_reason='{reason}'. "
            f"Please use {_TOOLS.get(reason, 'unknown')} instead of {tool}."
        )
    status = card.get("status")
    if status == "ACTIVE":
        fail(f"Debit card '{card_id}' is already active.")
    if status != "PENDING":
        fail(
            f"Debit card '{card_id}' cannot be activated. Current status: {status}. "
            "Only PENDING cards can be activated."
        )
    if card.get("last_4_digits") != last_4_digits:
        fail("Card verification failed. The last 4 digits do not match our records.")
    check_linked_account(world, card, "activated")
    world["debit_cards"][card_id].update(status="ACTIVE", activated_date=TODAY)
    return reason


def _retire_others(world: World, card_id: Any, changes: Record) -> str:
    """Change the other active cards of a card's account; answer their ids."""
    cards = world["debit_cards"]
    account_id = cards.read(card_id).get("account_id")
    retired = [
        key
        for key, card in rows(world, "debit_cards", "account_id", account_id)
        if key != card_id and card.get("status") == "ACTIVE"
    ]
    for key in retired:
        cards[key].update(changes)
    return ", ".join(retired)


def _deactivated(reason: str) -> Record:
    return {
        "status": "DEACTIVATED",
        "deactivated_date": TODAY,
        "deactivation_reason": reason,
    }


@discoverable(tools, writes=True)
def activate_debit_card_8291(
    world: World, card_id: Any, last_4_digits: Any, expiration_date: Any, cvv: Any, pin: Any
) -> str:
    """Activate a first card."""
    tool = "activate_debit_card_8291"
    _activate(world, tool, card_id, last_4_digits, expiration_date, cvv, pin)
    others = _retire_others(world, card_id, _deactivated("New card activated"))
    note = f"\n\nNote: Previous card(s) have been deactivated: {others}" if others else ""
    return (
        "New Debit Card Activation Successful\n"
        f"Card ID: {card_id}\n"
        "Status: ACTIVE\n"
        f"Activation Date: {TODAY}\n\n"
        "Your card is now ready to use at any ATM or point of sale terminal.\n"
        f"For security, please sign the back of your card.{note}"
    )


@discoverable(tools, writes=True)
def activate_debit_card_8292(
    world: World, card_id: Any, last_4_digits: Any, expiration_date: Any, cvv: Any, pin: Any
) -> str:
    """Activate a card that replaces a lost or stolen one."""
    tool = "activate_debit_card_8292"
    reason = _activate(world, tool, card_id, last_4_digits, expiration_date, cvv, pin)
    changes = _deactivated(f"Replacement card activated ({reason})")
    others = _retire_others(world, card_id, changes)
    text = (
        "Replacement Debit Card Activation Successful\n"
        f"Card ID: {card_id}\n"
        f"Replacement Reason: {titled(reason)}\n"
        "Status: ACTIVE\n"
        f"Activation Date: {TODAY}\n\n"
        "Your replacement card is now ready to use.\n\n"
        "IMPORTANT SECURITY REMINDERS:\n"
        "- Please review your recent transactions for any unauthorized charges\n"
        "- Report any suspicious activity immediately"
    )
    if reason == "fraud":
        text += "\n- Since fraud was suspected, we recommend changing your online banking password"
    if others:
        text += f"\n\nPrevious card(s) have been deactivated for security: {others}"
    return text


@discoverable(tools, writes=True)
def activate_debit_card_8293(
    world: World, card_id: Any, last_4_digits: Any, expiration_date: Any, cvv: Any, pin: Any
) -> str:
    """Activate a reissued card; the old one works for another day."""
    tool = "activate_debit_card_8293"
    reason = _activate(world, tool, card_id, last_4_digits, expiration_date, cvv, pin)
    changes: Record = {
        "status": "GRACE_PERIOD",
        "grace_period_ends": TODAY,
        "deactivation_reason": f"Reissued card activated ({reason})",
    }
    others = _retire_others(world, card_id, changes)
    text = (
        "Reissued Debit Card Activation Successful\n"
        f"Card ID: {card_id}\n"
        f"Reissue Reason: {titled(reason)}\n"
        "Status: ACTIVE\n"
        f"Activation Date: {TODAY}\n\n"
        "Your reissued card is now ready to use."
    )
    if others:
        text += (
            f"\n\nNote: Your previous card(s) ({others}) will remain active for 24 hours "
            "as a grace period.\n"
            "After 24 hours, the old card(s) will be automatically deactivated."
        )
    if reason in ("expired", "bank_reissue"):
        text += (
            "\n\nReminder: If your card number changed, please update any recurring payments "
            "with your new card details."
        )
    return text
