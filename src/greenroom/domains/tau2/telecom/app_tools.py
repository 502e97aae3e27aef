"""The user's tools for apps, restarts and payments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from greenroom.domains.tau2.rendering import tau2_text
from greenroom.domains.tau2.telecom.phone import (
    device_of,
    look_around,
    look_at_device,
    mms_works,
    part,
    search_network,
    status_bar,
    surroundings_of,
)
from greenroom.domains.tau2.telecom.phone_records import PERMISSIONS
from greenroom.domains.tau2.telecom.phone_records import apn_settings as checked_settings
from greenroom.domains.tools import Toolset
from greenroom.domains.world import World

if TYPE_CHECKING:
    from greenroom.domains.world import Record

AppName = Annotated[str, "The name of the app."]

app_tools = Toolset(owner="TelecomUserTools", render=tau2_text)


@app_tools.add()
def check_installed_apps(world: World) -> str:
    """List the apps."""
    apps = ", ".join(look_at_device(world)["app_statuses"])
    return f"The following apps are installed on the phone: {apps}"


@app_tools.add()
def check_app_status(world: World, app_name: AppName) -> str:
    """Look at an app."""
    app = look_at_device(world)["app_statuses"].get(app_name)
    if app is None:
        return f"App '{app_name}' not found on this phone."
    granted = [f"   - {permission}" for permission in _granted(app)]
    lines = [" - Permissions Granted:", *granted] if granted else [" - Permissions: None granted."]
    return "\n".join([f"Status for App: {app_name}", *lines])


@app_tools.add()
def check_app_permissions(world: World, app_name: AppName) -> str:
    """List what an app may use."""
    app = look_at_device(world)["app_statuses"].get(app_name)
    if app is None:
        return f"App '{app_name}' not found on this phone."
    granted = _granted(app)
    if not granted:
        return f"App '{app_name}' currently has no permissions granted."
    return f"App '{app_name}' has permission for: {', '.join(granted)}."


def _granted(app: Record) -> list[str]:
    return [permission for permission in PERMISSIONS if app["permissions"][permission]]


@app_tools.add(writes=True)
def grant_app_permission(
    world: World, app_name: AppName, permission: Annotated[str, "The permission, in lower case."]
) -> str:
    """Let an app use something."""
    app = device_of(world)["app_statuses"].get(app_name)
    permission = permission.lower()
    if app is None:
        message = f"Error. App '{app_name}' not found. Cannot grant permission."
    elif permission not in PERMISSIONS:
        message = (
            f"Error. Permission '{permission}' not tracked for app '{app_name}', "
            f"available permissions: {list(PERMISSIONS)}"
        )
    else:
        app["permissions"][permission] = True
        message = f"Success. Permission '{permission}' granted to app '{app_name}'."
    return f"{message}\n{status_bar(world)}"


@app_tools.add()
def can_send_mms(world: World) -> str:
    """Try whether picture messages can be sent."""
    can = "can" if mms_works(world) else "cannot"
    return f"Your messaging app {can} send MMS messages."


@app_tools.add(writes=True)
def reboot_device(world: World) -> str:
    """Restart the phone."""
    device = device_of(world)
    lines = ["Restarting network services..."]
    if part(device["active_apn_settings"], "reset_at_reboot"):
        lines.insert(0, "Resetting APN settings...")
        device["active_apn_settings"] = checked_settings({})
    device["network_connection_status"] = "searching"
    search_network(world)
    return "\n".join([*lines, status_bar(world)])


@app_tools.add()
def check_payment_request(world: World) -> str:
    """Look for a bill to pay."""
    request = look_around(world)["payment_request"]
    if request is None:
        return "No payment request has been made."
    return (
        f"You have a payment request for bill {request['bill_id']} of {request['amount_due']} USD."
    )


@app_tools.add(writes=True)
def make_payment(world: World) -> str:
    """Pay the bill that the agent asked to pay."""
    request = surroundings_of(world)["payment_request"]
    if request is None:
        return "You do not have a payment request."
    request["paid"] = True
    return f"Payment of {request['amount_due']} USD has been made for bill {request['bill_id']}."
