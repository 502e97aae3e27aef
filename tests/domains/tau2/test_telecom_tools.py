"""Telecom's tools where they surprise: failed calls that change things, odd values, new ids."""

from __future__ import annotations

import json
from typing import Any

import pytest

from greenroom.domains.tau2.telecom.account_tools import agent_tools
from greenroom.domains.tau2.telecom.billing import MINTED
from greenroom.domains.tau2.telecom.carrier_records import read_tables
from greenroom.domains.tau2.telecom.edition import FUNCTIONS, user_tools
from greenroom.domains.tau2.telecom.phone_records import read_user_tables
from greenroom.errors import DataError
from tests.domains.tau2.telecom_play import DATA, LINE, Answer, Play, bases, play_task


@pytest.mark.tau2_data
def test_the_tools_are_tau2s() -> None:
    facts = json.loads((DATA / "tool_facts.json").read_text())
    for party, tools in (("assistant", agent_tools), ("user", user_tools)):
        assert {
            name: (tool.kind, tool.replayed, list(tool.info["function"]["parameters"]["required"]))
            for name, tool in tools.items()
        } == {
            fact["name"]: (fact["type"], fact["mutates_state"], _required(fact["signature"]))
            for fact in facts[party]
        }


def _required(signature: str) -> list[str]:
    inner = signature[1:].partition(") ->")[0]
    parts = [part for part in inner.split(", ") if ": " in part and " = " not in part]
    return [part.partition(":")[0] for part in parts]


@pytest.mark.tau2_data
@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (7, "Error: 'int' object has no attribute 'value'"),
        (True, "Error: 'bool' object has no attribute 'value'"),
        (["4g_only"], "Error: 'list' object has no attribute 'value'"),
    ],
)
def test_a_mode_that_is_no_text_is_stored_and_then_fails(mode: Any, text: str) -> None:
    play = Play()
    before = play.hashes
    assert play.call("user", "set_network_mode_preference", mode=mode) == (text, True)
    assert play.hashes != before
    assert play.call("user", "check_network_mode_preference") == (text, True)
    # The phone falls back to 4G.
    assert "📶³ Good | 4G" in play.user("check_status_bar")


@pytest.mark.tau2_data
def test_no_mode_at_all_is_stored_without_failing() -> None:
    play = Play()
    answer = play.call("user", "set_network_mode_preference", mode=None)
    assert answer.text.startswith("Failed to set network mode: 'None' is not a valid option.")
    assert not answer.failed
    assert play.call("user", "check_network_mode_preference") == (
        "Error: 'NoneType' object has no attribute 'value'",
        True,
    )


@pytest.mark.tau2_data
def test_spoilt_apn_settings_break_what_looks_at_them() -> None:
    play = Play()
    failed = {
        "set_apn_settings": "'str' object has no attribute 'apn_name'",
        "check_apn_settings": "'str' object has no attribute 'model_copy'",
        "reset_apn_settings": "'str' object has no attribute 'reset_at_reboot'",
        "reboot_device": "'str' object has no attribute 'reset_at_reboot'",
        "toggle_roaming": "'str' object has no attribute 'apn_name'",
        "can_send_mms": "'str' object has no attribute 'mmsc_url'",
    }
    for name, text in failed.items():
        given = {"apn_settings": "internet"} if name == "set_apn_settings" else {}
        assert play.call("user", name, **given) == (f"Error: {text}", True)
    # The switch was flipped before the search for a network failed.
    assert "Data Roaming Enabled: Yes" in play.user("check_network_status")
    # New settings repair the phone.
    assert not play.call("user", "set_apn_settings", apn_settings={}).failed
    assert play.user("can_send_mms") == "Your messaging app can send MMS messages."


@pytest.mark.tau2_data
def test_unfit_apn_settings_change_nothing() -> None:
    play = Play()
    before = play.hashes
    answer = play.call("user", "set_apn_settings", apn_settings={"apn_name": "foo", "zzz": 1})
    assert answer.failed
    assert answer.text.startswith("Error: 2 validation errors for APNSettings\napn_name\n")
    assert "Input should be 'internet' or 'broken' [type=enum, input_value='foo'" in answer.text
    assert play.hashes == before


@pytest.mark.tau2_data
def test_given_apn_settings_are_the_phones_own() -> None:
    play = Play()
    given = {"apn_name": "broken"}
    play.user("set_apn_settings", apn_settings=given)
    play.user("reset_apn_settings")
    play.user("reboot_device")
    assert given == {"apn_name": "broken"}
    assert "Current APN Name: internet" in play.user("check_apn_settings")


@pytest.mark.tau2_data
@pytest.mark.parametrize("key", [None, 7, 1.5, True, ["L1002"], {"v": "L1002"}, "", "l1002"])
def test_ids_of_any_kind_are_refused_alike(key: Any) -> None:
    play = Play()
    line = {"customer_id": "C1001", "line_id": key}
    customer = {"customer_id": key, "line_id": "L1002"}
    text = f"Error: Line {key} not found for customer C1001"
    assert play.call("agent", "enable_roaming", **line) == (text, True)
    text = f"Error: Customer with ID {key} not found"
    assert play.call("agent", "enable_roaming", **customer) == (text, True)


