"""A bank to try tools on, of a few customers of our own, and tau2's own data and traces."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.editions import Edition
from greenroom.domains.tasks import Action, Task
from greenroom.domains.tau2.banking import BankingSettings, banking_edition
from greenroom.domains.tau2.banking.catalogue import CATALOGUE
from greenroom.domains.tau2.banking.tables import TABLES, hash_world, read_tables
from greenroom.domains.tau2.tasks import PARTIES
from greenroom.domains.tools import ToolResult
from greenroom.domains.world import Base, World
from tests.conftest import TAU2_DATA as DATA

BANK = DATA / "banking_knowledge"

OPENED = "01/02/2024"
RECENTLY = "11/01/2025"


def account(key: str, user: str = "ann", **fields: Any) -> dict[str, Any]:
    return {
        "account_id": key,
        "user_id": user,
        "class": "checking",
        "level": "Blue Account",
        "date_opened": OPENED,
        "status": "OPEN",
        "current_holdings": "100.00",
    } | fields


def debit_card(key: str, account_id: str = "chk", **fields: Any) -> dict[str, Any]:
    return {
        "card_id": key,
        "account_id": account_id,
        "user_id": "ann",
        "cardholder_name": "ANN LEE",
        "last_4_digits": "4321",
        "cvv": "111",
        "status": "ACTIVE",
        "issue_date": OPENED,
        "expiration_date": "01/31/2028",
        "issue_reason": "new_account",
    } | fields


def card_account(key: str, user: str = "ann", **fields: Any) -> dict[str, Any]:
    return {
        "account_id": key,
        "user_id": user,
        "card_type": "Gold Rewards Card",
        "current_balance": "$40.00",
    } | fields


def customer(key: str, name: str) -> dict[str, Any]:
    return {"name": name, "user_id": key, "address": "1 Road", "email": f"{key}@mail.test"}


SMALL_BANK: dict[str, dict[str, Any]] = {
    "users": {"ann": customer("ann", "Ann Lee"), "bob": customer("bob", "Bob Ray")},
    "accounts": {
        "chk": account("chk"),
        "chk2": account("chk2", current_holdings="$1,000.00"),
        "sav": account("sav", **{"class": "saving"}, level="Gold Account"),
        "bobs": account("bobs", "bob"),
    },
    "credit_card_accounts": {"cc": card_account("cc"), "cc_bob": card_account("cc_bob", "bob")},
    "debit_cards": {"card": debit_card("card")},
}


_RETURNS = "Do it.\n\nReturns:\n    Done, as asked."

DESCRIBED: dict[str, Any] = {
    "freeze_debit_card_3892": {
        "description": "Freeze it.",
        "parameters": {"card_id": {"type": "string", "description": "Which.", "required": True}},
    },
    "close_bank_account_7392": {
        "description": "Close it.",
        "parameters": {"reason": {"type": "string", "description": "Why.", "required": False}},
    },
    "get_referral_link": {"description": "Refer.", "parameters": {}},
    "example_agent_tool_0000": {"description": _RETURNS, "parameters": {}},
    "initial_transfer_to_human_agent_0218": {"description": _RETURNS, "parameters": {}},
}


def world_of(**tables: Mapping[str, Any]) -> World:
    """The small bank, with records added or, by None, taken away."""
    bank = copy.deepcopy(SMALL_BANK)
    for name, rows in tables.items():
        for key, row in rows.items():
            if row is None:
                del bank[name][key]
            else:
                bank.setdefault(name, {})[key] = row
    database = read_tables({name: {"data": rows} for name, rows in bank.items()})
    return World(Base(database | {CATALOGUE: DESCRIBED}))


@cache
def rules() -> Edition:
    return banking_edition(BankingSettings(retrieval="no_knowledge"))


def call(world: World, name: str, **arguments: Any) -> str:
    """What a tool of the agent answers."""
    return result(world, name, **arguments).observation


def result(world: World, name: str, **arguments: Any) -> ToolResult:
    return rules().tools[name].call(world, arguments)


def user_call(world: World, name: str, **arguments: Any) -> str:
    """What a tool of the user answers."""
    tools = rules().user_tools
    assert tools is not None
    return tools[name].call(world, arguments).observation


def changed(world: World) -> dict[str, dict[str, Any]]:
    """The records that the episode made or changed, by table."""
    found: dict[str, dict[str, Any]] = {}
    for name in TABLES:
        for place in world.changes():
            if place.table == name:
                found.setdefault(name, {})[place.id] = world[name].read(place.id)
    return found


@cache
def bank(retrieval: str = "no_knowledge") -> Domain:
    """tau2's bank."""
    return load_domain("banking_knowledge", DATA, {"retrieval": retrieval})


def task_named(task_id: str | None) -> Task | None:
    return next((task for task in bank().tasks() if task.id == task_id), None)


@cache
def traces() -> list[dict[str, Any]]:
    """The recorded traces of banking."""
    with (DATA / "conformance-tau2.jsonl").open() as lines:
        found = [json.loads(line) for line in lines]
    return [trace for trace in found if trace.get("domain") == "banking_knowledge"]


def differences(trace: Mapping[str, Any]) -> list[str]:
    """What is not as recorded."""
    domain = bank(trace["variant"])
    if hash_world(domain.worlds().agent) != trace["hash_at_start"][0]:
        return ["the hash at the start"]
    worlds = domain.worlds(task_named(trace["task_id"]))
    if hash_world(worlds.agent) != trace["hash_after_init"][0]:
        return ["the hash after the set-up"]
    found: list[str] = []
    for number, step in enumerate(trace["steps"]):
        if "call" not in step:
            continue
        action = Action(step["name"], step["arguments"], party=PARTIES[step["call"]])
        answer = domain.call(worlds, action)
        hashes = [hash_world(worlds.agent), hash_world(worlds.of("user"))]
        if (answer.observation, answer.failed) != (step["content"], step["error"]):
            found.append(f"{number} {action}: {answer.observation!r}")
        if hashes != step["hash"]:
            found.append(f"{number} {action}: the hashes")
    return found
