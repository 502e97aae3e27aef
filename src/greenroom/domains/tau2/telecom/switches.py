"""Switches of the phone that both the user's tools and the set-up of a task use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.domains.tau2.telecom.phone import device_of, search_network

if TYPE_CHECKING:
    from greenroom.domains.world import Record, World

_VPN_PERFORMANCE = "performance of the default VPN"


def switch(world: World, setting: str, *, search: bool = False) -> bool:
    """Flip a setting of the phone; return its new value."""
    device = device_of(world)
    device[setting] = on = not device[setting]
    if search:
        search_network(world)
    return on


def switch_airplane_mode(world: World) -> bool:
    """Flip airplane mode; return its new value."""
    device = device_of(world)
    device["airplane_mode"] = on = not device["airplane_mode"]
    if on:
        forget_wifi(device)
        disconnect(device)
    else:
        device["network_connection_status"] = "searching"
        if device["wifi_enabled"]:
            forget_wifi(device)
    search_network(world)
    return on


def forget_wifi(device: Record) -> None:
    """Leave the Wi-Fi network."""
    device["wifi_connected"] = False
    device["wifi_ssid"] = None
    device["wifi_signal_strength"] = "none"


def connect(world: World) -> bool:
    """Connect the default VPN; return whether it was not connected before.

    Upstream keeps the details of the default VPN in one object for the whole process, so a broken
    VPN stays slow in every later episode. Here they belong to the episode: they are excellent
    until `spoil_vpn` is called in it.
    """
    device = device_of(world)
    if device["vpn_connected"]:
        return False
    device["vpn_connected"] = True
    device["vpn_details"] = {
        "server_address": "192.168.1.1",
        "protocol": "OpenVPN",
        "server_performance": world.memory.get(_VPN_PERFORMANCE, "excellent"),
    }
    return True


def spoil_vpn(world: World) -> None:
    """Connect the VPN and make it slow, for the rest of the episode."""
    connect(world)
    device_of(world)["vpn_details"]["server_performance"] = "poor"
    world.memory[_VPN_PERFORMANCE] = "poor"


def disconnect(device: Record) -> bool:
    """Disconnect the VPN; return whether it was connected."""
    if not device["vpn_connected"]:
        return False
    device["vpn_connected"] = False
    device["vpn_details"] = None
    return True