@pytest.mark.tau2_data
def test_numbers_outside_records_are_texts() -> None:
    play = Play()
    assert play.agent("get_data_usage", **LINE) == (
        '{"line_id": "L1002", "data_used_gb": "8.7", "data_limit_gb": "15.0", '
        '"data_refueling_gb": "0.0", "cycle_end_date": "2025-02-28"}'
    )
    suspended = json.loads(play.agent("suspend_line", **LINE, reason="travel"))
    assert suspended["line"]["data_used_gb"] == 8.7
    assert suspended["line"]["suspension_start_date"] == "2025-02-25"


@pytest.mark.tau2_data
def test_amounts_are_printed_as_given() -> None:
    whole, point = Play(), Play()
    whole.agent("refuel_data", **LINE, gb_amount=2)
    point.agent("refuel_data", **LINE, gb_amount=2.0)
    assert whole.hashes != point.hashes
    bill = json.loads(whole.agent("get_details_by_id", id="B1003"))
    assert bill["line_items"] == [
        {
            "description": "Data refueling: 2 GB at $2.0/GB",
            "amount": 4.0,
            "date": "2025-02-25",
            "item_type": "Charge",
        }
    ]
    assert bill["total_due"] == 4.0


@pytest.mark.tau2_data
def test_new_bills_have_numbers_that_every_replay_gives_again() -> None:
    def play() -> Play:
        episode = Play()
        for customer, line in (("C1002", "L1004"), ("C1003", "L1009"), ("C1002", "L1005")):
            episode.agent("refuel_data", customer_id=customer, line_id=line, gb_amount=1)
        return episode

    first, second = play(), play()
    assert first.hashes == second.hashes
    bills = json.loads(first.agent("get_bills_for_customer", customer_id="C1002"))
    # The first charge opened a bill, the third went to it.
    assert [bill["bill_id"] for bill in bills] == ["B00000001", "B1005", "B1004"]
    assert len(bills[0]["line_items"]) == 2
    assert '"B00000002"' in first.agent("get_customer_by_id", customer_id="C1003")
    assert first.worlds.agent.memory[MINTED] == 2


@pytest.mark.tau2_data
def test_a_broken_vpn_stays_slow_in_its_episode_alone() -> None:
    broken = play_task("[mobile_data_issue]bad_vpn[PERSONA:None]")
    broken.user("disconnect_vpn")
    broken.user("connect_vpn")
    assert broken.user("check_vpn_status") == (
        "VPN is ON and connected. Details: {'server_address': '192.168.1.1', "
        "'protocol': 'OpenVPN', 'server_performance': <PerformanceLevel.POOR: 'poor'>}"
    )
    other = Play()
    other.user("connect_vpn")
    assert "<PerformanceLevel.EXCELLENT: 'excellent'>" in other.user("check_vpn_status")
    assert other.user("run_speed_test").startswith("Speed Test Result: 220.00 Mbps")


@pytest.mark.tau2_data
def test_a_payment_travels_between_the_worlds() -> None:
    play = play_task("[service_issue]overdue_bill_suspension[PERSONA:Easy]")
    bill = {"customer_id": "C1001", "bill_id": "B1234321"}
    assert play.user("make_payment") == "You do not have a payment request."
    play.agent("send_payment_request", **bill)
    assert play.call("agent", "send_payment_request", **bill) == Answer(
        "Error: A bill is already awaiting payment for this customer", failed=True
    )
    asked = "You have a payment request for bill B1234321 of 65.0 USD."
    assert play.user("check_payment_request") == asked
    play.user("make_payment")
    assert play.user("check_payment_request") == "No payment request has been made."
    assert '"status": "Paid"' in play.agent("get_details_by_id", id="B1234321")
    # The phone notices at its next search for a network, not before.
    play.agent("resume_line", **LINE)
    assert "No Signal" in play.user("check_status_bar")
    assert "Excellent | 5G" in play.user("reboot_device")


