"""What tasks assert about both worlds after an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from greenroom.domains.tau2.telecom.lookups import customer_by_id, line_of_customer, look
from greenroom.domains.tau2.telecom.phone import (
    data_speed,
    look_around,
    look_at_device,
    mms_works,
    mobile_data_works,
)
from greenroom.domains.tools import Refused
from greenroom.domains.world import World

_SERVICE = ("connected", "searching", "no_service", "emergency_only")


def _device_setting(setting: str) -> Callable[..., bool]:
    def holds(world: World, expected_status: Any) -> bool:
        return bool(look_at_device(world)[setting] == expected_status)

    return holds


def _service_status(world: World, expected_status: Any) -> bool:
    if expected_status not in _SERVICE:
        raise ValueError(f"{expected_status!r} is not a valid NetworkStatus")
    return bool(look_at_device(world)["network_connection_status"] == expected_status)


def _mobile_data_status(world: World, expected_status: Any) -> bool:
    return mobile_data_works(world) == expected_status


def _internet_speed(world: World, expected_speed: Any, expected_desc: Any = None) -> bool:
    speed, rating = data_speed(world)
    if not (speed or 0.0) >= expected_speed:
        return False
    return expected_desc is None or rating.lower() == expected_desc.lower()


def _internet_not_excellent(world: World) -> bool:
    return data_speed(world)[1] != "Excellent"


def _can_send_mms(world: World, expected_status: Any) -> bool:
    return mms_works(world) == expected_status


def _usage_exceeded(world: World, expected_status: Any) -> bool:
    return bool(look_around(world)["mobile_data_usage_exceeded"] == expected_status)


def _refueling_amount(world: World, customer_id: Any, line_id: Any, expected_amount: Any) -> bool:
    line = line_of_customer(world, customer_id, line_id)
    return bool(abs(line["data_refueling_gb"] - expected_amount) < 1e-6)


def _line_status(world: World, customer_id: Any, line_id: Any, expected_status: Any) -> bool:
    return bool(line_of_customer(world, customer_id, line_id)["status"] == expected_status)


def _no_overdue_bill(world: World, overdue_bill_id: Any) -> bool:
    if overdue_bill_id not in world["bills"]:
        return True
    return bool(look(world, "bills", overdue_bill_id)["status"] == "Paid")


def _overdue_bill_exists(world: World, customer_id: Any, overdue_bill_id: Any) -> bool:
    if overdue_bill_id not in customer_by_id(world, customer_id)["bill_ids"]:
        raise Refused(f"Overdue bill {overdue_bill_id} not found")
    if look(world, "bills", overdue_bill_id)["status"] != "Overdue":
        raise Refused(f"Overdue bill {overdue_bill_id} is not overdue")
    return True


AGENT_ASSERTIONS: Mapping[str, Callable[..., bool]] = {
    "assert_data_refueling_amount": _refueling_amount,
    "assert_line_status": _line_status,
    "assert_no_overdue_bill": _no_overdue_bill,
    "assert_overdue_bill_exists": _overdue_bill_exists,
}
"""About the carrier's world, by tau2's names."""

USER_ASSERTIONS: Mapping[str, Callable[..., bool]] = {
    "assert_airplane_mode_status": _device_setting("airplane_mode"),
    "assert_service_status": _service_status,
    "assert_mobile_data_status": _mobile_data_status,
    "assert_mobile_roaming_status": _device_setting("roaming_enabled"),
    "assert_mobile_data_saver_mode_status": _device_setting("data_saver_mode"),
    "assert_internet_speed": _internet_speed,
    "assert_internet_not_excellent": _internet_not_excellent,
    "assert_can_send_mms": _can_send_mms,
    "assert_mobile_data_usage_exceeded": _usage_exceeded,
}
"""About the user's world, by tau2's names."""
