"""The products of the shop: types with options and price ranges, and the product table.

Every name is a singular noun, so that a sentence may call any product "it".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product as combinations_of
from random import Random
from typing import Final

from greenroom.domains.retail.generator import money
from greenroom.domains.world import Record


@dataclass(frozen=True)
class ProductType:
    """A kind of product; the seed decides on its versions and their prices."""

    name: str
    prices: tuple[int, int]
    """The lowest and the highest price of a version, in dollars."""
    options: Mapping[str, tuple[str, ...]]


_CLOTHING_SIZES: Final = ("XS", "S", "M", "L", "XL")


def _type(name: str, prices: tuple[int, int], /, **options: str) -> ProductType:
    # Values are listed in one text, separated by "|", which keeps the catalogue readable.
    split = {option: tuple(values.split("|")) for option, values in options.items()}
    return ProductType(name, prices, split)


def _wear(name: str, prices: tuple[int, int], /, **options: str) -> ProductType:
    plain = _type(name, prices, **options)
    return ProductType(name, prices, {"size": _CLOTHING_SIZES, **plain.options})


CATALOGUE: Final[tuple[ProductType, ...]] = (
    _type(
        "Ridge Tent",
        (219, 489),
        sleeps="one person|two people|four people",
        season="three seasons|winter use",
        color="moss green|rust orange|slate gray",
    ),
    _type(
        "Down Quilt",
        (159, 379),
        warmth="40 F|25 F|10 F",
        length="72 inches|78 inches",
        color="navy|plum|sand",
    ),
    _type(
        "Sleeping Mat",
        (49, 189),
        material="closed-cell foam|ripstop nylon|recycled polyester",
        length="66 inches|72 inches|78 inches",
        color="charcoal|teal",
    ),
    _type(
        "Camp Hammock",
        (39, 129),
        sleeps="one person|two people",
        material="parachute nylon|cotton canvas|hemp",
        color="sunset red|lagoon blue|olive",
    ),
    _type(
        "Trail Stove",
        (34, 149),
        fuel="canister gas|white gas|wood pellets",
        finish="matte|polished|black",
        grip="folding|fixed",
    ),
    _type(
        "Camp Mug",
        (12, 48),
        capacity="10 oz|14 oz|18 oz",
        material="enamelled steel|titanium|bamboo fiber",
        lid="sliding|screw-on",
    ),
    _type(
        "Cook Pot",
        (24, 96),
        capacity="0.9 liters|1.4 liters|2.2 liters",
        material="hard-anodized aluminum|titanium|stainless steel",
        lid="straining|plain",
    ),
    _type(
        "Headlamp",
        (22, 118),
        brightness="250|400|700",
        power="AAA batteries|a USB-C battery",
        color="graphite|lime|white",
    ),
    _type(
        "Camp Lantern",
        (19, 89),
        brightness="150|300|600",
        power="D batteries|a USB-C battery|a solar cell",
        finish="brass|matte|bronze",
    ),
    _type(
        "Trekking Pole",
        (32, 139),
        material="carbon|aluminum",
        grip="cork|foam|rubber",
        length="43 inches|47 inches|51 inches",
    ),
    _type(
        "Summit Daypack",
        (58, 189),
        capacity="18 liters|24 liters|32 liters",
        size="S|M|L",
        color="fern|black|clay",
    ),
    _type(
        "Dry Bag",
        (14, 62),
        capacity="5 liters|10 liters|20 liters|35 liters",
        closure="roll-top|zippered",
        color="yellow|clear|cobalt",
    ),
    _type(
        "Bear Canister",
        (69, 219),
        capacity="7 liters|10 liters|12 liters",
        material="polycarbonate|carbon fiber",
        lid="twist-off|latched",
        color="blue|smoke",
    ),
    _type(
        "Water Filter",
        (28, 139),
        capacity="1 liter|2 liters|4 liters",
        cartridge="hollow-fiber|charcoal|ceramic",
        color="aqua|gray",
    ),
    _type(
        "Hydration Bladder",
        (21, 58),
        capacity="1.5 liters|2 liters|3 liters",
        closure="slide|screw",
        length="36 inches|42 inches",
        color="clear|blue",
    ),
    _type(
        "Insulated Flask",
        (23, 74),
        capacity="16 oz|24 oz|40 oz",
        lid="straw|cup|twist",
        color="cranberry|midnight|birch",
    ),
    _wear("Rain Shell", (98, 329), hood="fixed|stowable|removable", color="ochre|ink blue|forest"),
    _wear("Merino Base Layer", (52, 128), weave="light|heavy", color="heather|black|berry"),
    _wear("Insulated Vest", (79, 248), fill="down|synthetic|wool", color="copper|navy|stone"),
    _wear("Sun Hoodie", (44, 98), fit="slim|regular|relaxed", color="sky|sand|coral"),
    _wear("Wind Smock", (64, 172), cuff="snug|hook-and-loop", color="mustard|spruce|silver"),
    _type(
        "Wool Beanie",
        (18, 52),
        weave="ribbed|cable|plain",
        lining="fleece|satin",
        color="oatmeal|burgundy|pine",
    ),
    _type(
        "Trail Cap",
        (17, 46),
        size="S/M|L/XL",
        closure="snap|buckle|stretch",
        color="khaki|black|papaya",
    ),
    _type(
        "Neck Gaiter",
        (13, 42),
        material="merino wool|recycled polyester|silk",
        pattern="plain|striped|topographic",
        color="gray|indigo",
    ),
    _type(
        "Climbing Harness",
        (54, 168),
        size="S|M|L|XL",
        buckle="quick|double-back",
        color="teal|tangerine|black",
    ),
    _type(
        "Climbing Rope",
        (119, 319),
        length="40 meters|60 meters|70 meters",
        diameter="9.2 mm|9.8 mm",
        treatment="dry|standard",
        color="lime|violet",
    ),
    _type(
        "Chalk Bag",
        (15, 49),
        closure="drawstring|magnetic",
        lining="fleece|mesh",
        pattern="plain|woven|patchwork",
        color="red|navy",
    ),
    _type(
        "Climbing Helmet",
        (59, 149),
        size="S/M|M/L|L/XL",
        material="hard shell|expanded foam",
        color="white|orange|petrol",
    ),
    _type(
        "Ice Axe",
        (84, 259),
        length="50 cm|58 cm|66 cm",
        blade="straight|curved",
        material="steel|aluminum",
        grip="wrapped|rubber",
    ),
    _type(
        "Inflatable Kayak",
        (289, 849),
        seats="one paddler|two paddlers|three paddlers",
        material="PVC|drop-stitch fabric",
        color="yellow|sea green|red",
    ),
    _type(
        "Kayak Paddle",
        (74, 289),
        length="210 cm|220 cm|230 cm",
        material="fiberglass|carbon|aluminum",
        blade="wide|narrow",
    ),
    _wear("Life Vest", (59, 189), closure="zippered|buckled", color="scarlet|mango|mint"),
    _type(
        "Fishing Rod",
        (48, 268),
        length="6 feet|7 feet|9 feet",
        material="graphite|fiberglass|bamboo",
        grip="cork|foam",
    ),
    _type(
        "Spotting Scope",
        (138, 598),
        magnification="15-45x|20-60x|25-75x",
        finish="green|black|camouflage",
        cover="neoprene|leather",
    ),
    _type(
        "Pocket Compass",
        (16, 88),
        material="brass|acrylic|aluminum",
        lid="hinged|mirrored",
        strap="leather|nylon|cord",
    ),
    _type(
        "Trail Journal",
        (11, 39),
        cover="cork|linen|waxed",
        pages="96|144|192",
        pattern="dotted|lined|squared",
    ),
    _type(
        "Camp Chair",
        (42, 178),
        material="mesh|canvas|ripstop nylon",
        build="standard|wide|tall",
        color="brick|ash|meadow",
    ),
    _type(
        "Folding Table",
        (54, 198),
        length="24 inches|36 inches|48 inches",
        material="bamboo|aluminum|birch plywood",
        finish="natural|dark",
    ),
    _type(
        "Picnic Blanket",
        (28, 98),
        size="S|M|L",
        lining="waterproof|fleece|plain",
        pattern="tartan|striped|botanical",
    ),
    _type(
        "Travel Duffel",
        (64, 229),
        capacity="40 liters|60 liters|90 liters",
        strap="padded|plain",
        color="black|saffron|fjord blue",
    ),
    _type(
        "Packing Cube Set",
        (19, 72),
        pieces="three|five|seven",
        material="mesh|ripstop nylon",
        color="gray|rose|turquoise",
    ),
    _type(
        "Pocket Saw",
        (23, 84),
        blade="coarse|fine|curved",
        length="7 inches|9 inches|11 inches",
        grip="wooden|rubber",
    ),
    _type(
        "Trail Watch",
        (129, 469),
        display="solar|bright|monochrome",
        strap="silicone|nylon|leather",
        size="42 mm|47 mm",
        color="black|bone",
    ),
    _type(
        "Dog Harness",
        (27, 92),
        size="S|M|L|XL",
        buckle="metal|plastic",
        color="red|forest|reflective gray",
    ),
)


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
