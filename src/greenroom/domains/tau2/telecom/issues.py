"""The issues that telecom tasks combine: how each begins, and which actions end it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True)
class Caller:
    """Who calls about which line."""

    name: str = "John Smith"
    phone_number: str = "555-123-2002"
    customer_id: str = "C1001"
    line_id: str = "L1002"
    overdue_bill_id: str = "B1234321"
    used_gb: float = 15.1
    """What the line has used when its data ran out."""
    refuel_gb: float = 2.0
    """What the user agrees to add."""


@dataclass(frozen=True)
class Call:
    """A call of the set-up or of a fix; `takes` names attributes of the caller as arguments."""

    party: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    takes: Mapping[str, str] = field(default_factory=dict[str, str])

    def arguments_for(self, caller: Caller) -> dict[str, Any]:
        """The arguments in a task of this caller."""
        taken = {name: getattr(caller, attribute) for name, attribute in self.takes.items()}
        return taken | dict(self.arguments)


@dataclass(frozen=True)
class Issue:
    """Something that is wrong; without a fix, the agent has to hand the user over."""

    set_up: tuple[Call, ...]
    fix: tuple[Call, ...] = ()
    abroad: bool = False
    refuels: bool = False


LINE: Final[Mapping[str, str]] = {"customer_id": "customer_id", "line_id": "line_id"}
"""The arguments that name the caller's line."""

_SEARCH: Final = ("user", "simulate_network_search")


def _user(name: str, **arguments: Any) -> Call:
    return Call("user", name, arguments)


def _agent(name: str, **arguments: Any) -> Call:
    return Call("assistant", name, arguments, LINE)


def _suspended(*, contract_ended: bool) -> tuple[Call, ...]:
    takes = {**LINE, "new_bill_id": "overdue_bill_id"}
    suspend = Call(
        "assistant", "suspend_line_for_overdue_bill", {"contract_ended": contract_ended}, takes
    )
    return (suspend, Call(*_SEARCH))


def _permission(*permissions: str) -> Issue:
    return Issue(
        tuple(
            _user("remove_app_permission", app_name="messaging", permission=permission)
            for permission in permissions
        ),
        tuple(
            _user("grant_app_permission", app_name="messaging", permission=permission)
            for permission in permissions
        ),
    )


_ABROAD = _user("set_user_location", abroad=True)
_PAY = Call(
    "assistant",
    "send_payment_request",
    takes={"customer_id": "customer_id", "bill_id": "overdue_bill_id"},
)
_RESET_APN = (_user("reset_apn_settings"), _user("reboot_device"))

ISSUES: Mapping[str, Issue] = {
    "airplane_mode_on": Issue((_user("turn_airplane_mode_on"),), (_user("toggle_airplane_mode"),)),
    "unseat_sim_card": Issue((_user("unseat_sim_card"),), (_user("reseat_sim_card"),)),
    "lock_sim_card_pin": Issue((_user("lock_sim_card", mode="pin"),)),
    "break_apn_settings": Issue((_user("break_apn_settings"),), _RESET_APN),
    "overdue_bill_suspension": Issue(
        _suspended(contract_ended=False),
        (_PAY, _user("make_payment"), _agent("resume_line"), _user("reboot_device")),
    ),
    "contract_end_suspension": Issue(_suspended(contract_ended=True)),
    "user_abroad_roaming_enabled_off": Issue(
        (_ABROAD, _user("turn_roaming_off"), _agent("enable_roaming")),
        (_user("toggle_roaming"),),
        abroad=True,
    ),
    "user_abroad_roaming_disabled_on": Issue(
        (_ABROAD, _user("turn_roaming_on"), _agent("disable_roaming"), Call(*_SEARCH)),
        (_agent("enable_roaming"),),
        abroad=True,
    ),
    "user_abroad_roaming_disabled_off": Issue(
        (_ABROAD, _user("turn_roaming_off"), _agent("disable_roaming"), Call(*_SEARCH)),
        (_agent("enable_roaming"), _user("toggle_roaming")),
        abroad=True,
    ),
    "data_mode_off": Issue((_user("turn_data_off"),), (_user("toggle_data"),)),
    "data_saver_mode_on": Issue(
        (_user("turn_data_saver_mode_on"),), (_user("toggle_data_saver_mode"),)
    ),
    "bad_network_preference": Issue(
        (_user("set_network_mode_preference", mode="2g_only"),),
        (_user("set_network_mode_preference", mode="4g_5g_preferred"),),
    ),
    "bad_vpn": Issue((_user("break_vpn"),), (_user("disconnect_vpn"),)),
    "data_usage_exceeded": Issue(
        (Call("assistant", "set_data_usage", takes={**LINE, "data_used_gb": "used_gb"}),),
        (Call("assistant", "refuel_data", takes={**LINE, "gb_amount": "refuel_gb"}),),
        refuels=True,
    ),
    "bad_wifi_calling": Issue(
        (_user("set_wifi_calling", enabled=True, mms_over_wifi=True),),
        (_user("toggle_wifi_calling"),),
    ),
    "break_apn_mms_setting": Issue((_user("break_apn_mms_setting"),), _RESET_APN),
    "break_app_sms_permission": _permission("sms"),
    "break_app_storage_permission": _permission("storage"),
    "break_app_both_permissions": _permission("sms", "storage"),
}
"""Every issue by its name in task ids."""
