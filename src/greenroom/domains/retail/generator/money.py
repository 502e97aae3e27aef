"""Amounts of money: computed in whole cents, stored as the records' numbers."""

from __future__ import annotations

from collections.abc import Iterable


def cents(amount: float) -> int:
    """An amount in whole cents."""
    return round(amount * 100)


def amount(whole_cents: int) -> float:
    """Whole cents as the number that records store."""
    return round(whole_cents / 100, 2)


def total(amounts: Iterable[float]) -> float:
    """The rounded sum, added up in cents for the same result on every version of Python."""
    return amount(sum(cents(each) for each in amounts))


def difference(left: float, right: float) -> float:
    """The rounded difference."""
    return amount(cents(left) - cents(right))


def spoken(value: float) -> str | None:
    """The amount as text for a required output, or None if it does not suit one.

    An amount that ends in a zero can be written in two ways ("12.5", "12.50"), and a small one
    may occur in other numbers by chance, so neither can be checked reliably.
    """
    whole = cents(value)
    if whole < 1000 or whole % 10 == 0:
        return None
    return f"{whole // 100}.{whole % 100:02d}"
