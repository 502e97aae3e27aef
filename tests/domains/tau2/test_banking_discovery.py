"""Tools that are discovered: unlocked, given and called, and the records that this leaves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from greenroom.domains.tasks import Action
from greenroom.domains.tau2.banking.discovery import log_reads
from greenroom.domains.world import World
from tests.domains.tau2.banking_play import call, changed, result, user_call, world_of

FREEZE = "freeze_debit_card_3892"
LOOK = "get_debit_cards_by_account_id_7823"


def unlock(world: World, name: Any) -> str:
    return call(world, "unlock_discoverable_agent_tool", agent_tool_name=name)


def call_unlocked(world: World, name: str, arguments: Any = "{}") -> str:
    return call(world, "call_discoverable_agent_tool", agent_tool_name=name, arguments=arguments)


def give(world: World, name: Any, **arguments: Any) -> str:
    return call(world, "give_discoverable_user_tool", discoverable_tool_name=name, **arguments)


def call_given(world: World, name: Any, arguments: Any = "{}") -> str:
    tool = "call_discoverable_user_tool"
    return user_call(world, tool, discoverable_tool_name=name, arguments=arguments)


def test_unlocking_describes_a_tool_and_leaves_no_record() -> None:
    world = world_of()
    assert unlock(world, FREEZE) == (
        f"Tool unlocked: {FREEZE}\nDescription: Freeze it.\n\n"
        f"Tool: {FREEZE}\nDescription: Freeze it.\nParameters:\n"
        "  - card_id: string (required) - Which.\n\n"
        "You can now use this tool by calling `call_discoverable_agent_tool` with "
        f"agent_tool_name='{FREEZE}' and the required arguments."
    )
    assert "\n  - reason: string (optional) - Why.\n" in unlock(world, "close_bank_account_7392")
    assert "\nParameters:\n  (no parameters)\n" in unlock(world, "example_agent_tool_0000")
    assert changed(world) == {}


def test_what_is_unlocked_is_unlocked_in_this_episode_alone() -> None:
    world = world_of()
    other = World(world.base)
    unlock(world, FREEZE)
    text = call_unlocked(other, FREEZE, '{"card_id": "card"}')
    assert text.startswith(f"Error: Tool '{FREEZE}' has not been unlocked. You must first use ")
    assert call_unlocked(world, FREEZE, '{"card_id": "card"}').startswith("Debit Card Frozen")
    assert changed(other) == {}


@pytest.mark.parametrize("name", ["downgrade_credit_card_3847", "get_referral_link", "", 7])
def test_unknown_tools_are_neither_unlocked_nor_called(name: Any) -> None:
    text = f"Error: Unknown agent tool '{name}'. This tool is not available."
    assert unlock(world_of(), name) == text
    assert call_unlocked(world_of(), name) == text


def test_a_writing_tool_is_logged_once_also_where_it_refuses() -> None:
    world = world_of()
    unlock(world, FREEZE)
    for card in ("gone", "card"):
        call_unlocked(world, FREEZE, json.dumps({"card_id": card}))
    logged = changed(world)["agent_discoverable_tools"]
    assert list(logged.values()) == [{"tool_name": FREEZE, "status": "CALLED"}]
    shown = call(world, "list_discoverable_agent_tools")
    assert shown.startswith("Your called agent tools:\nFound 1 record(s) in 'agent_disc")


def test_a_reading_tool_is_logged_where_the_task_asks_for_it() -> None:
    world = world_of()
    unlock(world, LOOK)
    call_unlocked(world, LOOK, '{"account_id": "chk"}')
    assert changed(world) == {}
    log_reads(world, [Action("call_discoverable_agent_tool", {"agent_tool_name": LOOK})])
    call_unlocked(world, LOOK, '{"account_id": "chk"}')
    assert set(changed(world)) == {"agent_discoverable_tools"}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("{", "Invalid JSON in arguments: Expecting property name enclosed in double quotes"),
        ("{}", "Invalid arguments: KnowledgeTools.{}() missing 1 required positional argument"),
        ('{"x": 1, "card_id": 1}', "Invalid arguments: KnowledgeTools.{}() got an unexpected"),
        ('{"tool_name": 1}', "Invalid arguments: KnowledgeTools.{}() got an unexpected keyword"),
        ('{"world": 1}', "Invalid arguments: KnowledgeTools.{}() got an unexpected keyword arg"),
        ('{"self": 1}', "Invalid arguments: KnowledgeTools.{}() got multiple values for argument"),
        (
            "[1]",
            (
                "Invalid arguments: tau2.domains.banking_knowledge.tools.KnowledgeTools.{}() "
                "argument after ** must be a mapping, not list"
            ),
        ),
        ('{"card_id": ["x"]}', "Invalid arguments: unhashable type: 'list'"),
    ],
)
def test_arguments_that_do_not_fit_leave_no_record(arguments: str, text: str) -> None:
    world = world_of()
    unlock(world, FREEZE)
    assert call_unlocked(world, FREEZE, arguments).startswith(f"Error: {text.format(FREEZE)}")
    assert changed(world) == {}


def test_other_errors_of_a_tool_count_as_failures() -> None:
    world = world_of()
    unlock(world, "activate_debit_card_8291")
    given = dict.fromkeys(("card_id", "last_4_digits", "expiration_date", "cvv", "pin"), 4826)
    arguments = {"agent_tool_name": "activate_debit_card_8291", "arguments": json.dumps(given)}
    answer = result(world, "call_discoverable_agent_tool", **arguments)
    assert answer.failed
    assert answer.observation == "Error: 'float' object has no attribute 'isdigit'"
    answer = result(world, "call_discoverable_agent_tool", **arguments | {"arguments": given})
    assert answer.observation.endswith("must be str, bytes or bytearray, not dict")
    assert changed(world) == {}


def test_numbers_are_floats_unless_a_tool_is_called_by_its_name() -> None:
    world = world_of()
    arguments = {"account_id": "chk", "amount": 3, "credit_type": "fee_refund"}
    unlock(world, "apply_checking_account_credit_5829")
    call_unlocked(world, "apply_checking_account_credit_5829", json.dumps(arguments))
    give(world, "deposit_check_3847")
    call_given(world, "deposit_check_3847", '{"account_id": "chk", "check_amount": 3}')
    user_call(world, "deposit_check_3847", account_id="chk", check_amount=3)
    calls = changed(world)["user_discoverable_tool_calls"].values()
    assert [repr(one["arguments"]["check_amount"]) for one in calls] == ["3.0", "3"]
    assert len(changed(world)["agent_discoverable_tools"]) == 1


def test_a_tool_called_by_its_name_needs_no_key_and_is_not_logged() -> None:
    world = world_of()
    assert call(world, FREEZE, card_id="card").startswith("Debit Card Frozen Successfully")
    assert set(changed(world)) == {"debit_cards"}


def test_tools_without_parameters_answer_with_the_words_of_the_pack() -> None:
    world = world_of()
    assert call(world, "example_agent_tool_0000") == "Done, as asked."
    name = "initial_transfer_to_human_agent_0218"
    assert call(world, name) == f"Done, as asked.\n\nExecuted: {name}\nArguments: (no arguments)"


def test_giving_says_what_the_user_may_do() -> None:
    world = world_of()
    text = give(world, "get_referral_link", arguments='{"user_id": 1}')
    assert text.startswith(
        "Tool given to user: get_referral_link\nDescription: Refer.\n"
        'Arguments: {\n  "user_id": 1\n}\n\nThe user can now execute this action by calling '
    )
    assert "Arguments: (no arguments)\n\n" in give(world, "get_referral_link")
    given = changed(world)["user_discoverable_tools"]
    assert given == {"fc21fceb1501a934": {"tool_name": "get_referral_link", "status": "GIVEN"}}
    listed = user_call(world, "list_discoverable_user_tools")
    assert listed.startswith("Tools given to you by the agent:\nFound 1 record(s)")


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("submit_referral", "{}", "Error: Unknown discoverable tool 'submit_referral'."),
        ("get_referral_link", "{", "Error: Invalid JSON in arguments: Expecting property name"),
        ("get_referral_link", '{"x": 1}', "Error: Unexpected parameter: x"),
        (True, "{}", "Error: attribute name must be string, not 'bool'"),
        ("get_referral_link", "5", "Error: 'int' object is not iterable"),
    ],
)
def test_what_cannot_be_given(name: Any, arguments: str, text: str) -> None:
    world = world_of()
    assert give(world, name, arguments=arguments).startswith(text)
    assert changed(world) == {}


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("x", "{}", "Error: Unknown discoverable tool 'x'."),
        ("get_referral_link", "{", "Error: Invalid JSON in arguments: "),
        ("get_referral_link", '{"card_name": 1}', "Error: Missing required parameter: user_id"),
        (
            "get_referral_link",
            '{"user_id": 1, "card_name": 1, "x": 1}',
            "Error: Unexpected parameter: x",
        ),
        (
            "get_referral_link",
            '["user_id", "card_name"]',
            (
                "Error: Invalid arguments for tool 'get_referral_link': "
                "tau2.domains.banking_knowledge.tools.KnowledgeUserTools.get_referral_link() "
                "argument after ** must be a mapping, not list"
            ),
        ),
        (
            "get_referral_link",
            '{"user_id": "ann", "card_name": "EcoCard"}',
            (
                "Error: Tool 'get_referral_link' has not been given to you by the agent. "
                "The agent must first use `give_discoverable_user_tool` to give this tool to you."
            ),
        ),
    ],
)
def test_what_the_user_cannot_call(name: str, arguments: str, text: str) -> None:
    world = world_of()
    assert call_given(world, name, arguments).startswith(text)
    assert changed(world) == {}


def test_calls_of_the_user_are_logged_before_they_are_checked_and_once() -> None:
    world = world_of()
    give(world, "deposit_check_3847")
    for amount in ("x", -1, 5, 5):
        arguments = {"account_id": "none", "check_amount": amount}
        call_given(world, "deposit_check_3847", json.dumps(arguments))
    assert set(changed(world)) == {"user_discoverable_tools", "user_discoverable_tool_calls"}
    assert len(changed(world)["user_discoverable_tool_calls"]) == 3


def test_a_task_may_settle_disputes_at_once() -> None:
    settled = world_of(task_config={"dispute_settings": {"auto_resolve_disputes": True}})
    statuses: list[str] = []
    for world in (settled, world_of()):
        give(world, "submit_cash_back_dispute_0589")
        arguments = json.dumps({"user_id": "ann", "transaction_id": "t"})
        first = call_given(world, "submit_cash_back_dispute_0589", arguments)
        statuses.append(first.rpartition("Status: ")[2].split()[0])
        again = call_given(world, "submit_cash_back_dispute_0589", arguments)
        assert again.endswith("Note: Dispute may have already been submitted for this transaction.")
    assert statuses == ["RESOLVED", "SUBMITTED"]
    (record,) = changed(settled)["cash_back_disputes"].values()
    assert record["resolution"] == "APPROVED"


def test_ids_are_those_of_the_original() -> None:
    world = world_of()
    applied = {"customer_name": "Sarah Bosch", "annual_income": 100000}
    user_call(
        world,
        "apply_for_credit_card",
        card_type="Gold Rewards Card",
        rho_bank_subscription=True,
        **applied,
    )
    user_call(world, "submit_referral", user_id="123", account_type="Blue Account")
    bought = {"user_id": "123", "credit_card_type": "EcoCard", "merchant_name": "Shop"}
    user_call(world, "submit_transaction", amount=10, category="Green", **bought)
    give(world, "get_card_last_4_digits")
    card = {"credit_card_account_id": "cc_584f9c5d00_gold"}
    call_given(world, "get_card_last_4_digits", json.dumps(card))
    made = changed(world)
    assert set(made["credit_card_applications"]) == {"e26eca5e8c8b1b90"}
    assert set(made["referrals"]) == {"4349021c58516de1"}
    assert set(made["credit_card_transaction_history"]) == {"txn_45f6017b311f"}
    assert set(made["user_discoverable_tool_calls"]) == {"21ff1c4d56664051"}


def test_customers_buy_apply_refer_and_ask_for_people() -> None:
    world = world_of()
    bought: dict[str, Any] = {
        "user_id": "ann",
        "credit_card_type": "Business Platinum Rewards Card",
        "merchant_name": "Shop",
        "amount": 10.5,
    }
    text = user_call(world, "submit_transaction", category="Media", **bought)
    assert text.endswith("  - Rewards Earned: 42 points (4.0% cashback rate)\n")
    again = user_call(world, "submit_transaction", category="Media", **bought)
    assert again.startswith("Failed to submit transaction: Record ID 'txn_")
    other = user_call(world, "submit_transaction", category="default", **bought)
    assert "15 points (1.5% cashback rate)" in other
    for count in (1, 2):
        text = user_call(world, "request_human_agent_transfer")
        assert text.startswith(f"Transfer request #{count} submitted.")
    refer = {"user_id": "ann", "account_type": "Blue"}
    assert "referring." in user_call(world, "submit_referral", **refer)
    assert user_call(world, "submit_referral", **refer).startswith("Failed to submit referral")
    give(world, "get_referral_link")
    linked = json.dumps({"user_id": "ann", "card_name": "EcoCard"})
    assert "https://rhobank.com/refer/" in call_given(world, "get_referral_link", linked)
    assert call_given(world, "get_referral_link", linked).endswith("already been generated.")


def test_a_quote_breaks_a_query_or_adds_a_condition() -> None:
    world = world_of()
    broken = call(world, "get_user_information_by_id", user_id='a"b')
    assert broken == "Error: Invalid JSON: Expecting ',' delimiter: line 1 column 16 (char 15)"
    both = call(world, "get_user_information_by_id", user_id='ann", "name": "Ann Lee')
    assert both.startswith("Found 1 record(s) in 'users':\n\n1. Record ID: ann\n   name: Ann Lee\n")
    neither = call(world, "get_user_information_by_id", user_id='ann", "name": "Bob')
    assert neither == "No records found in 'users'."
    control = call(world, "get_user_information_by_id", user_id="a\nb")
    assert control.startswith("Error: Invalid JSON: Invalid control character at")


def test_records_of_an_episode_follow_those_of_the_data() -> None:
    world = world_of()
    call(world, "change_user_email", user_id="bob", new_email="both@mail.test")
    call(world, "change_user_email", user_id="ann", new_email="both@mail.test")
    found = call(world, "get_user_information_by_email", email="both@mail.test")
    assert [line for line in found.splitlines() if "Record" in line] == [
        "1. Record ID: ann",
        "2. Record ID: bob",
    ]
    gone = call(world, "get_user_information_by_email", email="ann@mail.test")
    assert gone == "No records found in 'users'."
