"""The bank's tools on a bank of our own: what they refuse, and in which order, and what they write.

Recorded traces cover most answers of the original; these are the others.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.domains.tau2.banking_cases import (
    APPROVE,
    CREDIT,
    DEBIT_DISPUTE,
    DISPUTE,
    LIMIT,
    MOVE,
    ORDER,
    PAY,
    PIN,
    RAISE,
    REFUSALS,
    REPLACE,
    REPORT,
    STATES,
)
from tests.domains.tau2.banking_play import (
    OPENED,
    RECENTLY,
    account,
    call,
    card_account,
    changed,
    debit_card,
    result,
    world_of,
)

_TEEN = "Error: Light Green Account (teen checking) cards have policy-based limits"


@pytest.mark.parametrize(("tool", "arguments", "text"), REFUSALS)
def test_what_is_wrong_is_said_and_nothing_is_written(
    tool: str, arguments: dict[str, Any], text: str
) -> None:
    world = world_of()
    answer = result(world, tool, **arguments)
    assert (answer.observation, answer.failed) == (text, False)
    assert changed(world) == {}


@pytest.mark.parametrize(("tool", "arguments", "tables", "text"), STATES)
def test_what_the_records_forbid_is_said_and_nothing_is_written(
    tool: str, arguments: dict[str, Any], tables: dict[str, Any], text: str
) -> None:
    world = world_of(**tables)
    assert call(world, tool, **arguments) == text
    assert changed(world) == {}


def test_a_teenagers_limit_is_fixed() -> None:
    world = world_of(accounts={"chk": account("chk", level="Light Green Account")})
    tool = "request_temporary_debit_card_limit_increase_8374"
    assert call(world, tool, **LIMIT).startswith(_TEEN)


def test_the_fee_for_early_closure_may_use_up_what_is_left() -> None:
    world = world_of(accounts={"chk": account("chk", date_opened=RECENTLY, current_holdings="25")})
    assert call(world, "close_bank_account_7392", account_id="chk").endswith("Waived: No")
    closed = changed(world)["accounts"]["chk"]
    assert (closed["status"], closed["current_holdings"]) == ("CLOSED", "25")
    other = world_of(accounts={"chk": account("chk", date_opened="soon", current_holdings="$0")})
    arguments = {"account_id": "chk", "reason": "moving", "waive_early_closure_fee": True}
    assert "Reason: moving" in call(other, "close_bank_account_7392", **arguments)


def test_holdings_are_written_in_four_ways() -> None:
    world = world_of()

    def held(key: str) -> str:
        return world["accounts"].read(key)["current_holdings"]

    call(world, "transfer_funds_between_bank_accounts_7291", **MOVE)
    assert (held("chk"), held("chk2")) == ("$95.00", "$1005.00")
    call(world, "pay_credit_card_from_checking_9182", **PAY)
    assert held("chk") == "90.00"
    credit: dict[str, Any] = {"amount": "1", "credit_type": "fee_refund"}
    call(world, "apply_checking_account_credit_5829", account_id="chk", **credit)
    call(world, "apply_savings_account_credit_6831", account_id="sav", **credit)
    assert (held("chk"), held("sav")) == ("$91.00", "101.00")


def test_the_same_credit_again_replaces_its_transaction_but_pays_twice() -> None:
    world = world_of()
    for _ in range(2):
        arguments = {"account_id": "chk", "amount": 2, "credit_type": "rebate_credit"}
        call(world, "apply_checking_account_credit_5829", **arguments)
    made = changed(world)
    assert len(made["bank_account_transaction_history"]) == 1
    assert made["accounts"]["chk"]["current_holdings"] == "$104.00"


def test_opened_accounts_have_no_class_so_other_tools_refuse_them() -> None:
    world = world_of()
    arguments = {"user_id": "ann", "account_type": "checking", "account_class": "Blue Account"}
    text = call(world, "open_bank_account_4821", **arguments)
    key = text.split("Account ID: ")[1].split("\n")[0]
    again = call(world, "open_bank_account_4821", **arguments)
    assert again == f"Failed to open account: Account ID '{key}' may already exist."
    refused = call(world, "order_debit_card_5739", **ORDER | {"account_id": key})
    assert refused.endswith(f"Account '{key}' is a None account.")


def test_an_order_charges_fees_and_makes_a_card() -> None:
    closed = debit_card("card", status="CLOSED", closure_reason="fraud_suspected")
    world = world_of(debit_cards={"card": closed})
    arguments = ORDER | {"account_id": "chk", "excess_replacement_fee": 10}
    text = call(world, "order_debit_card_5739", **arguments)
    assert "Total Fees: $25.00 (Delivery: $15.0, Excess Replacement: $10) - CHARGED" in text
    made = changed(world)
    assert made["accounts"]["chk"]["current_holdings"] == "75.00"
    (fee,) = made["bank_account_transaction_history"].values()
    assert fee["description"] == "DEBIT CARD ORDER FEE - Delivery $15.0, Excess Replacement $10"
    (card,) = made["debit_cards"].values()
    assert (card["issue_reason"], card["cardholder_name"]) == ("fraud", "ANN LEE")
    assert (len(card["last_4_digits"]), len(card["cvv"])) == (4, 3)


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        (None, "new_account"),
        (debit_card("card", status="FROZEN"), "first_card"),
        (debit_card("card", status="CLOSED"), "first_card"),
        (debit_card("card", status="CLOSED", closure_reason="damaged"), "first_card"),
        (debit_card("card", status="CLOSED", closure_reason="stolen"), "stolen"),
    ],
)
def test_a_new_card_says_why_it_was_issued(card: Any, reason: str) -> None:
    world = world_of(debit_cards={"card": card})
    arguments = ORDER | {"account_id": "chk", "delivery_fee": 0, "excess_replacement_fee": "x"}
    text = call(world, "order_debit_card_5739", **arguments)
    assert text.endswith("Total Fees: $0 (No additional charges)")
    made = changed(world)
    assert {one["issue_reason"] for one in made["debit_cards"].values()} == {reason}
    assert set(made) == {"debit_cards", "debit_card_orders"}


@pytest.mark.parametrize(
    ("number", "reason", "status", "words"),
    [
        (
            "8291",
            "first_card",
            "DEACTIVATED",
            "\n\nNote: Previous card(s) have been deactivated: card",
        ),
        (
            "8292",
            "fraud",
            "DEACTIVATED",
            "password\n\nPrevious card(s) have been deactivated for security: card",
        ),
        (
            "8293",
            "bank_reissue",
            "GRACE_PERIOD",
            "(card) will remain active for 24 hours as a grace period.\nAfter 24 hours",
        ),
    ],
)
def test_activation_retires_other_cards_of_the_account(
    number: str, reason: str, status: str, words: str
) -> None:
    new = debit_card("new", status="PENDING", issue_reason=reason)
    other = debit_card("other", "chk2")
    world = world_of(debit_cards={"new": new, "other": other})
    assert words in call(world, f"activate_debit_card_{number}", card_id="new", **PIN)
    cards = changed(world)["debit_cards"]
    assert {key: card["status"] for key, card in cards.items()} == {"new": "ACTIVE", "card": status}


def test_dates_of_cards_and_payments_are_compared_as_texts() -> None:
    cards = {"new": debit_card("new", issue_date="01/05/2025", created_date="x")}
    shown = json.loads(
        call(world_of(debit_cards=cards), "get_debit_cards_by_account_id_7823", account_id="chk")
    )
    assert [card["card_id"] for card in shown] == ["new", "card"]
    assert next(iter(shown[1])) == "card_id"
    assert list(shown[1])[-2:] == ["card_number_last_4", "date_issued"]
    rows = {
        day: {"credit_card_account_id": "cc", "payment_date": day, "status": status}
        for day, status in ((OPENED, "LATE"), ("12/01/2023", "ON_TIME"), ("06/01/2025", "ON_TIME"))
    }
    world = world_of(payment_history=rows)
    arguments = {"credit_card_account_id": "cc", "months": 3}
    text = call(world, "get_payment_history_6183", **arguments)
    assert "Consecutive on-time payments: 2" in text
    assert [line[-10:] for line in text.splitlines() if "Date" in line] == [
        "12/01/2023",
        "06/01/2025",
        OPENED,
    ]


def test_transactions_are_shown_newest_first() -> None:
    days = ["02/01/2024", "01/01/2025", "no date", "01/01/2025 10:00:00", "02/01/2024"]
    rows = {str(n): {"account_id": "chk", "date": day} for n, day in enumerate(days)}
    world = world_of(bank_account_transaction_history=rows)
    text = call(world, "get_bank_account_transactions_9173", account_id="chk")
    assert [line[-1] for line in text.splitlines() if "Record ID" in line] == list("31042")
    none = call(world, "get_bank_account_transactions_9173", account_id="sav")
    assert none.endswith("account sav:\n\nNo transactions found for this account.")


def test_a_dispute_is_filed_once_for_a_transaction() -> None:
    world = world_of()
    refund = {"resolution_requested": "partial_refund", "partial_refund_amount": 3}
    text = call(world, "file_credit_card_transaction_dispute_4829", **DISPUTE | refund)
    assert "Partial Refund Amount: $3.00" in text
    again = call(world, "file_credit_card_transaction_dispute_4829", **DISPUTE)
    assert again == "Error: Dispute may have already been filed for this transaction."
    text = call(world, "file_debit_card_transaction_dispute_6281", **DEBIT_DISPUTE)
    assert "\nWARNING: " in text
    assert "\nRECOMMENDATION: " in text
    again = call(world, "file_debit_card_transaction_dispute_6281", **DEBIT_DISPUTE)
    assert again == "Error: Dispute may have already been filed for this transaction."


def test_approval_keeps_the_record_of_the_request() -> None:
    world = world_of(credit_card_accounts={"cc": card_account("cc", credit_limit="$490.00")})
    assert "Requested Increase: $10" in call(
        world, "submit_credit_limit_increase_request_7392", **RAISE
    )
    again = call(world, "submit_credit_limit_increase_request_7392", **RAISE)
    assert again == "Error: A similar request may already exist."
    assert "Increase: $10.00" in call(world, "approve_credit_limit_increase_5847", **APPROVE)
    made = changed(world)
    (request,) = made["credit_limit_increase_requests"].values()
    assert request["status"] == "PENDING"
    assert made["credit_card_accounts"]["cc"]["credit_limit"] == "$500.00"


def test_a_replacement_is_ordered_once_and_does_not_block_approval() -> None:
    world = world_of()
    assert "7-10 business days" in call(world, "order_replacement_credit_card_7291", **REPLACE)
    again = call(world, "order_replacement_credit_card_7291", **REPLACE)
    assert again == "Error: Order may have already been placed for this card replacement."
    assert "approved!" in call(world, "approve_credit_limit_increase_5847", **APPROVE)


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        (
            "apply_statement_credit_8472",
            CREDIT | {"amount": "5"},
            "'<=' not supported between instances of 'str' and 'int'",
        ),
        (
            "apply_statement_credit_8472",
            CREDIT | {"user_id": 5},
            "sequence item 1: expected str instance, int found",
        ),
        (
            "activate_debit_card_8291",
            PIN | {"card_id": "card", "pin": 4826.0},
            "'float' object has no attribute 'isdigit'",
        ),
        ("freeze_debit_card_3892", {"card_id": ["card"]}, "unhashable type: 'list'"),
        (
            "approve_credit_limit_increase_5847",
            APPROVE | {"new_credit_limit": "much"},
            "could not convert string to float: 'much'",
        ),
    ],
)
def test_python_speaks_of_values_of_the_wrong_type(
    tool: str, arguments: dict[str, Any], text: str
) -> None:
    world = world_of()
    answer = result(world, tool, **arguments)
    assert (answer.observation, answer.failed) == (f"Error: {text}", True)
    assert changed(world) == {}


def test_nothing_is_kept_of_an_interest_report() -> None:
    world = world_of()
    text = call(world, "submit_interest_discrepancy_report_7294", **REPORT)
    assert "  - APY Difference: 0.5%\n  - Amount Difference: $1.00\n" in text
    assert "  - Account: sav (Gold Account)\n  - Customer: Ann Lee\n" in text
    assert changed(world) == {}
