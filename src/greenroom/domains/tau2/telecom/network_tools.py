"""The user's tools for connections: status, network, SIM card, data, APN, Wi-Fi and VPN.

A tool that changes something ends its text with the status bar after the change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast

from greenroom.domains.tau2.rendering import tau2_text
from greenroom.domains.tau2.telecom.phone import (
    NETWORK_MODES,
    data_speed,
    device_of,
    look_at_device,
    no_attribute,
    part,
    search_network,
    sim_status,
    status_bar,
)
from greenroom.domains.tau2.telecom.phone_records import NetworkMode
from greenroom.domains.tau2.telecom.phone_records import apn_settings as checked_settings
from greenroom.domains.tau2.telecom.switches import (
    connect,
    disconnect,
    forget_wifi,
    switch,
    switch_airplane_mode,
)
from greenroom.domains.tools import Toolset
from greenroom.domains.world import World

if TYPE_CHECKING:
    from greenroom.domains.world import Record

network_tools = Toolset(owner="TelecomUserTools", render=tau2_text)


class APNFields(TypedDict, total=False):
    """APN settings; every field has a default."""

    apn_name: Annotated[str, "The access point, such as internet."]
    mms_apn: Annotated[str, "The access point for picture messages."]
    mmsc_url: Annotated[str, "The server for picture messages."]
    mms_proxy: Annotated[str, "The proxy for picture messages."]
    mms_port: Annotated[int, "The proxy's port."]
    reset_at_reboot: Annotated[bool, "Whether a reboot resets the settings."]


_SIM = {
    "active": "Your SIM card is active and working.",
    "missing": "No SIM card detected in the phone.",
    "locked_pin": "The SIM card is locked with a PIN code.",
    "locked_puk": "The SIM card is locked with a PUK code.",
}
_ADVICE = {
    "Very Poor": "Connection is very slow. Basic web browsing might be difficult.",
    "Poor": "Connection is slow. Web browsing may be sluggish, streaming difficult.",
    "Fair": "Connection is okay for web browsing and some standard definition streaming.",
    "Good": "Connection is good for most activities, including HD streaming.",
    "Excellent": "Connection is very fast.",
}


def _on(value: Any) -> str:
    return "ON" if value else "OFF"


def _yes(value: Any) -> str:
    return "Yes" if value else "No"


@network_tools.add()
def check_status_bar(world: World) -> str:
    """Look at the status bar."""
    return status_bar(world)


@network_tools.add()
def check_network_status(world: World) -> str:
    """Look at everything about the connection."""
    device = look_at_device(world)
    lines = [
        f"Airplane Mode: {_on(device['airplane_mode'])}",
        f"SIM Card Status: {sim_status(device)}",
        f"Cellular Connection: {device['network_connection_status']}",
        f"Cellular Signal: {device['network_signal_strength']}",
        f"Cellular Network Type: {device['network_technology_connected']}",
        f"Mobile Data Enabled: {_yes(device['data_enabled'])}",
        f"Data Roaming Enabled: {_yes(device['roaming_enabled'])}",
        f"Wi-Fi Radio: {_on(device['wifi_enabled'])}",
        f"Wi-Fi Connected: {_yes(device['wifi_connected'])}",
    ]
    if device["wifi_connected"]:
        lines.append(f"Connected Wi-Fi Network: {device['wifi_ssid']}")
    return "\n".join(lines)


@network_tools.add()
def check_network_mode_preference(world: World) -> str:
    """Look at the preferred network mode."""
    return f"Network Mode Preference: {_mode(look_at_device(world)['network_mode_preference'])}"


@network_tools.add(writes=True)
def set_network_mode_preference(
    world: World, mode: Annotated[NetworkMode, "The mode to prefer."]
) -> str:
    """Prefer a network mode."""
    given: Any = mode
    stored = not isinstance(given, str) or given in NETWORK_MODES
    if stored:
        device_of(world)["network_mode_preference"] = given
        search_network(world)
    if given is None or not stored:
        return (
            f"Failed to set network mode: '{mode}' is not a valid option. Please use one of: "
            f"{', '.join(NETWORK_MODES)}\n{status_bar(world)}"
        )
    return f"Preferred Network Mode set to: {_mode(given)}\n{status_bar(world)}"


def _mode(mode: Any) -> str:
    # Any value but a text is stored as it is, and fails when it is shown.
    if isinstance(mode, str):
        return mode
    raise no_attribute(mode, "value")


@network_tools.add()
def run_speed_test(world: World) -> str:
    """Measure the speed of mobile data."""
    speed, rating = data_speed(world)
    if speed is None:
        return f"Speed test failed: {rating}."
    return f"Speed Test Result: {speed:.2f} Mbps ({rating}). {_ADVICE[rating]}"


@network_tools.add(writes=True)
def toggle_airplane_mode(world: World) -> str:
    """Switch airplane mode."""
    return f"Airplane Mode is now {_on(switch_airplane_mode(world))}.\n{status_bar(world)}"


@network_tools.add()
def check_sim_status(world: World) -> str:
    """Look at the SIM card."""
    return _SIM[sim_status(look_at_device(world))]


@network_tools.add(writes=True)
def reseat_sim_card(world: World) -> str:
    """Put the SIM card in again."""
    device_of(world)["sim_card_missing"] = False
    search_network(world)
    return f"SIM card re-seated successfully.\n{status_bar(world)}"


@network_tools.add(writes=True)
def toggle_data(world: World) -> str:
    """Switch mobile data."""
    on = switch(world, "data_enabled", search=True)
    return f"Mobile Data is now {_on(on)}.\n{status_bar(world)}"


@network_tools.add(writes=True)
def toggle_roaming(world: World) -> str:
    """Switch data roaming."""
    on = switch(world, "roaming_enabled", search=True)
    return f"Data Roaming is now {_on(on)}.\n{status_bar(world)}"


@network_tools.add()
def check_data_restriction_status(world: World) -> str:
    """Look at the data saver."""
    if look_at_device(world)["data_saver_mode"]:
        return "Data Saver mode is ON (limits data usage)."
    return "Data Saver mode is OFF."


@network_tools.add(writes=True)
def toggle_data_saver_mode(world: World) -> str:
    """Switch the data saver."""
    on = switch(world, "data_saver_mode")
    return f"Data Saver Mode is now {_on(on)}.\n{status_bar(world)}"


@network_tools.add()
def check_apn_settings(world: World) -> str:
    """Look at the APN settings."""
    settings = look_at_device(world)["active_apn_settings"]
    if not isinstance(settings, dict):
        raise no_attribute(settings, "model_copy")
    fields = cast("Record", settings)
    return (
        f"Current APN Name: {fields['apn_name']}\n"
        f"MMSC URL (for picture messages): {fields['mmsc_url'] or 'Not Set'}\n"
        "(These are technical settings, usually best left unchanged.)"
    )


@network_tools.add(writes=True)
def set_apn_settings(world: World, apn_settings: Annotated[APNFields, "The new settings."]) -> str:
    """Replace the APN settings; fields that are not given get their defaults."""
    given: Any = apn_settings
    settings = checked_settings(cast("Record", given)) if isinstance(given, dict) else given
    device_of(world)["active_apn_settings"] = settings
    name = part(settings, "apn_name")  # anything but settings is stored, and fails here
    search_network(world)
    return f"APN settings set to: {name}\n{status_bar(world)}"


@network_tools.add(writes=True)
def reset_apn_settings(world: World) -> str:
    """Reset the APN settings at the next reboot."""
    settings = device_of(world)["active_apn_settings"]
    part(settings, "reset_at_reboot")
    settings["reset_at_reboot"] = True
    search_network(world)
    return f"APN settings will reset at reboot.\n{status_bar(world)}"


@network_tools.add()
def check_wifi_status(world: World) -> str:
    """Look at Wi-Fi."""
    device = look_at_device(world)
    if not device["wifi_enabled"]:
        return "Wi-Fi is turned OFF."
    if not device["wifi_connected"]:
        return "Wi-Fi is ON but not connected to any network."
    return (
        f"Wi-Fi is ON and connected to '{device['wifi_ssid']}'. "
        f"Signal strength: {device['wifi_signal_strength']}."
    )


@network_tools.add(writes=True)
def toggle_wifi(world: World) -> str:
    """Switch Wi-Fi."""
    device = device_of(world)
    if device["airplane_mode"]:
        return f"Cannot change Wi-Fi settings while Airplane Mode is ON.\n{status_bar(world)}"
    on = switch(world, "wifi_enabled")
    if not on:
        forget_wifi(device)
    return f"Wi-Fi is now {_on(on)}.\n{status_bar(world)}"


@network_tools.add()
def check_wifi_calling_status(world: World) -> str:
    """Look at Wi-Fi Calling."""
    return (
        f"Wi-Fi Calling is currently turned {_on(look_at_device(world)['wifi_calling_enabled'])}."
    )


@network_tools.add(writes=True)
def toggle_wifi_calling(world: World) -> str:
    """Switch Wi-Fi Calling."""
    on = switch(world, "wifi_calling_enabled")
    return f"Wi-Fi Calling is now {_on(on)}.\n{status_bar(world)}"


@network_tools.add()
def check_vpn_status(world: World) -> str:
    """Look at the VPN."""
    device = look_at_device(world)
    details = device["vpn_details"]
    if device["vpn_connected"]:
        if not details:
            return "VPN is ON and connected (no specific details available)."
        return f"VPN is ON and connected. Details: {_details_text(details)}"
    if device["vpn_enabled_setting"]:
        return "VPN is turned ON in settings, but currently not connected."
    return "VPN is turned OFF."


def _details_text(details: Record) -> str:
    # tau2 prints a dictionary of Python with a member of an enumeration in it.
    performance = details["server_performance"]
    return (
        f"{{'server_address': {details['server_address']!r}, 'protocol': {details['protocol']!r}, "
        f"'server_performance': <PerformanceLevel.{performance.upper()}: {performance!r}>}}"
    )


@network_tools.add(writes=True)
def connect_vpn(world: World) -> str:
    """Connect the VPN."""
    if not connect(world):
        return "VPN already connected."
    return f"VPN connected successfully.\n{status_bar(world)}"


@network_tools.add(writes=True)
def disconnect_vpn(world: World) -> str:
    """Disconnect the VPN."""
    if disconnect(device_of(world)):
        return f"VPN disconnected successfully.\n{status_bar(world)}"
    return f"No active VPN connection to disconnect.\n{status_bar(world)}"
