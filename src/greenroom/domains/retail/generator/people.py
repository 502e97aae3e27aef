"""The customers: names from many parts of the world, addresses, emails and payment methods."""

from __future__ import annotations

from random import Random
from typing import Final

from greenroom.domains.generation.people import PEOPLE, make_address
from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.catalogue import fresh_id
from greenroom.domains.world import Record

_MAIL_HOSTS: Final = ("example.com", "example.org", "example.net")
_CARD_BRANDS: Final = ("visa", "mastercard")


def make_users(rng: Random, count: int) -> dict[str, Record]:
    """This many customers by id; emails, and names with postal codes, are unique."""
    users: dict[str, Record] = {}
    people: set[tuple[str, str, str]] = set()
    emails: set[str] = set()
    methods: set[str] = set()
    while len(users) < count:
        first, last = rng.choice(PEOPLE["first_names"]), rng.choice(PEOPLE["last_names"])
        address = make_address(rng)
        handle = f"{first}_{last}".lower()
        user_id = fresh_id(rng, 4, users, f"{handle}_")
        email = f"{handle.replace('_', '.')}{rng.randint(10, 9999)}@{rng.choice(_MAIL_HOSTS)}"
        if (first, last, address["zip"]) in people or email in emails:
            continue
        people.add((first, last, address["zip"]))
        emails.add(email)
        users[user_id] = {
            "name": {"first_name": first, "last_name": last},
            "address": address,
            "email": email,
            "payment_methods": _payment_methods(rng, methods),
            "orders": [],
        }
    return users


def _payment_methods(rng: Random, used: set[str]) -> dict[str, Record]:
    # At most one PayPal account and one gift card, so that "your gift card" is unambiguous.
    methods: list[Record] = []
    if rng.random() < 0.8:
        methods.append(_credit_card(rng))
        if rng.random() < 0.35:
            methods.append(_another_card(rng, methods[0]))
    if rng.random() < 0.5:
        methods.append({"source": "paypal"})
    if not methods or rng.random() < 0.6:
        balance = rng.randint(1500, 60000) if rng.random() < 0.7 else rng.randint(300, 9000)
        methods.append({"source": "gift_card", "balance": money.amount(balance)})
    rng.shuffle(methods)
    named: dict[str, Record] = {}
    for method in methods:
        method_id = fresh_id(rng, 7, used, f"{method['source']}_")
        used.add(method_id)
        named[method_id] = method | {"id": method_id}
    return named


def _credit_card(rng: Random) -> Record:
    last_four = f"{rng.randrange(10000):04d}"
    return {"source": "credit_card", "brand": rng.choice(_CARD_BRANDS), "last_four": last_four}


def _another_card(rng: Random, first: Record) -> Record:
    while True:
        card = _credit_card(rng)
        if card["last_four"] != first["last_four"]:
            return card
