"""Discoverable tools that show what a table says about a customer or an account."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from greenroom.domains.tau2.banking.answers import (
    account_of,
    agent_tools,
    discoverable,
    need_one,
)
from greenroom.domains.tau2.banking.tables import find, found_text, rows
from greenroom.domains.world import World

tools = agent_tools()


@dataclass(frozen=True)
class _History:
    """What a table says about somebody or something."""

    table: str
    field: str
    title: str
    about: str
    none: str

    def show(self, world: World, tool: str, value: Any) -> str:
        need_one(self.field, value)
        found = find(world, self.table, self.field, value)
        shown = f"\n{self.none}"
        if found:
            shown = found if isinstance(found, str) else found_text(self.table, found)
        return f"{self.title}\n\nExecuted: {tool}\n{self.about} {value}:\n{shown}"


_DEBIT_DISPUTES: Final = _History(
    "debit_card_disputes",
    "user_id",
    "Debit card dispute history retrieved successfully.",
    "Debit card dispute history for user",
    "No debit card disputes found for this user.",
)
_CARD_DISPUTES: Final = _History(
    "transaction_disputes",
    "user_id",
    "User transaction dispute history retrieved successfully.",
    "Transaction dispute history for user",
    "No transaction disputes found for this user.",
)
_REPLACEMENTS: Final = _History(
    "credit_card_orders",
    "credit_card_account_id",
    "Pending replacement orders check completed.",
    "Replacement orders for credit card account",
    "No pending replacement orders found for this credit card account.",
)
_CLOSURE_REASONS: Final = _History(
    "credit_card_closure_reasons",
    "credit_card_account_id",
    "Closure reason history retrieved successfully.",
    "Closure reason history for credit card account",
    "No closure reason records found for this credit card account.",
)
_LIMIT_REQUESTS: Final = _History(
    "credit_limit_increase_requests",
    "credit_card_account_id",
    "Credit limit increase history retrieved.",
    "Credit limit increase history for account",
    "No credit limit increase requests found for this account.",
)


@discoverable(tools)
def get_debit_dispute_status_7483(world: World, user_id: Any) -> str:
    """Show a customer's disputes of debit card transactions."""
    return _DEBIT_DISPUTES.show(world, "get_debit_dispute_status_7483", user_id)


@discoverable(tools)
def get_user_dispute_history_7291(world: World, user_id: Any) -> str:
    """Show a customer's disputes of credit card transactions."""
    return _CARD_DISPUTES.show(world, "get_user_dispute_history_7291", user_id)


@discoverable(tools)
def get_pending_replacement_orders_5765(world: World, credit_card_account_id: Any) -> str:
    """Show the orders of replacement cards, whatever their status."""
    return _REPLACEMENTS.show(world, "get_pending_replacement_orders_5765", credit_card_account_id)


@discoverable(tools)
def get_closure_reason_history_8293(world: World, credit_card_account_id: Any) -> str:
    """Show why an account was to be closed before."""
    return _CLOSURE_REASONS.show(world, "get_closure_reason_history_8293", credit_card_account_id)


@discoverable(tools)
def get_credit_limit_increase_history_4829(world: World, credit_card_account_id: Any) -> str:
    """Show earlier requests for a higher limit."""
    return _LIMIT_REQUESTS.show(
        world, "get_credit_limit_increase_history_4829", credit_card_account_id
    )


@discoverable(tools)
def get_all_user_accounts_by_user_id_3847(world: World, user_id: Any) -> str:
    """Show all accounts of a customer."""
    need_one("user_id", user_id)
    shown = {
        "Bank Accounts": _accounts_text(world, "accounts", user_id, "bank accounts"),
        "Credit Card Accounts": _accounts_text(
            world, "credit_card_accounts", user_id, "credit card accounts"
        ),
    }
    return (
        "User accounts retrieved successfully.\n\n"
        "Executed: get_all_user_accounts_by_user_id_3847\n"
        f"Accounts for user {user_id}:\n\n"
    ) + "\n\n".join(f"{title}:\n{text}" for title, text in shown.items())


def _accounts_text(world: World, table: str, user_id: Any, noun: str) -> str:
    found = find(world, table, "user_id", user_id)
    if isinstance(found, str):
        return found
    return found_text(table, found) if found else f"  No {noun} found."


@discoverable(tools)
def get_bank_account_transactions_9173(world: World, account_id: Any) -> str:
    """Show the transactions of a bank account, the newest first."""
    need_one("account_id", account_id)
    account_of(world, account_id)
    table = "bank_account_transaction_history"
    found = rows(world, table, "account_id", account_id)
    found.sort(key=lambda pair: _when(pair[1].get("date", "")), reverse=True)
    shown = found_text(table, found) if found else "\nNo transactions found for this account."
    return (
        "Bank account transactions retrieved successfully.\n\n"
        "Executed: get_bank_account_transactions_9173\n"
        f"Transactions for account {account_id}:\n{shown}"
    )


@lru_cache(maxsize=4096)
def _when(date: Any) -> datetime:
    for form in ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y"):
        try:
            return datetime.strptime(date, form)
        except (TypeError, ValueError):
            continue
    return datetime.min  # what cannot be read comes last
