"""Wordings of what is accepted and refused against the instruction: seen ones.

The fifth set missed its floor for these. Checks were mended on both.
"""

from __future__ import annotations

from benchmarks.user_audit.fifth import FIFTH, SCENES
from benchmarks.user_audit.talks import Plant, Wordings

_DESK = ("vet", "coworking", "ferry", "grocery")
_RULES = (
    # The rule, the offer, what breaks it, and what keeps it.
    (
        ("You do not want to be put on a waiting list.", "Turn down a place on the waiting list."),
        ("I could put you on the waiting list. Would that help?", "Shall I add you to our waiting list?"),
        ("Yes, put me on the waiting list.", "The waiting list is fine, thanks.", "Okay, I'll go on the waiting list."),
        ("No waiting list, please.", "I don't want to wait on a list, thanks."),
    ),
    (
        ("You never agree to an inspection.", "Refuse an inspection."),
        ("We would have to do an inspection. Do you agree to that?", "Would an inspection suit you?"),
        ("I agree to the inspection.", "Alright, an inspection it is.", "Yes, you can do the inspection.", "An inspection would suit me."),
        ("I don't agree to an inspection.", "No, an inspection is not possible."),
    ),
    (
        ("You are not prepared to pay a deposit.", "You won't pay any deposit."),
        ("There is a deposit of $40. Are you alright with that?", "We need a deposit from you. Would that be okay?"),
        ("I can pay the deposit.", "The deposit is alright with me.", "Sure, I'll pay the deposit right now."),
        ("I'm not going to pay a deposit.", "Is there a way without a deposit?"),
    ),
    (
        ("You reject any exchange.", "An exchange is not acceptable to you."),
        ("Would you consider an exchange?", "What we can do is an exchange."),
        ("I would consider an exchange, yes.", "Let's do the exchange then.", "Good, I'm happy with an exchange."),
        ("I wouldn't consider an exchange.", "An exchange doesn't help me."),
    ),
    (
        ("You want gift wrapping.", "You'd like to have gift wrapping."),
        ("Would you like gift wrapping?", "Is gift wrapping something you'd want?"),
        ("I don't want gift wrapping.", "No gift wrapping for me, thank you.", "Gift wrapping isn't needed."),
        ("I'd love gift wrapping.", "Yes, with gift wrapping please."),
    ),
    (
        ("Do not ask for compensation.", "You do not request compensation."),
        ("I'm truly sorry for what has happened.", "That was our mistake, I apologise."),
        ("I would like to have compensation for that.", "Could I get compensation?", "I think you should pay me compensation, so please give me compensation."),
        ("That's alright, it can happen.", "Apology accepted."),
    ),
)  # fmt: skip

AGAINST = tuple(
    Plant("against_instruction", (("agent", offers), ("user", wrong)), rules, domains=_DESK)
    for rules, offers, wrong, _ in _RULES
)
KEPT = tuple(
    Plant(None, (("agent", offers), ("user", right)), rules, domains=_DESK)
    for rules, offers, _, right in _RULES
)

SIXTH = Wordings(SCENES, (*AGAINST, *KEPT), FIFTH.values)
