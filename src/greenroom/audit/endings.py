"""How a user ends a conversation: too early, in a sentence, or without a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import STOP_SIGN, Talk, UserTurn
from greenroom.audit.topics import topics_in
from greenroom.audit.wording import affirms, closes, questions, refuses, sentences, words_of

_PROMISE: Final = re.compile(
    r"\b(?:hold on|hang on|stay with me|stand by|bear with me|(?:one|a|another) (?:moment|minute|second)"
    r"|few (?:moments|minutes|seconds)|just a sec|please (?:wait|hold))\b"
    r"|\b(?:i|we)(?:'ll| will| shall|'m going to| am going to|'re going to| are going to"
    r"|'m about to| am about to)(?: now| just| quickly| gladly)? (?!be (?:here|happy|glad)\b|need\b|let\b|also need\b)[a-z]+"
    r"|\blet me (?!know\b)[a-z]+|\bi(?:'m| am) (?:now |just )?(?!sorry\b|happy\b)[a-z]+ing\b"
)
_TRANSFER: Final = re.compile(
    r"\b(?:transferr?(?:ed|ring)?|human agent|passed you on|hand(?:ed|ing) you over)\b"
)
_OFFERS: Final = re.compile(
    r"\b(?:proceed|confirm|go ahead|yes|(?:shall|should|may|can|could|if) (?:i|we)|(?:like"
    r"|want|need) (?:me|us) to|ready|go-ahead|permission|accept|acceptable|agree|continue|submit"
    r"|finali[sz]e|complete|are you sure|okay with|charge|(?:wish|want|like) to)\b"
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
    heard = last.heard.casefold().replace("’", "'")
    if _ends_in_closing(heard) or _TRANSFER.search(heard):
        return ""
    asked = questions(last.heard)[-2:]
    says = last.text
    brief = len(words_of(says)) <= _SHORT
    if asked and brief and not refuses(says) and not affirms(says):
        if _DONE.search(heard) and not re.search(
            r"\(?yes/no|confirm|proceed|go ahead", asked[-1].casefold()
        ):
            return ""
        return f"It stopped with the agent's question open: {quoted(asked[-1])}"
    if asked and affirms(says) and _OFFERS.search(asked[-1].casefold()):
        return "It agreed and stopped in the same message: the agent could not act on it."
    if _PROMISE.search(heard) and not _DONE.search(heard) and brief:
        return "It stopped while the agent was about to act."
    return ""


_GOODBYE: Final = re.compile(
    r"\b(?:feel free|have an? (?:great|good|nice|lovely|wonderful|pleasant|safe|amazing|excellent)"
    r"|enjoy your|reach out|goodbye|take care(?=\W*$)"
    r"|(?:are|you're) welcome)\b"
)


def _ends_in_closing(heard: str) -> bool:
    """Whether the last that the agent says is an offer of more help, or a goodbye."""
    for sentence in reversed(sentences(heard[-2_000:])[-3:]):
        if closes(sentence) or _GOODBYE.search(sentence):
            return True
        if sentence.endswith("?"):
            return False
    return False


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
