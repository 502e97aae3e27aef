"""What a judge found, placed in the conversation by the words that it quotes."""

from __future__ import annotations

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk

_AROUND = " \"'“”‘’.…"


def placed(finding: Finding, talk: Talk) -> Finding:
    """A judge's finding with the message that it quotes.

    A quotation that is in none of the user's messages is no evidence: the finding stays without it.
    """
    wanted = _plain(finding.words)
    for turn in talk.turns if any(map(str.isalnum, wanted)) else ():
        if wanted in _plain(turn.raw):
            words = quoted(turn.raw, finding.words.strip(_AROUND))
            return finding.model_copy(update={"turn": turn.number, "words": words})
    return finding.model_copy(update={"turn": 0, "words": ""})


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_AROUND)
