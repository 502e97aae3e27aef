"""What a user says as if it were the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk
from greenroom.audit.wording import sentences

_AGENT: Final = re.compile(
    r"^\W*(?:agent|assistant|support|representative|customer service)\s*:"
    r"|\bhow (?:can|may|could) (?:i|we) (?:help|assist|be of)\b"
    r"|\b(?:can|may|could) (?:i|we) (?:help|assist) you\b|\bwhat (?:can|may|could) (?:i"
    r"|we) (?:do|help)(?: for)? you\b|\bwelcome to\b"
    r"|\b(?:in|on|from) our (?:system|records?|database)\b|\bour (?:polic(?:y|ies)|customers"
    r"|representatives|records show|support team)\b"
    r"|\blet me (?:quickly |just )?(?:pull up|look up|look into|check|access|find|locate"
    r"|verify|process|retrieve|bring up|transfer|connect) (?:your|you|that for you"
    r"|this for you|it for you)\b"
    r"|\b(?:i|we)(?:'ve| have) gone ahead and \w+ (?:your|the|that|it|this)\b|\b(?:i"
    r"|we) can (?:confirm|see) (?:that )?your\b"
    r"|\b(?:for|before) (?:security|verification)(?: purposes| reasons)?,? (?:please"
    r"|could you|can you|may i|i need)\b"
    r"|\b(?:is there )?anything else (?:that )?(?:i|we) (?:can|could|may) (?:help|assist"
    r"|do for you)\b"
    r"|\b(?:feel free to|don't hesitate to|do not hesitate to) (?:ask|reach out|contact"
    r"|let (?:me|us) know)\b"
    r"|\b(?:i|we)(?:'ve| have)(?: now| successfully| just| already)* (?:processed|cancelled"
    r"|canceled|updated|refunded|issued|initiated|located|verified|submitted|exchanged"
    r"|modified|booked|upgraded|arranged|applied|scheduled) (?:your|the (?:refund|return"
    r"|exchange|cancellation|change)|that for you|it for you|this for you)\b"
    r"|\b(?:i|we)(?:'ll| will| can| am going to|'m going to)(?: now| gladly"
    r"| be happy to)* (?:process|cancel|update|refund|issue|initiate|locate|verify|submit"
    r"|look up|pull up|transfer|check|help|assist)(?: on)? (?:your|you)\b"
    r"|\b(?:could|can|may|would|will) (?:you|i) (?:please )?(?:provide|share|confirm|verify"
    r"|give|have)(?: me)?(?: with)? your (?:\w+ )?(?:user|order|email|e-mail|full|account|zip"
    r"|phone|name|reservation|booking|customer|payment|date of birth|address|first|last)"
    r"|\bplease (?:provide|share|confirm|verify|give)(?: me)?(?: with)? your (?:\w+ )?(?:user"
    r"|order|email|e-mail|full|account|zip|phone|name|reservation|booking|customer|payment"
    r"|date of birth|address|first|last)"
    r"|\byour (?:\w+ ){0,2}(?:order|refund|reservation|booking|return|exchange|request"
    r"|account|flight|ticket|cancellation|line|bill)(?: \S+)? (?:has been|have been|was"
    r"|is now|will be) (?:now )?(?:successfully )?(?:processed|cancelled|canceled|updated"
    r"|refunded|confirmed|booked|issued|submitted|modified|exchanged|upgraded|changed|reset"
    r"|closed)"
    r"|\b(?:thank you|thanks) for (?:contacting|calling|reaching out to|getting in touch"
    r"|being a|choosing|your purchase|shopping)\b"
    r"|\bas an? (?:ai|language model|virtual assistant|customer (?:service|support) (?:agent"
    r"|representative|rep))\b"
    r"|\bi(?:'m| am) (?:here to (?:help|assist)|an? (?:ai|assistant|virtual|language model))\b"
    r"|\bi(?:'m| am|'d| would) (?:be )?(?:happy|glad|delighted) to (?:help|assist) (?:you"
    r"|with (?:that|your))\b"
    r"|\b(?:to|before i can) (?:proceed|assist you|help you), (?:i(?:'ll| will)? need|please)\b"
    r"|\bi(?:'m| am) sorry to hear (?:that|about)\b|\bwe apologi[sz]e for\b"
    r"|\bapologi[sz]e for any inconvenience\b"
    r"|\byou (?:will|should) (?:receive|get|see) (?:a|an|your|the) (?:\w+ )?(?:refund|email"
    r"|e-mail|confirmation|credit)\b"
)
_OWN: Final = re.compile(
    r"[\"“”]|\b(?:you (?:said|told|mentioned|wrote)|it says|the (?:message|e-?mail|website"
    r"|app) (?:says|said))\b"
)
_REPLIES: Final = re.compile(r"\bi(?:'ll| will) (?:share|give|send|provide|check|look|need)\b")


def speaks_as_agent(talk: Talk) -> Iterator[Finding]:
    """The first message in which the user speaks as the agent does."""
    for turn in talk.turns:
        plain = turn.text.replace("’", "'")
        for sentence in sentences(plain):
            lowered = sentence.casefold()
            found = _AGENT.search(lowered)
            if found is None or _OWN.search(lowered):
                continue
            if sentence in talk.instruction.text:
                continue
            yield Finding(
                kind="spoke_as_agent",
                sentence="It spoke as the agent does, not as the one who wants something.",
                turn=turn.number,
                words=quoted(sentence, found[0]),
            )
            return
