"""What a user says as if it were the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk
from greenroom.audit.wording import sentences

_CUSTOMERS: Final = (
    r"(?:accounts?|bookings?|reservations?|orders?|refunds?|returns?|exchange|requests?|records?"
    r"|identity|profile|payments?|purchases?|claims?|cases?|frustration|inquiry|enquiry|concerns?"
    r"|statement|date of birth|(?:full |first |last )?name|e-?mail(?: address)?|phone(?: number)?"
    r"|address|zip(?: code)?|(?:user|customer|order|booking|reservation|account|member|policy"
    r"|confirmation|contract|patient|ticket) (?:id|number|code|reference)|card|membership"
    r"|subscription|contract|appointment|cancellation|flight|tickets?|line|bill|details"
    r"|information|reference|loan|prescription|delivery|file|refill|box)"
)
"""What the customer has, and an agent calls "your"."""
_DEALS: Final = (
    r"(?:process|cancel|update|refund|issue|initiate|locate|verify|submit|exchange|modify|book"
    r"|upgrade|arrange|appl(?:y|ie)|schedule|change|add|remove|reset|close|reserve|create|renew|find"
    r"|found|look up|looked up|pull up|pulled up|bring up|transfer|transferr|check|review|access"
    r"|retrieve|confirm|escalate|sent|send|made|make|see|complete|note|register|extend|look into)"
    r"(?:ed|d|led)?"
)
_WILL: Final = r"(?:'ll| will| can| am going to|'m going to| need to| have to|'d like to| must)"
_ADVERB: Final = (
    r"(?: now| just| also| already| successfully| gladly| quickly| first| gone ahead and)*"
)
_AGENT: Final = re.compile(
    # Offers of help, and greetings.
    r"^\W*(?:agent|assistant|support|representative|customer service)\s*:"
    r"|\b(?:how|what) (?:can|may|could) (?:i|we) (?:help|assist|be of|do for|get for) ?(?:you\b)?"
    r"|\b(?:can|may|could) (?:i|we) (?:help|assist) you\b"
    r"|\b(?:any|some)thing (?:else|more|further) (?:that )?(?:i|we) (?:can|could|may) (?:do for you|help|assist)"
    r"|\b(?:do|to do) anything (?:else|more) for you\b|\banything (?:else|more) (?:that )?you"
    r" (?:need|want|would like)(?: help| assistance| today|\W*$)|\banything (?:else|more) for you\b"
    r"|\bi(?:'m| am|'d| would|'ll| will| can)? (?:(?:be )?(?:happy|glad|delighted|here|able|pleased) to )?"
    r"(?:help|assist) (?:you\b|with (?:that|your))"
    r"|\bi(?:'m| am) here to (?:help|assist)|\bglad (?:that )?i could (?:help|assist)|^\W*welcome to\b"
    r"|\bthank(?:s| you) for (?:contacting|calling|reaching out|getting in touch|choosing"
    r"|shopping|your (?:purchase|order|call|business|patience while)|providing your|verifying your)"
    r"|\bwe (?:appreciate|value) your\b|\bhope to see you again\b"
    r"|\b(?:feel free|don't hesitate|do not hesitate) to (?:ask|reach out|contact|let (?:me|us))"
    r"|\bif you (?:have|need) (?:any )?(?:further|more|other|additional|any) (?:questions?|help|assistance|support)"
    # Dealing with what the customer has.
    rf"|\b(?:i|we)(?:{_WILL}|'ve| have)?{_ADVERB} {_DEALS}(?: on| that| through| for| at)? your "
    rf"(?:[a-z]+ ){{0,2}}{_CUSTOMERS}\b"
    rf"|\b(?:let me|while (?:i|we)){_ADVERB} {_DEALS}(?: on| into)? your\b|\bwhile (?:i|we) (?:look|check|process|pull|review)"
    r"(?! (?:for|at|in|through)? ?my\b)"
    rf"|\b(?:i|we)(?:'ll| will|'ve| have)(?: now| just| already| successfully){{0,2}}(?: go(?:ne)? ahead and)? "
    r"(?:process|cancel|updat|refund|issu|initiat|verif|submit|exchang|modif|book|upgrad|arrang"
    r"|appl|schedul|chang|reset|clos|renew|made|make|check|look|transfer|escalat)[a-z]*\b[^.,?!]{0,40}\bfor you\b"
    r"|\blet me (?:quickly |just )?(?:pull up|look up|look into|check|access|find|locate|verify"
    r"|process|retrieve|bring up|transfer|connect) (?:you|that for you|this for you|it for you"
    r"|the (?:available|system))\b"
    r"|\b(?:i|we) (?:have|'ve) sent you\b(?! (?:an?|the|my) (?:e-?mail|message|letter|photo|picture) (?:about|with|on|of|last|yesterday|already))"
    rf"|\b(?:could|can|may|would|will) (?:you|i|we) (?:please )?(?:provide|share|confirm|verify|have|give|tell)"
    rf"(?: me| us)?(?: with)? your (?:[a-z]+ ){{0,2}}{_CUSTOMERS}\b"
    rf"|\bplease (?:provide|share|confirm|verify|give)(?: me| us)?(?: with)? your (?:[a-z]+ ){{0,2}}{_CUSTOMERS}\b"
    rf"|\byour (?:[a-z]+ ){{0,2}}{_CUSTOMERS}(?: \S+)? (?:has been|have been|was|is now|will be"
    r"|has gone|will appear|went) (?:now )?(?:successfully )?"
    r"|\b(?:verify your|your identity)\b|\bappear on your\b|\byour frustration\b"
    r"|\byou(?:'ll| will| should) (?:shortly |soon )?(?:receive|get|see) (?:a|an|your|the) "
    r"(?:[a-z]+ )?(?:refund|e-?mail|confirmation|credit|receipt|money|message|letter)\b"
    r"|\byou(?:'re| are| will be|'ll be) (?:now )?(?:being )?transferred\b|\bplease allow\b[^.?!]{0,30}\b(?:days|hours)"
    # What only a company says of itself.
    r"|\b(?:in|on|from) our (?:system|records?|database|end)\b|\bour (?:polic(?:y|ies)|customers"
    r"|(?:human )?agents?|representatives|records show|support team|specialists)\b"
    r"|\bpolicy,? (?:i|we)(?:'m| am| cannot| can't)\b|\b(?:cannot|can't|unable to) process\b"
    r"|\b(?:cannot|can't|unable to) [^.?!]{1,40}\b(?:as per|due to|according to|because of) (?:the |our )?policy\b"
    r"|\b(?:i|we)(?:'ll| will|'m going to| am going to| can) (?:now )?(?:transfer|escalate|connect) (?:you|this|your)\b"
    r"|\bas (?:an? (?:ai|language model|virtual)|(?:an?|your) (?:customer )?(?:service |support )"
    r"(?:agent|assistant|representative|rep))\b|\bi(?:'m| am) an? (?:ai|virtual|language model)\b"
    r"|\b(?:to|before i can|so that i can|in order to) (?:proceed|assist you|help you),? (?:i(?:'ll| will)? need|please)\b"
    r"|\bwould you like to proceed with\b|\bbefore i can (?:proceed|continue|make|process)\b"
    r"|\b(?:for|before) (?:security|verification)(?: purposes| reasons)?,? (?:please|could you|can you|may i|i need)\b"
    r"|\bi(?:'m| am) sorry to hear (?:that|about)\b|\bwe apologi[sz]e for\b"
)
_OWN: Final = re.compile(
    r"[\"“”]|\B'[^']{4,}'\B|\b(?:you (?:said|told|mentioned|wrote)|(?:was|been|were) told|it says|the"
    r" (?:message|e-?mail|website|app|letter) (?:says|said)|(?:said|saying|says|told me|wrote|claims) that)\b"
)


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
