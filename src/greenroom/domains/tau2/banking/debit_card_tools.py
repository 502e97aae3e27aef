"""Discoverable tools for debit cards in use: freeze, close, PIN, alerts."""

from __future__ import annotations

import json
from typing import Any, Final

from greenroom.domains.tau2.banking.answers import (
    Answer,
    account_of,
    agent_tools,
    debit_card_of,
    discoverable,
    fail,
    need,
    need_one,
    one_of,
    titled,
)
from greenroom.domains.tau2.banking.debit_activation_tools import (
    check_digits,
    check_linked_account,
    check_pin,
)
from greenroom.domains.tau2.banking.tables import TODAY, rows
from greenroom.domains.world import Record, World

tools = agent_tools()


def _need_card(card_id: Any) -> None:
    need(card_id, text="Missing required parameter: card_id.")


@discoverable(tools, writes=True)
def set_debit_card_recurring_block_7382(world: World, card_id: Any, block_recurring: Any) -> str:
    """Block recurring payments, or allow them again."""
    need_one("card_id", card_id)
    status = debit_card_of(world, card_id).get("status", "").upper()
    if status != "ACTIVE":
        fail(
            f"Cannot update recurring block settings for a card with status '{status}'. "
            "Card must be ACTIVE."
        )
    world["debit_cards"][card_id]["recurring_blocked"] = block_recurring
    if block_recurring:
        return (
            f"Recurring payments BLOCKED for debit card {card_id}.\n"
            "All recurring/subscription charges will be declined.\n"
            "One-time purchases are not affected.\n"
            "This change takes effect within 24 hours."
        )
    return (
        f"Recurring payments UNBLOCKED for debit card {card_id}.\n"
        "Recurring/subscription charges will now be allowed.\n"
        "This change takes effect within 24 hours."
    )


@discoverable(tools, writes=True)
def close_debit_card_4721(world: World, card_id: Any, reason: Any) -> str:
    """Close a card for good; a frozen one cannot be closed."""
    need(card_id, reason, text="Missing required parameters. Required: card_id, reason.")
    reasons = ("lost", "stolen", "fraud_suspected", "damaged", "no_longer_needed")
    why = reason.lower()
    one_of("reason", why, (*reasons, "account_closing"))
    status = debit_card_of(world, card_id).get("status")
    if status not in ("ACTIVE", "PENDING"):
        fail(
            f"Debit card '{card_id}' cannot be closed. Current status: {status}. "
            "Only ACTIVE or PENDING cards can be closed."
        )
    world["debit_cards"][card_id].update(status="CLOSED", closed_date=TODAY, closure_reason=why)
    warning = ""
    if why in ("lost", "stolen", "fraud_suspected"):
        warning = (
            "\nIMPORTANT: This card has been immediately deactivated for security."
            "\nAny pending transactions may still be processed."
        )
    if why == "fraud_suspected":
        warning += (
            "\nPlease advise the customer to review recent transactions and file disputes for "
            "any unauthorized charges."
            "\nAlso recommend changing their online banking password."
        )
    return (
        "Debit Card Closed Successfully\n"
        f"Card ID: {card_id}\n"
        f"Previous Status: {status}\n"
        "New Status: CLOSED\n"
        f"Closure Reason: {titled(why)}\n"
        f"Closure Date: {TODAY}\n"
        f"{warning}\n\n"
        "Note: This card cannot be reactivated. If the customer needs a new card, they can order "
        "one through the standard ordering process.\n"
        "Any recurring payments linked to this card will need to be updated with new payment "
        "information."
    )


@discoverable(tools, writes=True)
def freeze_debit_card_3892(world: World, card_id: Any) -> str:
    """Freeze a card for a while."""
    _need_card(card_id)
    status = debit_card_of(world, card_id).get("status")
    if status == "FROZEN":
        fail(f"Debit card '{card_id}' is already frozen.")
    if status != "ACTIVE":
        fail(
            f"Debit card '{card_id}' cannot be frozen. Current status: {status}. "
            "Only ACTIVE cards can be frozen."
        )
    world["debit_cards"][card_id].update(status="FROZEN", frozen_date=TODAY)
    return (
        "Debit Card Frozen Successfully\n"
        f"Card ID: {card_id}\n"
        "Status: FROZEN\n"
        f"Frozen Date: {TODAY}\n\n"
        "While frozen:\n"
        "- All new purchase transactions will be declined\n"
        "- Recurring payments and subscriptions will be declined\n"
        "- Pending transactions already authorized may still process\n\n"
        "To unfreeze, the customer can call customer service or use the mobile app.\n"
        "If the card is confirmed lost or stolen, recommend closing the card permanently instead."
    )


@discoverable(tools, writes=True)
def unfreeze_debit_card_3893(world: World, card_id: Any) -> str:
    """Make a frozen card usable again."""
    _need_card(card_id)
    card = debit_card_of(world, card_id)
    status = card.get("status")
    if status == "ACTIVE":
        fail(f"Debit card '{card_id}' is already active.")
    if status != "FROZEN":
        fail(
            f"Debit card '{card_id}' cannot be unfrozen. Current status: {status}. "
            "Only FROZEN cards can be unfrozen."
        )
    check_linked_account(world, card, "unfrozen")
    world["debit_cards"][card_id].update(status="ACTIVE", unfrozen_date=TODAY)
    return (
        "Debit Card Unfrozen Successfully\n"
        f"Card ID: {card_id}\n"
        "Status: ACTIVE\n"
        f"Unfrozen Date: {TODAY}\n\n"
        "The card is now active and ready to use immediately.\n"
        "All transactions will process normally."
    )


