"""Who can reach a server: this machine alone, or others, who then need a token."""

from __future__ import annotations

import ipaddress

from greenroom.errors import InputError

LOOPBACK = "127.0.0.1"
TOKEN_VARIABLE = "GREENROOM_TOKEN"  # noqa: S105


def check_host(host: str, token: str | None) -> None:
    """Raise unless the host is this machine alone, or a token keeps others out."""
    if token or is_loopback(host):
        return
    raise InputError(
        f"Others can reach {host}: set {TOKEN_VARIABLE} to a token that their requests need, or "
        f"stay with {LOOPBACK}."
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_of(host: str, port: int) -> str:
    """Where a server is, as seen from this machine."""
    near = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{near}]:{port}" if ":" in near else f"http://{near}:{port}"


__all__ = ["LOOPBACK", "TOKEN_VARIABLE", "address_of", "check_host", "is_loopback"]
