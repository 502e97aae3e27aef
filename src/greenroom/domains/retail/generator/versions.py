"""Versions of a product that a customer asks for, and their descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from greenroom.domains.retail.generator import money
from greenroom.domains.retail.generator.content import OPTION_PHRASES
from greenroom.domains.retail.generator.visit import Visit
from greenroom.domains.world import Record


@dataclass(frozen=True)
class Replacement:
    """An item, the version that replaces it, and the customer's description of that version."""

    item: Record
    variant: Record
    wording: str

    @property
    def extra(self) -> float:
        """The price of the new version minus that of the old one."""
        return money.difference(self.variant["price"], self.item["price"])


def other_version(visit: Visit, item: Record) -> Replacement | None:
    """A version in stock that is the same in all but one or two options, described by those."""
    for most_changes in (1, 2):
        near = [
            variant
            for variant in visit.shop.variants(item["product_id"])
            if variant["available"] and 0 < _changes(item, variant) <= most_changes
        ]
        if near:
            variant = visit.rng.choice(near)
            changes = changes_phrase(item["options"], variant["options"])
            return Replacement(item, variant, visit.say("other_version", changes=changes))
    return None


def extreme_version(visit: Visit, item: Record) -> Replacement | None:
    """The cheapest or most expensive version in stock with a certain value of an option."""
    stock = [v for v in visit.shop.variants(item["product_id"]) if v["available"]]
    choices = dict.fromkeys((o, value) for v in stock for o, value in v["options"].items())
    option, value = visit.rng.choice(list(choices) or [("", "")])
    fitting = [variant for variant in stock if variant["options"].get(option) == value]
    if len(fitting) < 2:
        return None
    cheapest = visit.rng.random() < 0.7
    variant = (min if cheapest else max)(fitting, key=lambda each: each["price"])
    if variant["item_id"] == item["item_id"]:
        return None
    wording = visit.say(
        "extreme_version",
        which="cheapest" if cheapest else "most expensive",
        phrase=option_phrase(option, value),
    )
    return Replacement(item, variant, wording)


def missing_version(visit: Visit, item: Record) -> str | None:
    """The description of an unavailable version that differs in one option.

    Other versions of the product have that value, so the customer can ask for it.
    """
    variants = visit.shop.variants(item["product_id"])
    values = dict.fromkeys((o, value) for v in variants for o, value in v["options"].items())
    wanted = [
        (option, value)
        for option, value in values
        if value != item["options"][option]
        and not any(
            v["available"] and v["options"] == {**item["options"], option: value} for v in variants
        )
    ]
    return option_phrase(*visit.rng.choice(wanted)) if wanted else None


def _changes(item: Record, variant: Record) -> int:
    return sum(item["options"][option] != value for option, value in variant["options"].items())


def option_phrase(option: str, value: str) -> str:
    """A value of an option within a sentence: "in size M"."""
    return OPTION_PHRASES[option].format(value)


def changes_phrase(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """The differences between two versions."""
    changed = [option for option in new if new[option] != old[option]]
    return " and ".join(option_phrase(option, new[option]) for option in changed)
