"""Wordings of what is accepted and refused against the instruction, of other things than the sixth set.

The check was mended on them after they had been measured, so they are seen now.
"""

from __future__ import annotations

from benchmarks.user_audit.fourth import FOURTH, SCENES
from benchmarks.user_audit.talks import Plant, Wordings

_DESK = ("dentist", "furniture", "school", "moving")
_RULES = (
    # The rule, the offer, what breaks it, and what keeps it.
    (
        ("You don't want a video call.", "You say no to a video call."),
        ("We could arrange a video call.", "How would you feel about a video call?"),
        ("A video call would be lovely.", "I'd be glad to have a video call.", "Please arrange the video call."),
        ("I'd prefer not to have a video call.", "No video calls for me."),
    ),
    (
        ("You will not accept a later date.", "You refuse a later date."),
        ("I only have a later date. Is that feasible for you?", "A later date is all that I can offer."),
        ("A later date is feasible.", "All right, book the later date.", "I can live with a later date."),
        ("A later date is impossible for me.", "I don't want a later date."),
    ),
    (
        ("You do not agree to a background check.", "You are not okay with a background check."),
        ("It needs a background check. Do we have your consent?", "We'd run a background check first."),
        ("You have my consent to the background check.", "That's okay, run the background check.", "I have no objection, do the background check."),
        ("I don't consent to a background check.", "I would rather skip the background check."),
    ),
    (
        ("You decline the loyalty programme.", "You do not wish to join the loyalty programme."),
        ("Would you like to join our loyalty programme?", "Our loyalty programme gives you points."),
        ("I'd like to join the loyalty programme.", "Sign me up for the loyalty programme!", "The loyalty programme sounds wonderful, count me in."),
        ("I'm not interested in the loyalty programme.", "No need for the loyalty programme."),
    ),
    (
        ("You want a receipt by post.", "You would like a receipt by post."),
        ("Do you wish to have a receipt by post?", "Shall we send the receipt by post?"),
        ("Don't send a receipt by post.", "I have no use for a receipt by post.", "A receipt by post isn't required."),
        ("Yes, a receipt by post would be good.", "By post, please."),
    ),
    (
        ("You never ask for a discount.", "You must not request a discount."),
        ("The price is as it stands in the list.", "That is the full price."),
        ("I want a discount.", "Can you give me a discount?", "I'd appreciate a discount, please."),
        ("That's fine with me.", "I see, thank you for telling me the price."),
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

SEVENTH = Wordings(SCENES, (*AGAINST, *KEPT), FOURTH.values)
