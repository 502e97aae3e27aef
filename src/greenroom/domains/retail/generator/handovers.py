"""Wishes that end with a person: something that can be done, then something that no tool can do."""

from __future__ import annotations

from typing import Final

from greenroom.domains.actions import Action
from greenroom.domains.retail.generator.delivered_wishes import exchange_item, return_item
from greenroom.domains.retail.generator.pending_wishes import (
    cancel_order,
    change_address,
    change_payment,
    swap_item,
)
from greenroom.domains.retail.generator.questions import move_house
from greenroom.domains.retail.generator.visit import Builder, Visit, Wish

_FIRST: Final[tuple[Builder, ...]] = (
    cancel_order,
    change_address,
    change_payment,
    swap_item,
    return_item,
    exchange_item,
    move_house,
)

_BEYOND_THE_DESK: Final = (
    ("open a wholesale account for your climbing club", "a wholesale account for a climbing club"),
    ("change the email address of your account", "a new email address for the account"),
    ("have a torn tent from years ago repaired under warranty", "a warranty repair of a tent"),
    ("book a place on one of the shop's guided walks", "a place on a guided walk"),
    ("get a copy of an invoice with your company's tax number on it", "an invoice for a company"),
    ("have a new credit card added to your profile", "a credit card to be added to the profile"),
    ("have the spelling of your last name in the profile corrected", "a correction of the name"),
    ("talk about a job at the shop's warehouse", "a job at the warehouse"),
)


def then_a_person(visit: Visit) -> Wish | None:
    """A change that the desk can make, then a matter for which a person is needed."""
    wish = visit.rng.choice(_FIRST)(visit)
    if wish is None:
        return None
    matter, summary = visit.rng.choice(_BEYOND_THE_DESK)
    text = visit.say(
        "Only when that is done, you bring up something else: you want to {matter}. If the agent "
        "cannot help with it, you ask to be put through to a person.",
        "After that has been taken care of, and not before, you say that you also want to "
        "{matter}. You are fine with being handed over to somebody who can help.",
        matter=matter,
    )
    handover = Action("transfer_to_human_agents", {"summary": f"The customer asks for {summary}."})
    return Wish(f"{wish.text} {text}", (*wish.actions, handover))
