"""The product table: versions and prices of every product type."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product as combinations_of
from random import Random

from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.content import CATALOGUE, ProductType
from greenroom.domains.world import Record

_FEWEST_VARIANTS = 8
_MOST_VARIANTS = 14
_IN_STOCK = 0.72


def make_products(rng: Random) -> dict[str, Record]:
    """A record per product type, by product id."""
    used: set[str] = set()
    products = [_product(rng, kind, used) for kind in CATALOGUE]
    rng.shuffle(products)
    return {product["product_id"]: product for product in products}


def fresh_id(rng: Random, digits: int, used: Collection[str], prefix: str = "") -> str:
    """A random unused id: the prefix and this many digits, the first not zero."""
    while True:
        candidate = f"{prefix}{rng.randrange(10 ** (digits - 1), 10**digits)}"
        if candidate not in used:
            return candidate


def _product(rng: Random, kind: ProductType, used: set[str]) -> Record:
    product_id = fresh_id(rng, 10, used)
    used.add(product_id)
    return {
        "name": kind.name,
        "product_id": product_id,
        "variants": {variant["item_id"]: variant for variant in _variants(rng, kind, used)},
    }


def _variants(rng: Random, kind: ProductType, used: set[str]) -> list[Record]:
    every = list(combinations_of(*kind.options.values()))
    count = min(len(every), rng.randint(_FEWEST_VARIANTS, _MOST_VARIANTS))
    # Prices within a product differ, so every selection has one cheapest version.
    lowest, highest = kind.prices
    prices = rng.sample(range(lowest * 100, highest * 100), count)
    variants: list[Record] = []
    for values, price in zip(rng.sample(every, count), prices, strict=True):
        item_id = fresh_id(rng, 10, used)
        used.add(item_id)
        variants.append(
            {
                "item_id": item_id,
                "options": dict(zip(kind.options, values, strict=True)),
                "available": rng.random() < _IN_STOCK,
                "price": money.amount(price),
            }
        )
    return variants
