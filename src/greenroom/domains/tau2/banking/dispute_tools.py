"""Discoverable tools that file disputes of credit and debit card transactions."""

from __future__ import annotations

from typing import Any

from greenroom.domains.tau2.banking.answers import (
    agent_tools,
    discoverable,
    dollars,
    fail,
    need,
    one_of,
    row,
    titled,
)
from greenroom.domains.tau2.banking.tables import TODAY, add, hex_id
from greenroom.domains.world import World

tools = agent_tools()

_ALREADY_FILED = "Dispute may have already been filed for this transaction."
_FRAUD = ("unauthorized_transaction", "card_present_fraud", "card_not_present_fraud")


def dispute_id_of(user_id: Any, transaction_id: Any) -> str:
    """The id of a dispute, of which there is one for each transaction."""
    return f"dsp_{hex_id(f'dispute:{user_id}:{transaction_id}', 12)}"


@discoverable(tools, writes=True)
def file_credit_card_transaction_dispute_4829(
    world: World,
    transaction_id: Any,
    card_action: Any,
    card_last_4_digits: Any,
    full_name: Any,
    user_id: Any,
    phone: Any,
    email: Any,
    address: Any,
    contacted_merchant: Any,
    purchase_date: Any,
    issue_noticed_date: Any,
    dispute_reason: Any,
    resolution_requested: Any,
    eligible_for_provisional_credit: Any,
    partial_refund_amount: Any = None,
) -> str:
    """Dispute a credit card transaction; neither it nor the customer is looked up."""
    need(transaction_id, user_id)
    one_of("card_action", card_action, ("keep_active", "cancel_and_reissue"))
    reasons = (
        "unauthorized_fraudulent_charge",
        "duplicate_charge",
        "incorrect_amount",
        "goods_services_not_received",
        "goods_services_not_as_described",
        "canceled_subscription_still_charging",
        "refund_never_processed",
    )
    one_of("dispute_reason", dispute_reason, reasons)
    one_of("resolution_requested", resolution_requested, ("full_refund", "partial_refund"))
    if resolution_requested == "partial_refund" and partial_refund_amount is None:
        fail("partial_refund_amount is required when resolution_requested is 'partial_refund'.")
    dispute_id = dispute_id_of(user_id, transaction_id)
    record = {
        "dispute_id": dispute_id,
        "transaction_id": transaction_id,
        "user_id": user_id,
        "card_action": card_action,
        "card_last_4_digits": card_last_4_digits,
        "full_name": full_name,
        "phone": phone,
        "email": email,
        "address": address,
        "contacted_merchant": contacted_merchant,
        "purchase_date": purchase_date,
        "issue_noticed_date": issue_noticed_date,
        "dispute_reason": dispute_reason,
        "resolution_requested": resolution_requested,
        "partial_refund_amount": partial_refund_amount,
        "eligible_for_provisional_credit": eligible_for_provisional_credit,
        "provisional_credit_given": eligible_for_provisional_credit,
        "submitted_at": TODAY,
        "status": "SUBMITTED",
    }
    if not add(world, "transaction_disputes", dispute_id, record):
        fail(_ALREADY_FILED)
    refund = (
        f"\nPartial Refund Amount: {dollars(partial_refund_amount)}"
        if partial_refund_amount
        else ""
    )
    credit = (
        "ELIGIBLE - Credit will be applied within 2 business days."
        if eligible_for_provisional_credit
        else "Not eligible at this time."
    )
    return (
        "Credit card transaction dispute filed successfully. "
        "A case has been opened and will be reviewed within 10 business days.\n\n"
        "Executed: file_credit_card_transaction_dispute_4829\n"
        f"Dispute ID: {dispute_id}\n"
        f"Transaction: {transaction_id}\n"
        f"Reason: {titled(dispute_reason)}\n"
        f"Resolution Requested: {titled(resolution_requested)}"
        f"{refund}\nProvisional Credit: {credit}"
    )


