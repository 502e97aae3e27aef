"""Who can reach a server: this machine alone, or others, who then need a token."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

from greenroom.errors import InputError

LOOPBACK = "127.0.0.1"
TOKEN_VARIABLE = "GREENROOM_TOKEN"  # noqa: S105

WRONG_HOST = (
    "Without a token this server answers only requests to localhost, 127.0.0.1 or [::1]: use one "
    f"of them as the host of the address, or set {TOKEN_VARIABLE}."
)
"""The refusal of a request whose Host is another name."""

_HOST_HEADER = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\[\]:@/]+)(:[0-9]*)?")


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
        return ipaddress.ip_address(host.removeprefix("::ffff:")).is_loopback
    except ValueError:
        return host == "localhost"


@lru_cache(maxsize=256)
def accepts_host(header: str, server: str) -> bool:
    """Whether a server without a token, reached at this address, answers requests with this Host.

    On loopback, only names of this machine count. A page can make the name of its own site point
    here (DNS rebinding), but then its browser sends that name as Host.
    """
    if not is_loopback(server):
        return True
    found = _HOST_HEADER.fullmatch(header)
    name = found[1].strip("[]").lower() if found else ""
    return name in ("localhost", LOOPBACK, "::1", server)


def address_of(host: str, port: int) -> str:
    """Where a server is, as seen from this machine."""
    near = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{near}]:{port}" if ":" in near else f"http://{near}:{port}"


__all__ = [
    "LOOPBACK",
    "TOKEN_VARIABLE",
    "WRONG_HOST",
    "accepts_host",
    "address_of",
    "check_host",
    "is_loopback",
]
