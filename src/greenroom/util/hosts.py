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

_METADATA_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data"}
    | {"instance-data.ec2.internal", "metadata.azure.internal", "metadata.packet.net"}
)
# AWS, Google, Alibaba, Azure, Oracle: machines get their credentials there.
_METADATA = frozenset(
    ipaddress.ip_address(one)
    for one in (
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
    )
)
# Their last 32 bits are an IPv4 address: NAT64, and the oldest notation, ::a.b.c.d.
_ENDS_IN_IPV4 = tuple(ipaddress.ip_network(one) for one in ("64:ff9b::/96", "::/96"))

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


def names_metadata(host: str) -> bool:
    """Whether a host is known for giving a machine its credentials, by its name."""
    return host.lower().rstrip(".") in _METADATA_NAMES


def is_off_limits(address: str) -> bool:
    """Whether an IP address is link-local or a cloud's metadata service, in any notation."""
    found = ipaddress.ip_address(address.partition("%")[0])
    inner = [found]
    if isinstance(found, ipaddress.IPv6Address):
        embedded = [found.ipv4_mapped, found.sixtofour, *(found.teredo or ())]
        if any(found in network for network in _ENDS_IN_IPV4):
            embedded.append(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF))
        inner += [one for one in embedded if one is not None]
    return any(one.is_link_local or one in _METADATA for one in inner)


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
    "is_off_limits",
    "names_metadata",
]
