"""Amounts of money: worked out in whole cents, kept as the numbers that the records hold."""

from __future__ import annotations

from collections.abc import Iterable


def cents(amount: float) -> int:
    """An amount in whole cents."""
    return round(amount * 100)


def amount(whole_cents: int) -> float:
    """Whole cents as the records keep them."""
    return round(whole_cents / 100, 2)


def total(amounts: Iterable[float]) -> float:
    """The rounded sum. Added up in cents, so that no version of Python sums it differently."""
    return amount(sum(cents(each) for each in amounts))


def less(left: float, right: float) -> float:
    """The rounded difference."""
    return amount(cents(left) - cents(right))


def spoken(value: float) -> str | None:
    """How an amount has to be told to the customer, or None if it is unfit to be asked for.

    An amount that ends in a zero can be written in two ways ("12.5", "12.50"), and a small one
    turns up by chance in other numbers: neither says reliably whether the customer heard it.
    """
    whole = cents(value)
    if whole < 1000 or whole % 10 == 0:
        return None
    return f"{whole // 100}.{whole % 100:02d}"