@discoverable(tools, writes=True)
def clear_debit_card_fraud_alert_4892(world: World, card_id: Any, reason: Any) -> str:
    """Clear a fraud alert or a block for unusual use."""
    _need_card(card_id)
    need(reason, text="Missing required parameter: reason.")
    if reason not in ("customer_verified", "velocity_clear"):
        fail(f"Invalid reason '{reason}'. Must be one of: customer_verified, velocity_clear")
    card = debit_card_of(world, card_id)
    if reason == "velocity_clear":
        if not card.get("velocity_blocked", False):
            fail(f"Debit card '{card_id}' does not have an active velocity block.")
        world["debit_cards"][card_id].update(velocity_blocked=False, velocity_cleared_date=TODAY)
        return (
            "Velocity Block Cleared Successfully\n"
            f"Card ID: {card_id}\n"
            f"Cleared Date: {TODAY}\n\n"
            "The card is now unblocked and ready for normal use.\n"
            "The velocity monitoring will continue - if the same unusual patterns recur,\n"
            "the card may be blocked again automatically."
        )
    if not card.get("fraud_alert_active", False):
        fail(f"Debit card '{card_id}' does not have an active fraud alert.")
    if card.get("alert_source") == "bank_initiated":
        fail(
            "BANK_INITIATED_ALERT - This fraud alert was initiated by the bank's fraud detection "
            "system and cannot be cleared by customer service agents. Please transfer the "
            "customer to the security team using transfer_to_human_agents."
        )
    world["debit_cards"][card_id].update(
        fraud_alert_active=False, alert_source=None, fraud_alert_cleared_date=TODAY
    )
    return (
        "Fraud Alert Cleared Successfully\n"
        f"Card ID: {card_id}\n"
        f"Cleared Date: {TODAY}\n\n"
        "The fraud alert has been removed from the card.\n"
        "All transactions will process normally.\n\n"
        "Remind the customer to review recent transactions and report any unauthorized charges."
    )


_PIN_CHANGED: Final = (
    "Customer can use the new PIN for ATM withdrawals and point-of-sale transactions.\n\n"
    "Security reminder: Never share your PIN with anyone."
)


@discoverable(tools, writes=True)
def reset_debit_card_pin_6284(world: World, card_id: Any, last_4_digits: Any, new_pin: Any) -> str:
    """Set a new PIN for a customer who has forgotten theirs."""
    need(
        card_id,
        last_4_digits,
        new_pin,
        text="Missing required parameters. Required: card_id, last_4_digits, new_pin.",
    )
    check_digits(last_4_digits, 4, "Last 4 digits")
    check_pin(new_pin)
    card = debit_card_of(world, card_id)
    if card.get("last_4_digits") != last_4_digits:
        fail("Card verification failed. The last 4 digits do not match our records.")
    _check_pin_can_change(card, "reset")
    world["debit_cards"][card_id].update(
        pin_last_changed=TODAY, pin_locked=False, pin_attempts_remaining=3
    )
    return (
        "Debit Card PIN Reset Successfully\n"
        f"Card ID: {card_id}\n"
        f"PIN Changed: {TODAY}\n\n"
        "The new PIN is effective immediately.\n"
        f"Your card has been unlocked and is ready to use.\n{_PIN_CHANGED}"
    )


@discoverable(tools, writes=True)
def change_debit_card_pin_6285(world: World, card_id: Any, current_pin: Any, new_pin: Any) -> str:
    """Set a new PIN; the current one is not compared."""
    need(
        card_id,
        current_pin,
        new_pin,
        text="Missing required parameters. Required: card_id, current_pin, new_pin.",
    )
    check_digits(current_pin, 4, "Current PIN")
    check_pin(new_pin)
    if current_pin == new_pin:
        fail("New PIN must be different from current PIN.")
    _check_pin_can_change(debit_card_of(world, card_id), "change")
    world["debit_cards"][card_id]["pin_last_changed"] = TODAY
    return (
        "Debit Card PIN Changed Successfully\n"
        f"Card ID: {card_id}\n"
        f"PIN Changed: {TODAY}\n\n"
        f"The new PIN is effective immediately.\n{_PIN_CHANGED}"
    )


def _check_pin_can_change(card: Record, verb: str) -> None:
    status, done = card.get("status"), "changed" if verb == "change" else verb
    if status != "ACTIVE":
        fail(
            f"Cannot {verb} PIN. Card status is {status}. "
            f"Only ACTIVE cards can have their PIN {done}."
        )


@discoverable(tools)
def get_debit_cards_by_account_id_7823(world: World, account_id: Any) -> str:
    """Show the cards of an account as JSON, the newest first."""
    need(account_id, text="Missing required parameter 'account_id'.")
    account = account_of(world, account_id)
    if account.get("class", "").lower() not in ("checking", "business_checking"):
        fail(
            f"Account '{account_id}' is not a checking account. "
            "Debit cards are only available for checking accounts."
        )
    found = rows(world, "debit_cards", "account_id", account_id)
    if not found:
        raise Answer(f"No debit cards found for account '{account_id}'.")
    cards = [_shown_card(card_id, card) for card_id, card in found]
    # The original compares dates as texts.
    cards.sort(key=lambda card: card.get("date_issued") or "", reverse=True)
    return json.dumps(cards, indent=2)


def _shown_card(card_id: str, card: Record) -> Record:
    shown = {"card_id": card_id} | card
    dated = "issue_date" if "issue_date" in shown else "created_date"
    for old, new in (("last_4_digits", "card_number_last_4"), (dated, "date_issued")):
        if old in shown and new not in shown:
            shown[new] = shown.pop(old)
    return shown
