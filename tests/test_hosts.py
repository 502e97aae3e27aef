"""Who can reach a server."""

from __future__ import annotations

import pytest

from greenroom.errors import InputError
from greenroom.util.hosts import address_of, check_host, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    check_host(host, None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "shop.example"])
def test_others_need_one(host: str) -> None:
    assert not is_loopback(host)
    check_host(host, "very-secret")
    with pytest.raises(InputError, match=f"Others can reach {host}: set GREENROOM_TOKEN"):
        check_host(host, None)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://[::1]:80"),
        ("shop.example", "http://shop.example:80"),
    ],
)
def test_the_address_as_seen_from_this_machine(host: str, address: str) -> None:
    assert address_of(host, 80) == address
