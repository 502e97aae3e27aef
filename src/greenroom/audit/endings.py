"""How a user ends a conversation: too early, in a sentence, or without a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import STOP_SIGN, Talk, UserTurn
from greenroom.audit.topics import topics_in
from greenroom.audit.wording import affirms, questions, refuses, words_of

_PROMISE: Final = re.compile(
    r"\b(?:(?:please )?(?:hold on|wait|bear with me|one moment|a moment|just a sec)|i(?:'ll"
    r"| will| am going to|'m going to) (?:now )?"
    r"(?:proceed|process|go ahead|check|look|start|cancel|book|update|submit|begin|verify"
    r"|search|pull|retrieve|arrange|work on|take care|get that|make the)|"
    r"let me (?:check|look|pull|verify|find|search|process|retrieve|see|start|get)|i(?:'m"
    r"| am) (?:now )?(?:checking|processing|looking|working|pulling|verifying|searching))"
)
_OFFERS: Final = re.compile(
    r"\b(?:proceed|confirm|go ahead|yes|(?:shall|should|may|can|could|if) (?:i|we)|(?:like"
    r"|want|need) (?:me|us) to|ready|go-ahead|permission)\b"
)
_DONE: Final = re.compile(
    r"\b(?:has been|have been|was|were|is now|are now|successfully|completed?|all set|i(?:'ve"
    r"| have) (?:\w+ )?(?:processed|cancelled|canceled|updated|booked|submitted|changed"
    r"|refunded|issued|added|removed))\b"
)
_HANDED_OVER: Final = re.compile(r"###(?:TRANSFER|OUT-OF-SCOPE)###")
_SHORT: Final = 12


def early_ends(talk: Talk) -> Iterator[Finding]:
    """The user stops before any tool was called, or while the agent waits or works."""
    last = next((turn for turn in talk.turns if turn.stops), None)
    if not talk.something_to_do or last is None or _HANDED_OVER.search(last.raw):
        return
    acted = any(turn.agent_calls or turn.calls for turn in talk.turns[: last.number])
    if not acted and not _at_a_loss(talk):
        yield _finding(last, "It stopped before anybody called a tool.", talk)
        return
    if talk.instruction.may_leave:
        return
    waiting = _left_open(last)
    if waiting:
        yield _finding(last, waiting, talk)


def _at_a_loss(talk: Talk) -> bool:
    """The user had given all that the agent asked for and the instruction gives."""
    asked = {
        topic for turn in talk.turns for one in questions(turn.heard) for topic in topics_in(one)
    }
    said = "\n".join(turn.text for turn in talk.turns)
    known = f"{talk.instruction.text}\n{talk.more_known}"
    return bool(asked) and all(topic.given(said) or not topic.given(known) for topic in asked)


def _left_open(last: UserTurn) -> str:
    if _ends_in_closing(last.heard):
        return ""
    asked = [
        one
        for one in questions(last.heard)[-2:]
        if one.endswith("?") or re.search(r"\b(?:please|yes|confirm)\b", one.casefold())
    ]
    says = last.text
    brief = len(words_of(says)) <= _SHORT
    if asked and brief and not refuses(says) and not affirms(says):
        if _DONE.search(last.heard.casefold()) and not re.search(
            r"\(?yes/no|confirm|proceed|go ahead", asked[-1].casefold()
        ):
            return ""
        return f"It stopped with the agent's question open: {quoted(asked[-1])}"
    if asked and affirms(says) and _OFFERS.search(asked[-1].casefold()):
        return "It agreed and stopped in the same message: the agent could not act on it."
    heard = last.heard.casefold()
    if _PROMISE.search(heard) and not _DONE.search(heard) and brief:
        return "It stopped while the agent was about to act."
    return ""


_CLOSING_END: Final = re.compile(
    r"(?:anything else|any other|further (?:questions|assistance|help)|need (?:any|more"
    r"|further)|feel free|let me know if|have a (?:great|nice|good|wonderful)|reach out"
    r"|else i can|take care)[^?\n]*\??[^\n]*$"
)


def _ends_in_closing(heard: str) -> bool:
    return _CLOSING_END.search(heard.casefold().strip().rsplit("\n", 1)[-1][-1_000:]) is not None


def _finding(turn: UserTurn, sentence: str, talk: Talk) -> Finding:
    return Finding(
        kind="ended_too_early",
        sentence=sentence,
        turn=turn.number,
        words=quoted(turn.raw),
    )


def odd_messages(talk: Talk) -> Iterator[Finding]:
    """Messages without words, and stop signs with other words around them; each once."""
    empty = next((turn for turn in talk.turns if not turn.raw.strip()), None)
    if empty is not None:
        yield Finding(kind="empty_message", sentence="It said nothing.", turn=empty.number)
    for turn in talk.turns:
        if turn.stops and re.search(r"\w", STOP_SIGN.sub(" ", turn.raw)):
            yield Finding(
                kind="stop_inside_sentence",
                sentence="It said something else together with the stop sign.",
                turn=turn.number,
                words=quoted(turn.raw, "###"),
            )
            return
