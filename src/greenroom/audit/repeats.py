"""What a user says again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk, UserTurn
from greenroom.audit.topics import topics_in
from greenroom.audit.wording import affirms, normalised, refuses, similar

_AGAIN: Final = re.compile(
    r"\brepeat\b|\bsay (?:that|it|this) again\b|\bonce more\b|n't (?:quite )?(?:catch|hear"
    r"|understand|get that)\b"
)
_TOO_OFTEN: Final = 3
_ANSWER_WORDS: Final = 6


def repeats(talk: Talk) -> Iterator[Finding]:
    """The same words to something else that the agent said; or three times in all.

    Who is asked the same again says the same again; a short yes or no may answer anything; and
    somebody who is told to insist may insist.
    """
    turns = [turn for turn in talk.turns if turn.text]
    for one, following in pairwise(turns):
        if talk.instruction.insists:
            break
        again = not _is_answer(following) and similar(one.text, following.text)
        asked_again = similar(one.heard, following.heard) or _asked_alike(one, following)
        if again and not asked_again:
            yield _finding(
                following, f"It said almost word for word what it had said in turn {one.number}."
            )
            return
    counts = Counter(normalised(turn.text) for turn in turns if not _is_answer(turn))
    for turn in reversed(turns):
        count = counts[normalised(turn.text)]
        if count >= _TOO_OFTEN and not talk.instruction.insists:
            yield _finding(turn, f"It said the same thing {count} times.")
            return


def _finding(turn: UserTurn, sentence: str) -> Finding:
    return Finding(
        kind="repeated_itself", sentence=sentence, turn=turn.number, words=quoted(turn.text)
    )


def _asked_alike(one: UserTurn, following: UserTurn) -> bool:
    """The agent asked for the same both times, in other words."""
    if _AGAIN.search(following.heard.casefold()):
        return True
    first, second = ({topic.name for topic in topics_in(turn.heard)} for turn in (one, following))
    return bool(first & second)


def _is_answer(turn: UserTurn) -> bool:
    short = len(normalised(turn.text).split()) <= _ANSWER_WORDS
    return short and (affirms(turn.text) or refuses(turn.text) or len(turn.text) < 24)
