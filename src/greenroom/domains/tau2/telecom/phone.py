"""How a phone behaves: network search, status bar, speed of its data, picture messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from greenroom.domains.tau2.telecom.lookups import look

if TYPE_CHECKING:
    from greenroom.domains.world import Record, World

NETWORK_MODES = ("4g_5g_preferred", "4g_only", "3g_only", "2g_only")

_TECHNOLOGY = {"4g_only": "4G", "3g_only": "3G", "2g_only": "2G"}
_BARS = {
    "none": "📵 No Signal",
    "poor": "📶¹ Poor",
    "fair": "📶² Fair",
    "good": "📶³ Good",
    "excellent": "📶⁴ Excellent",
}
_MEAN_SPEED = {"2G": 0.25, "3G": 3.0, "4G": 55.0, "5G": 275.0}
_SHARE_OF_SPEED = {"poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
_RATINGS = ((1, "Very Poor"), (5, "Poor"), (25, "Fair"), (100, "Good"))


def device_of(world: World) -> Record:
    """The phone, to be changed."""
    return world["device"]["device"]


def surroundings_of(world: World) -> Record:
    """What surrounds the phone, to be changed."""
    return world["surroundings"]["surroundings"]


def look_at_device(world: World) -> Record:
    """The phone, for reading."""
    return look(world, "device", "device")


def look_around(world: World) -> Record:
    """What surrounds the phone, for reading."""
    return look(world, "surroundings", "surroundings")


def part(value: Any, name: str) -> Any:
    """A field of a value that should be a record.

    A user's call can store anything where the phone keeps its settings. From then on, whatever
    looks at them fails with the words of Python.
    """
    if isinstance(value, dict):
        return cast("Record", value)[name]
    raise no_attribute(value, name)


def no_attribute(value: Any, name: str) -> AttributeError:
    """Python's error for a value that lacks an attribute."""
    return AttributeError(f"'{type(value).__name__}' object has no attribute '{name}'")


def sim_status(device: Record) -> str:
    """The state of the SIM card."""
    return "missing" if device["sim_card_missing"] else device["sim_card_status"]


def search_network(world: World) -> None:
    """Connect anew: set the phone's connection, technology and signal."""
    device, surroundings = device_of(world), look_around(world)
    if device["airplane_mode"] or sim_status(device) != "active":
        _connect(device, "no_service", "none", "none")
    else:
        signals = surroundings["signal_strength"]
        mode = device["network_mode_preference"]
        technology = "4G"  # also for a value that is no mode
        if mode == NETWORK_MODES[0]:
            technology = "5G" if signals.get("5G", "none") != "none" else "4G"
        elif isinstance(mode, str):
            technology = _TECHNOLOGY[mode]
        _connect(device, "connected", technology, signals.get(technology, "none"))
    # Spoilt settings raise here, after the connection was set.
    broken = part(device["active_apn_settings"], "apn_name") == "broken"
    if broken or not surroundings["line_active"]:
        _connect(device, "no_service", "none", "none")


def _connect(device: Record, status: str, technology: str, signal: str) -> None:
    device["network_connection_status"] = status
    device["network_technology_connected"] = technology
    device["network_signal_strength"] = signal


def status_bar(world: World) -> str:
    """What the status bar shows."""
    device = look_at_device(world)
    shown: list[str] = []
    if device["airplane_mode"]:
        shown.append("✈️ Airplane Mode")
    else:
        technology = device["network_technology_connected"]
        shown.append(_BARS[device["network_signal_strength"]])
        if technology != "none":
            shown.append(technology)
        if device["data_enabled"] and technology != "none":
            shown.append("📱 Data Enabled")
            if device["data_saver_mode"]:
                shown.append("🔽 Data Saver")
        else:
            shown.append("📵 Data Disabled")
    if device["wifi_enabled"] and device["wifi_connected"]:
        ssid = device["wifi_ssid"]
        shown.append(f"📡 Connected to {ssid}" if ssid else "📡 Enabled")
    if device["vpn_connected"]:
        shown.append("🔒 VPN Connected")
    shown.append(f"🔋 {device['battery_level']}%")
    return f"Status Bar: {' | '.join(shown)}"


def mobile_data_works(world: World) -> bool:
    """Whether the phone can use mobile data."""
    device, surroundings = look_at_device(world), look_around(world)
    if device["airplane_mode"] or device["network_signal_strength"] == "none":
        return False
    if device["network_connection_status"] == "no_service":
        return False
    roams = device["roaming_enabled"] and surroundings["roaming_allowed"]
    if surroundings["is_abroad"] and not roams:
        return False
    return bool(device["data_enabled"] and not surroundings["mobile_data_usage_exceeded"])


def data_speed(world: World) -> tuple[float | None, str]:
    """The speed of mobile data in Mbps and what to call it; no speed without a connection."""
    if not mobile_data_works(world):
        return None, "No Connection"
    device = look_at_device(world)
    details = device["vpn_details"]
    slowed = device["vpn_connected"] and details and details["server_performance"] == "poor"
    factor = 0.1 if slowed else 1.0
    if device["data_saver_mode"]:
        factor *= 0.2
    mean = _MEAN_SPEED.get(device["network_technology_connected"], 0.0)
    share = _SHARE_OF_SPEED[device["network_signal_strength"]]
    speed = round(mean * share * factor, 2)
    return speed, next((rating for limit, rating in _RATINGS if speed < limit), "Excellent")


def mms_works(world: World) -> bool:
    """Whether the messaging app can send picture messages."""
    device = look_at_device(world)
    if not mobile_data_works(world) or device["network_technology_connected"] == "2G":
        return False
    if device["wifi_calling_enabled"] and device["wifi_calling_mms_over_wifi"]:
        return False
    if part(device["active_apn_settings"], "mmsc_url") is None:
        return False
    app = device["app_statuses"].get("messaging")
    return app is not None and bool(app["permissions"]["storage"] and app["permissions"]["sms"])
