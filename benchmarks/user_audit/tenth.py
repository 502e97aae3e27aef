"""Wordings of what users deny, written after that check was mended on the eighth and ninth set.

The check is not mended on them.
"""

from __future__ import annotations

from benchmarks.user_audit.fourth import FOURTH
from benchmarks.user_audit.fourth import SCENES as FOURTH_SCENES
from benchmarks.user_audit.talks import Plant, Wordings

_DESK = ("dentist", "furniture", "school", "moving")


def _denies(asks: str, replies: tuple[str, ...], rules: tuple[str, ...], kind: str | None = "denied_fact") -> Plant:  # fmt: skip
    return Plant(kind, (("agent", (asks,)), ("user", replies)), rules, domains=_DESK)


DENIED = (
    _denies("Under which email address did you sign up?", ("I can't say which email address it was.", "I don't have any email.", "I do not remember the email address that I used."), ("Your email address is {email}.", "You signed up with the email address {email}.")),
    _denies("What phone number can we reach you under?", ("I've got no phone number.", "I don't know what my phone number is.", "I'm sorry, I cannot provide a phone number."), ("Phone number: {phone}.", "Your phone number is {phone}.")),
    _denies("May I have the zip code of your billing address?", ("I don't know the zip code, sorry.", "I can't tell you the zip code.", "The zip code escapes me."), ("The zip code of your address is {zip}.", "Zip code: {zip}.")),
    _denies("What does it say as the model number?", ("I can't find a model number anywhere.", "I don't know the model number.", "There is no model number."), ("The model number is {code}.",)),
    _denies("Have you got your insurance number there?", ("No, I haven't got my insurance number.", "I don't know my insurance number.", "I never learned my insurance number."), ("Your insurance number is {n7}4.",)),
    _denies("Please give me your account number.", ("I don't have an account number.", "I wouldn't know my account number.", "I can't locate my account number."), ("Your account number is {n7}.", "You have the account number {n7}.")),
    _denies("Please enter your street address.", ("I can't recall my street address.", "I don't know my exact address.", "I don't have an address."), ("Your address is {house} {street}.",)),
    _denies("Do you have a confirmation number?", ("No, I don't have a confirmation number.", "I don't have one.", "No, I never received a confirmation number."), ("Your confirmation number is {code}.", "The confirmation number is {code}.")),
    _denies("Which claim number was assigned to you?", ("I wasn't told a claim number.", "I'm not aware of a claim number.", "I don't have the claim number in front of me."), ("The claim number is {n7}2.",)),
    _denies("What's your student ID?", ("I don't remember my student ID.", "I'm unsure what my student ID is.", "I misplaced my student ID."), ("Your student ID is {code}.",)),
    _denies("What date of birth is on your passport?", ("I don't know the date of birth on it.", "I can't recall my date of birth."), ("Your date of birth is {month} {day}, 1966.",)),
    _denies("And the number of the gift card, please?", ("I have no idea of the number of the gift card.", "I don't have the gift card number.", "I lost the card number."), ("The gift card number is {n7}55.", "The number of the gift card is {n7}55.")),
)  # fmt: skip

DENIED_NOT = tuple(
    _denies(*one, kind=None)
    for one in (
        ("Under which email address did you sign up?", ("With {email}, as far as I know.", "{email}. I don't have another one."), ("Your email address is {email}.",)),
        ("What does it say as the model number?", ("I can't find a model number.", "I don't know the model number."), ("", "You have no idea what the model number is.")),
        ("Please give me your account number.", ("I'd prefer not to give you my account number.", "I won't tell you my account number."), ("Your account number is {n7}. Do not disclose the account number.",)),
        ("Do you have a confirmation number?", ("I don't remember it, I'm afraid.", "I can't remember the confirmation number."), ("The confirmation number is {code}, but you've forgotten it.", "The confirmation number is {code}. You can't recall it.")),
        ("What's your student ID?", ("It's {code}. I haven't got the card with me.", "{code}, I didn't have to look."), ("Your student ID is {code}.",)),
        ("Please enter your street address.", ("{house} {street}. I don't know the new zip code yet.", "I live at {house} {street}."), ("Your address is {house} {street}.",)),
        ("Which claim number was assigned to you?", ("Let me see ... {n7}2.", "It's {n7}2, I never had another claim."), ("The claim number is {n7}2.",)),
    )
)  # fmt: skip

TENTH = Wordings(FOURTH_SCENES, (*DENIED, *DENIED_NOT), FOURTH.values)