@pytest.mark.tau2_data
def test_set_up_functions_say_what_tau2s_say() -> None:
    play = Play()
    user, agent = play.worlds.of("user"), play.worlds.of("agent")
    said = {
        ("turn_airplane_mode_off", ()): "Airplane Mode is now OFF.",
        ("lock_sim_card", ("puk",)): "SIM card locked successfully in puk mode.",
        ("turn_data_on", ()): "Data connection restored.",
        ("set_wifi_calling", (True,)): "Wi-Fi Calling is now ON.",
        (
            "set_wifi_calling",
            (False, True),
        ): "Wi-Fi Calling is now OFF.\nMMS over Wi-Fi is now ON.",
        ("remove_app_permission", ("messaging", "SMS")): (
            True,
            "Permission 'sms' removed from app 'messaging'.",
        ),
        ("remove_app_permission", ("camera", "sms")): (
            False,
            "App 'camera' not found. Cannot remove permission.",
        ),
        ("remove_app_permission", ("browser", "fly")): (
            False,
            "Permission 'fly' not tracked for app 'browser'.",
        ),
    }
    for (name, arguments), text in said.items():
        assert FUNCTIONS["user"][name](user, *arguments) == text
    assert "locked_puk" in play.user("check_network_status")
    suspend = FUNCTIONS["agent"]["suspend_line_for_overdue_bill"]
    assert suspend(agent, "C1001", "L1002", "B9", contract_ended=True) == (
        "Line L1002 suspended for unpaid bill B9. Contract ended: True"
    )
    line = json.loads(play.agent("get_details_by_id", id="L1002"))
    assert line["contract_end_date"] == "2025-01-31"


@pytest.mark.tau2_data
@pytest.mark.parametrize(
    ("customer", "line", "bill", "text"),
    [
        ("C1001", "L1003", "B9", "Line must be active to suspend for unpaid bill"),
        ("C1002", "L1004", "B9", "Customer already has an overdue bill"),
        ("C1001", "L1001", "B1001", "There is a bill with ID B1001 already"),
    ],
)
def test_a_suspension_that_cannot_be_set_up(customer: str, line: str, bill: str, text: str) -> None:
    play = Play()
    suspend = FUNCTIONS["agent"]["suspend_line_for_overdue_bill"]
    before = play.hashes
    with pytest.raises(Exception, match=text):
        suspend(play.worlds.agent, customer, line, bill, contract_ended=False)
    assert play.hashes == before


@pytest.mark.tau2_data
def test_assertions_hold_or_not() -> None:
    play = play_task("[service_issue]overdue_bill_suspension[PERSONA:Easy]")
    user, agent = play.worlds.of("user"), play.worlds.of("agent")
    holds: list[tuple[Any, str, dict[str, Any], bool]] = [
        (user, "assert_service_status", {"expected_status": "no_service"}, True),
        (user, "assert_mobile_data_status", {"expected_status": True}, False),
        (user, "assert_airplane_mode_status", {"expected_status": False}, True),
        (user, "assert_mobile_roaming_status", {"expected_status": True}, False),
        (user, "assert_mobile_data_saver_mode_status", {"expected_status": False}, True),
        (user, "assert_internet_speed", {"expected_speed": 0}, True),
        (user, "assert_internet_speed", {"expected_speed": 0, "expected_desc": "good"}, False),
        (user, "assert_internet_not_excellent", {}, True),
        (user, "assert_can_send_mms", {"expected_status": False}, True),
        (user, "assert_mobile_data_usage_exceeded", {"expected_status": True}, False),
        (agent, "assert_data_refueling_amount", LINE | {"expected_amount": 0}, True),
        (agent, "assert_line_status", LINE | {"expected_status": "Active"}, False),
        (agent, "assert_no_overdue_bill", {"overdue_bill_id": "B1234321"}, False),
        (agent, "assert_no_overdue_bill", {"overdue_bill_id": "B0"}, True),
        (
            agent,
            "assert_overdue_bill_exists",
            {"customer_id": "C1001", "overdue_bill_id": "B1234321"},
            True,
        ),
    ]
    for world, name, arguments, expected in holds:
        party = "user" if world is user else "agent"
        assert FUNCTIONS[party][name](world, **arguments) is expected, name


@pytest.mark.tau2_data
def test_defaults_are_filled_in() -> None:
    carrier, user = bases()
    line = {"line_id": "L1", "phone_number": "1", "plan_id": "P1", "data_used_gb": 4}
    tables = read_tables({"lines": [line]})
    assert list(tables["lines"]["L1"]) == list(carrier.record("lines", "L1001"))
    assert tables["lines"]["L1"]["data_used_gb"] == 4.0
    assert type(tables["lines"]["L1"]["data_used_gb"]) is float
    assert tables["lines"]["L1"]["status"] == "Pending Activation"
    own = {table: user.record(table, table) for table in user.tables}
    assert read_user_tables({}) == {table: {table: record} for table, record in own.items()}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ({"lines": [{"line_id": "L1"}]}, "lines.0.phone_number: Field required"),
        ({"tariffs": []}, "tariffs: Extra inputs are not permitted"),
        ({"bills": 5}, "bills: Input should be a valid list"),
    ],
)
def test_a_database_of_another_shape_is_refused(raw: dict[str, Any], text: str) -> None:
    with pytest.raises(DataError, match=text):
        read_tables(raw)


def test_two_records_of_one_id_are_refused() -> None:
    plan = {"plan_id": "P1", "name": "A", "data_limit_gb": 1, "price_per_month": 1}
    plan |= {"data_refueling_price_per_gb": 1}
    with pytest.raises(DataError, match="two records P1 in plans"):
        read_tables({"plans": [plan, plan]})
