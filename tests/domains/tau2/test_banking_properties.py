"""Whatever both parties call: episodes stay apart, repeat, and never break the database."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.domains.tasks import Action, Task
from greenroom.domains.tau2.banking.discovery import AGENT_DISCOVERABLE, USER_DISCOVERABLE
from greenroom.domains.tau2.banking.tables import hash_world
from greenroom.domains.worlds import Worlds
from tests.domains.tau2.banking_play import bank

FRESH = "af324a7d72aced5889daf6cc044e573ad94ffa3bfe7cf65114fd3cfed5daaa48"

_VALUES: dict[str, list[Any]] = {
    "account_id": ["01", "03", "05", "chk_mt35a7c9d2_blue", "none"],
    "source_account_id": ["01", "03", "05"],
    "destination_account_id": ["02", "03", "05"],
    "checking_account_id": ["03", "05"],
    "credit_card_account_id": ["cc_584f9c5d00_gold", "cc_5e4c1a83b0_bronze", 'x"'],
    "card_id": ["dbc_7a3f9c2b1e", "dbc_4e8d2a6f9c", "dbc_mt35a7c9d2_blue", "none"],
    "user_id": ["584f9c5d00", "5e4c1a83b0", "123", 'a", "name": "b'],
    "transaction_id": ["txn_d3b830f4a2a4", "btxn_0788d2513c8c", "none"],
    "reason": ["lost", "fraud_suspected", "other", "customer_verified", "retention_offer"],
    "amount": [10, 0.5, -1, "12.50", None],
    "check_amount": [10, "5", "x"],
    "account_type": ["checking", "savings", "business_checking"],
    "account_class": ["Blue Account"],
    "credit_type": ["fee_refund", "rebate_credit", "goodwill_credit"],
    "new_limit": [600, 900.5],
    "limit_type": ["atm", "purchase"],
    "pin": ["4826", "1234", 4826],
    "cvv": ["123"],
    "last_4_digits": ["2847", "5291"],
    "expiration_date": ["11/29"],
    "delivery_option": ["standard", "RUSH"],
    "card_design": ["CLASSIC"],
    "delivery_fee": [0, 5],
    "design_fee": [0, 15.5],
    "months": [3, "6"],
    "requested_increase_amount": [2500, 0.5],
    "new_credit_limit": [7500],
    "denial_reason": ["other"],
    "closure_reason": ["annual_fee"],
    "card_action": ["keep_active"],
}
_OTHER = [True, "text", None, 3, ["list"]]


def _arguments(names: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {name: st.sampled_from(_VALUES.get(name, _OTHER)) for name in names}
    )


@st.composite
def actions(draw: st.DrawFn) -> list[Action]:
    """What both parties do with a few tools: unlock, give and call them, by both ways."""
    calls: list[Action] = []
    names = st.sampled_from([*AGENT_DISCOVERABLE, *USER_DISCOVERABLE])
    for name in draw(st.lists(names, min_size=1, max_size=6)):
        tool = AGENT_DISCOVERABLE.get(name) or USER_DISCOVERABLE[name]
        given = draw(_arguments(list(tool.parameters)))
        text = json.dumps(given)
        if name in AGENT_DISCOVERABLE:
            calls.append(Action("unlock_discoverable_agent_tool", {"agent_tool_name": name}))
            arguments = {"agent_tool_name": name, "arguments": text}
            calls.append(Action("call_discoverable_agent_tool", arguments))
            calls.append(Action(name, given))
        else:
            calls.append(Action("give_discoverable_user_tool", {"discoverable_tool_name": name}))
            arguments = {"discoverable_tool_name": name, "arguments": text}
            calls.append(Action("call_discoverable_user_tool", arguments, party="user"))
            calls.append(Action(name, given, party="user"))
    calls.append(Action("request_human_agent_transfer", party="user"))
    return draw(st.permutations(calls))


def play(task: Task, calls: list[Action]) -> tuple[list[tuple[str, bool, str]], Worlds]:
    domain = bank()
    worlds = domain.worlds(task)
    seen: list[tuple[str, bool, str]] = []
    for action in calls:
        result = domain.call(worlds, action)
        seen.append((result.observation, result.failed, hash_world(worlds.agent)))
    return seen, worlds


@pytest.mark.slow
@pytest.mark.tau2_data
@given(st.integers(0, 96), actions(), actions())
@settings(max_examples=60)
def test_episodes_never_leak_and_replay_to_the_same_hashes(
    index: int, mine: list[Action], other: list[Action]
) -> None:
    task = bank().tasks()[index]
    kept = json.dumps([dict(action.kwargs) for action in mine])
    first, worlds = play(task, mine)
    between, _ = play(task, other)
    again, others = play(task, mine)
    assert again == first
    assert play(task, other)[0] == between
    assert worlds.touched_records() == others.touched_records()
    assert worlds.of("user") is worlds.agent
    assert hash_world(bank().worlds().agent) == FRESH
    assert json.dumps([dict(action.kwargs) for action in mine]) == kept


@pytest.mark.tau2_data
@given(actions())
@settings(max_examples=40)
def test_the_quick_hash_is_that_of_all_tables(calls: list[Action]) -> None:
    _, worlds = play(bank().tasks()[30], calls)
    # A world whose tables were all read, and so copied, has the same hash.
    expected = hash_world(worlds.agent)
    for name in worlds.agent:
        for key in list(worlds.agent[name]):
            _ = worlds.agent[name][key]
    assert hash_world(worlds.agent) == expected
