"""The user's world: a phone and what surrounds it, as read from the file of a pack."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from greenroom.domains.tau2.telecom.carrier_records import StrictRecord, checked, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.domains.world import Record

SignalStrength = Literal["none", "poor", "fair", "good", "excellent"]
Technology = Literal["none", "2G", "3G", "4G", "5G"]
NetworkMode = Literal["4g_5g_preferred", "4g_only", "3g_only", "2g_only"]
PERMISSIONS = ("sms", "storage", "phone", "network")


class APNName(Enum):
    """The access points: one works, one does not."""

    INTERNET = "internet"
    BROKEN = "broken"


class APNSettings(StrictRecord):
    """How the phone reaches the carrier's data network.

    The name of this class is part of the message that a user gets for unfit settings.
    """

    apn_name: APNName = APNName.INTERNET
    reset_at_reboot: bool = False
    mms_apn: str | None = "mms"
    mmsc_url: str | None = "http://mms.carrier.com/mms/wapenc"
    mms_proxy: str | None = None
    mms_port: int | None = None


class VPNDetails(StrictRecord):
    """The server that a VPN goes through."""

    server_address: str | None = None
    protocol: str | None = None
    server_performance: Literal["unknown", "poor", "fair", "good", "excellent"] = "unknown"


class Permissions(StrictRecord):
    """What an app may use, in the order of PERMISSIONS."""

    sms: bool = False
    storage: bool = False
    phone: bool = False
    network: bool = False


class App(StrictRecord):
    """An installed app."""

    app_name: str
    permissions: Permissions = Permissions()


def _apps() -> dict[str, App]:
    return {
        "messaging": App(
            app_name="messaging", permissions=Permissions(sms=True, storage=True, phone=True)
        ),
        "browser": App(app_name="browser", permissions=Permissions(storage=True, network=True)),
    }


class Phone(StrictRecord):
    """The state of the phone."""

    sim_card_status: Literal["active", "missing", "locked_pin", "locked_puk"] = "active"
    sim_card_missing: bool = False
    airplane_mode: bool = False
    network_signal_strength: SignalStrength = "good"
    network_technology_connected: Technology = "5G"
    network_connection_status: Literal["connected", "searching", "no_service", "emergency_only"] = (
        "connected"
    )
    battery_level: int = 80
    data_enabled: bool = True
    roaming_enabled: bool = False
    network_mode_preference: NetworkMode = "4g_5g_preferred"
    active_apn_settings: APNSettings = Field(default_factory=APNSettings)
    wifi_enabled: bool = False
    wifi_connected: bool = False
    wifi_ssid: str | None = None
    wifi_signal_strength: SignalStrength = "none"
    wifi_calling_enabled: bool = False
    wifi_calling_mms_over_wifi: bool = False
    data_saver_mode: bool = False
    vpn_enabled_setting: bool = False
    vpn_connected: bool = False
    vpn_details: VPNDetails | None = None
    app_statuses: dict[str, App] = Field(default_factory=_apps)


class PaymentRequest(StrictRecord):
    """A bill that the agent asked the user to pay."""

    bill_id: str
    amount_due: float
    paid: bool = False


def _signals() -> dict[Technology, SignalStrength]:
    return {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"}


class Surroundings(StrictRecord):
    """Who the user is and where, and what the carrier allows: kept up by the sync rule."""

    name: str | None = None
    phone_number: str | None = None
    is_abroad: bool = False
    roaming_allowed: bool = False
    signal_strength: dict[Technology, SignalStrength] = Field(default_factory=_signals)
    mobile_data_usage_exceeded: bool = False
    line_active: bool = True
    payment_request: PaymentRequest | None = None


class _User(StrictRecord):
    device: Phone = Field(default_factory=Phone)
    surroundings: Surroundings = Field(default_factory=Surroundings)


def read_user_tables(raw: Mapping[str, Any]) -> dict[str, dict[str, Record]]:
    """The tables of the user, from the content of user_db.toml: each holds one record."""
    content = checked(_User, raw, "the telecom user database")
    return {table: {table: record} for table, record in content.items()}


def apn_settings(given: Mapping[str, Any]) -> Record:
    """Settings from the fields that a user gave; raises pydantic's error for unfit ones."""
    return plain(APNSettings(**given).model_dump())