@discoverable(tools, writes=True)
def file_debit_card_transaction_dispute_6281(
    world: World,
    transaction_id: Any,
    account_id: Any,
    card_id: Any,
    user_id: Any,
    dispute_category: Any,
    transaction_date: Any,
    discovery_date: Any,
    disputed_amount: Any,
    transaction_type: Any,
    card_in_possession: Any,
    pin_compromised: Any,
    contacted_merchant: Any,
    police_report_filed: Any,
    written_statement_provided: Any,
    provisional_credit_eligible: Any,
    customer_max_liability_amount: Any,
    card_action: Any,
) -> str:
    """Dispute a debit card transaction; the card is not touched."""
    need(
        transaction_id,
        account_id,
        card_id,
        user_id,
        dispute_category,
        transaction_date,
        discovery_date,
        disputed_amount,
        transaction_type,
        pin_compromised,
        card_action,
    )
    if customer_max_liability_amount is None:
        fail("customer_max_liability_amount is required.")
    flags = (card_in_possession, contacted_merchant, police_report_filed)
    if None in (*flags, written_statement_provided):
        fail(
            "card_in_possession, contacted_merchant, police_report_filed, and "
            "written_statement_provided are required boolean fields."
        )
    _check_debit_values(dispute_category, transaction_type, pin_compromised, card_action)
    if disputed_amount <= 0:
        fail("disputed_amount must be a positive number.")
    dispute_id = dispute_id_of(user_id, transaction_id)
    is_fraud = dispute_category in _FRAUD
    record = {
        "dispute_id": dispute_id,
        "transaction_id": transaction_id,
        "account_id": account_id,
        "card_id": card_id,
        "user_id": user_id,
        "dispute_category": dispute_category,
        "transaction_date": transaction_date,
        "discovery_date": discovery_date,
        "disputed_amount": disputed_amount,
        "transaction_type": transaction_type,
        "card_in_possession": card_in_possession,
        "pin_compromised": pin_compromised,
        "contacted_merchant": contacted_merchant,
        "police_report_filed": police_report_filed,
        "written_statement_provided": written_statement_provided,
        "provisional_credit_eligible": provisional_credit_eligible,
        "provisional_credit_issued": provisional_credit_eligible,
        "provisional_credit_amount": disputed_amount if provisional_credit_eligible else None,
        "customer_max_liability_amount": customer_max_liability_amount,
        "card_action": card_action,
        "is_fraud_category": is_fraud,
        "pin_shared_voluntarily": pin_compromised == "yes_shared",
        "submitted_at": TODAY,
        "status": "OPEN",
    }
    if not add(world, "debit_card_disputes", dispute_id, record):
        fail(_ALREADY_FILED)
    lines = [
        f"Dispute ID: {dispute_id}",
        f"Transaction: {transaction_id}",
        f"Account: {account_id}",
        f"Category: {titled(dispute_category)}",
        f"Disputed Amount: {dollars(disputed_amount)}",
        f"Card Action: {titled(card_action)}",
        f"Provisional Credit: ISSUED - {dollars(disputed_amount)} credited within 10 business days "
        "per Regulation E."
        if provisional_credit_eligible
        else "Provisional Credit: Not eligible - "
        "see Debit Card Provisional Credit Guidelines for details.",
    ]
    if pin_compromised == "yes_shared":
        lines.append(
            "WARNING: Customer indicated PIN was shared voluntarily. "
            "This may affect liability determination."
        )
    if is_fraud and not police_report_filed and disputed_amount > 500:
        lines.append(
            "RECOMMENDATION: For fraud disputes over $500, filing a police report is recommended."
        )
    return "\n".join(lines)


def _check_debit_values(category: Any, transaction_type: Any, pin: Any, card_action: Any) -> None:
    categories = (
        "unauthorized_transaction",
        "atm_cash_discrepancy",
        "atm_deposit_not_credited",
        "duplicate_charge",
        "incorrect_amount",
        "goods_services_not_received",
        "recurring_charge_after_cancellation",
        "card_present_fraud",
        "card_not_present_fraud",
    )
    one_of("dispute_category", category, categories)
    types = (
        "pin_purchase",
        "signature_purchase",
        "online_purchase",
        "atm_withdrawal",
        "atm_deposit",
        "recurring_payment",
        "person_to_person",
    )
    one_of("transaction_type", transaction_type, types)
    one_of("pin_compromised", pin, ("yes_shared", "yes_observed", "no", "unknown"))
    actions = ("keep_active", "freeze_pending_investigation", "close_and_reissue")
    one_of("card_action", card_action, actions)


@discoverable(tools)
def get_atm_deposit_images_8473(world: World, transaction_id: Any) -> str:
    """Look for pictures of a deposit, which no data has."""
    need(transaction_id, text="Missing required parameter: transaction_id")
    missing = f"Transaction '{transaction_id}' not found."
    transaction = row(world, "bank_account_transaction_history", transaction_id, missing)
    if transaction.get("type") != "atm_deposit":
        fail(
            f"Transaction '{transaction_id}' is not an ATM deposit. "
            "This tool only works for ATM deposit transactions."
        )
    machine = transaction.get("description", "")
    if "RHO-BANK" not in machine.upper() and "RHOBANK" not in machine.upper():
        fail(
            f"Transaction '{transaction_id}' is from a third-party ATM. "
            "Deposit images are only available for Rho-Bank ATM deposits. For third-party ATM "
            "disputes, a chargeback request must be submitted to the ATM network."
        )
    return (
        "ATM Deposit Image Retrieval Results\n"
        "=====================================\n"
        f"Transaction ID: {transaction_id}\n"
        f"ATM: {machine}\n"
        f"Deposit Date: {transaction.get('date', 'Unknown')}\n"
        f"Amount Recorded: {dollars(abs(transaction.get('amount', 0)))}\n\n"
        "--- IMAGE STATUS ---\n"
        "Status: IMAGES NOT AVAILABLE\n"
        "Reason: Deposit images for this transaction have either expired (older than 90 days) "
        "or were not captured by the ATM system.\n\n"
        "For deposits without available images, the dispute will proceed based on customer "
        "statement and ATM journal records only. Investigation timeline may be extended.\n"
    )
