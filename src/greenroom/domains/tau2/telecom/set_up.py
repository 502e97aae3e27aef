"""What a task does to both worlds before it begins: functions that are not tools.

Each returns the text that tau2's function returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from greenroom.domains.tau2.telecom.billing import TODAY, add_overdue_bill
from greenroom.domains.tau2.telecom.lookups import (
    bills_of,
    customer_by_id,
    look_for,
    own_line,
    plan_of,
)
from greenroom.domains.tau2.telecom.phone import (
    device_of,
    part,
    search_network,
    surroundings_of,
)
from greenroom.domains.tau2.telecom.phone_records import PERMISSIONS
from greenroom.domains.tau2.telecom.switches import (
    spoil_vpn,
    switch,
    switch_airplane_mode,
)
from greenroom.domains.tools import Refused
from greenroom.domains.world import World


def _set_user_info(world: World, name: Any, phone_number: Any) -> None:
    surroundings = surroundings_of(world)
    surroundings["name"] = name
    surroundings["phone_number"] = phone_number


def _set_user_location(world: World, abroad: Any) -> None:
    surroundings_of(world)["is_abroad"] = abroad


def _turned(flip: Callable[[World], bool], wanted: bool, text: str) -> Callable[[World], str]:
    # tau2 flips until the setting is as wanted. So one that is already so is flipped twice, which
    # can change other things: the network is searched, a VPN is disconnected.
    def turn(world: World) -> str:
        if flip(world) is not wanted:
            flip(world)
        return text

    return turn


def _flip_data(world: World) -> bool:
    return switch(world, "data_enabled", search=True)


def _flip_roaming(world: World) -> bool:
    return switch(world, "roaming_enabled", search=True)


def _flip_data_saver(world: World) -> bool:
    return switch(world, "data_saver_mode")


def _turn_data_on(world: World) -> str:
    device_of(world)["data_enabled"] = True
    return "Data connection restored."


def _unseat_sim_card(world: World) -> str:
    device_of(world)["sim_card_missing"] = True
    search_network(world)
    return "SIM card un-seated successfully."


def _lock_sim_card(world: World, mode: Any) -> str:
    if mode in ("pin", "puk"):
        device_of(world)["sim_card_status"] = f"locked_{mode}"
    search_network(world)
    return f"SIM card locked successfully in {mode} mode."


def _break_apn_settings(world: World) -> str:
    settings = device_of(world)["active_apn_settings"]
    part(settings, "apn_name")
    settings["apn_name"] = "broken"
    search_network(world)
    return "APN settings broken. Please call reset_apn_settings() to fix."


def _break_apn_mms_setting(world: World) -> str:
    settings = device_of(world)["active_apn_settings"]
    part(settings, "mmsc_url")
    settings["mmsc_url"] = None
    return "APN MMS setting broken. Please call reset_apn_settings() to fix."


def _set_wifi_calling(world: World, enabled: Any, mms_over_wifi: Any = None) -> str:
    device = device_of(world)
    if device["wifi_calling_enabled"] != enabled:
        switch(world, "wifi_calling_enabled")
    text = f"Wi-Fi Calling is now {'ON' if enabled else 'OFF'}."
    if mms_over_wifi is None:
        return text
    device["wifi_calling_mms_over_wifi"] = mms_over_wifi
    return f"{text}\nMMS over Wi-Fi is now {'ON' if mms_over_wifi else 'OFF'}."


def _break_vpn(world: World) -> str:
    spoil_vpn(world)
    return "VPN connection broken."


def _remove_app_permission(world: World, app_name: Any, permission: Any) -> tuple[bool, str]:
    app = device_of(world)["app_statuses"].get(app_name)
    permission = permission.lower()
    if app is None:
        return False, f"App '{app_name}' not found. Cannot remove permission."
    if permission not in PERMISSIONS:
        return False, f"Permission '{permission}' not tracked for app '{app_name}'."
    app["permissions"][permission] = False
    return True, f"Permission '{permission}' removed from app '{app_name}'."


def _set_data_usage(world: World, customer_id: Any, line_id: Any, data_used_gb: Any) -> str:
    own_line(world, customer_id, line_id)["data_used_gb"] = data_used_gb
    return f"Data usage set to {data_used_gb} GB for line {line_id}"


def _suspend_line_for_overdue_bill(
    world: World, customer_id: Any, line_id: Any, new_bill_id: Any, contract_ended: Any
) -> str:
    line = look_for(world, "lines", line_id, "Line")
    if line["status"] != "Active":
        raise Refused("Line must be active to suspend for unpaid bill")
    due = plan_of(world, line)["price_per_month"]
    if due <= 0:
        raise Refused("Amount must be positive for overdue bill")
    customer = customer_by_id(world, customer_id)
    if any(bill["status"] == "Overdue" for bill in bills_of(world, customer)):
        raise Refused("Customer already has an overdue bill")
    if new_bill_id in world["bills"]:  # tau2 would have two bills of one id
        raise Refused(f"There is a bill with ID {new_bill_id} already")
    add_overdue_bill(world, customer_id, new_bill_id, line, due)
    line = world["lines"][line_id]
    line["status"] = "Suspended"
    line["suspension_start_date"] = TODAY
    if contract_ended:
        line["contract_end_date"] = "2025-01-31"
    return (
        f"Line {line_id} suspended for unpaid bill {new_bill_id}. Contract ended: {contract_ended}"
    )


AGENT_SET_UP: Mapping[str, Callable[..., Any]] = {
    "set_data_usage": _set_data_usage,
    "suspend_line_for_overdue_bill": _suspend_line_for_overdue_bill,
}
"""The functions of the carrier's world, by tau2's names."""

USER_SET_UP: Mapping[str, Callable[..., Any]] = {
    "set_user_info": _set_user_info,
    "set_user_location": _set_user_location,
    "turn_airplane_mode_on": _turned(switch_airplane_mode, True, "Airplane Mode is now ON."),
    "turn_airplane_mode_off": _turned(switch_airplane_mode, False, "Airplane Mode is now OFF."),
    "unseat_sim_card": _unseat_sim_card,
    "lock_sim_card": _lock_sim_card,
    "turn_data_on": _turn_data_on,
    "turn_data_off": _turned(_flip_data, False, "Data connection broken."),
    "turn_roaming_on": _turned(_flip_roaming, True, "Data Roaming is now ON."),
    "turn_roaming_off": _turned(_flip_roaming, False, "Data Roaming is now OFF."),
    "turn_data_saver_mode_on": _turned(_flip_data_saver, True, "Data Saver Mode is now ON."),
    "turn_data_saver_mode_off": _turned(_flip_data_saver, False, "Data Saver Mode is now OFF."),
    "break_apn_settings": _break_apn_settings,
    "break_apn_mms_setting": _break_apn_mms_setting,
    "set_wifi_calling": _set_wifi_calling,
    "break_vpn": _break_vpn,
    "remove_app_permission": _remove_app_permission,
    "simulate_network_search": search_network,
}
"""The functions of the user's world, by tau2's names."""
