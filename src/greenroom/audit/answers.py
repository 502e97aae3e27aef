"""Questions that a user never answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk, UserTurn
from greenroom.audit.topics import topics_in
from greenroom.audit.wording import affirms, cannot_say, questions, refuses, similar, stems

_ALIKE: Final = 0.6
_ASKING: Final = re.compile(r"\b(?:which|what|when|where|who|why|how)\b")
_HOW_MANY: Final = re.compile(r"\bhow (?:many|much|old|long|often)\b|\bnumber of\b")
_COUNT: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|several|few|couple|some)\b"
)
_ENGAGES: Final = re.compile(
    r"\?|\b(?:i'll|i will|let me|(?:i'd|i would) (?:like|rather|prefer)|i want|i need|instead"
    r"|just|confirm\w*|proceed|"
    r"go (?:ahead|with|for)|cancel|return|exchange|use|transfer|human|representative|manager"
    r"|supervisor|ok|okay|understood|"
    r"yes|no|not|don't|can't|sure|fine|either|whatever|the (?:first|second|third|last)"
    r"|both of|option|correct|right|what if)\b"
)


def never_answered(talk: Talk) -> Iterator[Finding]:
    """What the agent asked for in two messages that follow each other, and got neither time.

    Whoever says that they do not know, asks back or asks for something else has answered.
    """
    held = {
        topic.name for rule in talk.instruction.of("hold_back") for topic in topics_in(rule.about)
    }
    for one, following in zip(talk.turns[1:], talk.turns[2:], strict=False):
        asked = "" if one.calls or following.calls else _asked_again(one, following, held)
        if asked:
            yield Finding(
                kind="never_answered",
                sentence=f"It was asked twice and did not answer: {asked}",
                turn=following.number,
                words=quoted(following.text),
            )
            return


def _asked_again(one: UserTurn, following: UserTurn, held: set[str]) -> str:
    if following.stops or _evades_not(one) or _evades_not(following):
        return ""
    first, second = questions(one.heard), questions(following.heard)
    for question in second:
        if any(_same_question(earlier, question, held) for earlier in first):
            return quoted(question)
    return ""


def _evades_not(turn: UserTurn) -> bool:
    """The message deals with what the agent said, in one way or another."""
    text = turn.text.casefold().replace("’", "'")
    if not text or affirms(text) or refuses(text) or cannot_say(text) or _ENGAGES.search(text):
        return True
    topics = topics_in("\n".join(questions(turn.heard)))
    if any(topic.given(turn.text) for topic in topics):
        return True
    asked = "\n".join(questions(turn.heard))
    if stems(text) & stems(asked) or (_HOW_MANY.search(asked.casefold()) and _COUNT.search(text)):
        return True
    shared = stems(text) & stems(turn.heard)
    return len(text.split()) <= 3 or len(shared) >= max(2, len(stems(text)) // 2)


def _same_question(one: str, other: str, held: set[str]) -> bool:
    named = [{topic.name for topic in topics_in(text)} for text in (one, other)]
    if named[0] & named[1]:
        return not named[0] & named[1] & held
    if similar(one, other):
        return True
    left, right = stems(one), stems(other)
    shared = left & right
    words = {match[0] for match in _ASKING.finditer(one.casefold())}
    if words & set(_ASKING.findall(other.casefold())) and shared and shared in (left, right):
        return True
    return len(shared) >= 2 and len(shared) >= _ALIKE * min(len(left), len(right))
