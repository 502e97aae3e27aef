"""What a user does with tools of its own, in domains where both parties act."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk, UserCall, UserTurn
from greenroom.audit.wording import Heard, sentences, stem, stems, words_of

_PAST: Final = {
    "took": "take", "taken": "take", "put": "put", "ran": "run", "set": "set", "did": "do",
    "done": "do", "made": "make", "paid": "pay", "gave": "give", "sent": "send", "held": "hold",
    "unplugged": "unplug", "reset": "reset", "went": "go", "switched": "switch", "left": "leave",
    "chose": "choose", "forgot": "forget", "found": "find", "cut": "cut", "shut": "shut",
}  # fmt: skip
_CLAIMS: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have|'d| had)?(?:(?: just| now| also| even| simply| did| went ahead and| tried and))* "
    r"(?P<verb>[a-z]+ed|" + "|".join(_PAST) + r")\b(?P<rest>.*)"
)
_ASKED_DEED: Final = re.compile(
    r"\b(?:please|kindly|now|could you|can you|would you|try(?: to)?|need you to|like you to"
    r"|want you to|ask you to|go ahead and|then|and|first|next|to)\b"
)
_IMPERATIVE: Final = re.compile(
    r"^\W*(?:(?:\d+\.|step \d+|now|then|next|first|okay|ok|and)\W+)*(?P<verb>[a-z]+)\b"
)
_STATE: Final = re.compile(
    r"\b(?:it|that|they|[a-z]+(?: [a-z]+){0,2}) (?:has|have|is|are|'s)(?: been| now| just)* "
    r"(?P<verb>[a-z]+ed|reset|set|on|off|back)\b"
)
_JUST_DONE: Final = re.compile(
    r"^\W*(?:(?:ok|okay|alright|all right|sure|yes|great)\W+)*(?:done|all done)\b"
)
_EARLIER: Final = re.compile(
    r"\b(?:already|before|earlier|yesterday|last (?:night|week|time|month)|this morning|twice|days? ago"
    r"|hours? ago|previously|always|used to|had|if|when i)\b"
)
_READS: Final = frozenset(
    map(
        stem,
        "check look read tell see show view test say report find confirm verify describe list ask".split(),
    )
)
_NEGATED: Final = re.compile(r"\b(?:not|never|without|no need|wait|hold off|before)\b|n't\b")
_ONE_DEED: Final = (
    "reboot restart power_cycle",
    "toggle toggl turn switch enabl disabl activ deactiv put",
    "reseat re-seat reinsert replug replac unplug take remov insert",
    "run ran",
    "make paid pay",
    "check open",
    "set chang updat",
    "grant allow giv",
    "connect",
    "disconnect",
    "reset restor",
    "dismiss dismis",
    "instal",
)
_SAME: Final = {word: deed.split()[0] for deed in _ONE_DEED for word in deed.split()}
"""The stems of words for one deed, by the name that it goes by here."""
_FILLER_WORDS: Final = (
    "get set make run check toggle status can send go list show device setting mode"
)
_FILLERS: Final = frozenset({"toggle", *map(stem, words_of(_FILLER_WORDS))})


def misused_tools(talk: Talk) -> Iterator[Finding]:
    """Changes that nobody asked for, calls that are forbidden, and deeds that are only told."""
    if not talk.user_tools:
        return
    heard, asked, done = Heard(), set[str](), list[UserCall]()
    for turn in talk.turns:
        heard.add(turn.heard)
        asked |= _deeds_in(turn.heard)
        for call in turn.calls:
            yield from _forbidden(talk, turn, call)
            if call.writes and not _asked_for(call, heard, asked, talk):
                yield Finding(
                    kind="misused_tools",
                    sentence=f"It called {call.name}, which changes something, and nobody had "
                    "asked for it.",
                    turn=turn.number,
                    words=_call(call),
                )
                return
        done += turn.calls
        told = _only_told(turn, done)
        if told:
            yield Finding(
                kind="misused_tools",
                sentence="It told what it did, and had made no such call.",
                turn=turn.number,
                words=quoted(told),
            )
            return


def _call(call: UserCall) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in call.kwargs.items())
    return quoted(f"{call.name}({given})")


def _name_stems(name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words_of(name.replace("_", " ").replace("-", " ")))


def _with_synonyms(words: Iterable[str]) -> set[str]:
    found = set(words)
    return found | {_SAME[one] for one in found if one in _SAME}


def _deeds_in(heard: str) -> set[str]:
    """The words of what the agent asks the user to do: not what it asks about, or warns of."""
    found = set[str]()
    for sentence in sentences(heard.replace("’", "'")):
        lowered = sentence.casefold()
        for clause in re.split(r"[,;:]|\bthen\b", lowered):
            words = {stem(word) for word in words_of(clause)}
            if _NEGATED.search(clause) or not (words - _FILLERS):
                continue
            first = _IMPERATIVE.search(clause)
            requests = _ASKED_DEED.search(clause) or (first and not lowered.endswith("?"))
            only_reads = words & _READS and not words & set(_SAME) - {"check"}
            if requests and not only_reads:
                found |= _with_synonyms(words)
    return found


def _asked_for(call: UserCall, heard: Heard, asked: set[str], talk: Talk) -> bool:
    if heard.has(call.name):
        return True
    named = _name_stems(call.name)
    things = named - _FILLERS - set(_SAME)
    verbs = _with_synonyms(named) & set(_SAME.values())
    if not things:
        return not verbs or bool(verbs & asked)
    if things & asked:
        return True
    own = {
        one
        for sentence in sentences(talk.instruction.text)
        if not re.search(
            r"\b(?:if|only|when|asked|can|able|not|never)\b|n't\b", sentence.casefold()
        )
        for one in _with_synonyms(stem(word) for word in words_of(sentence))
    }
    return bool(things & own and verbs & own)


def _forbidden(talk: Talk, turn: UserTurn, call: UserCall) -> Iterator[Finding]:
    named = _name_stems(call.name)
    named |= {_SAME.get(one, one) for one in named}
    for sentence in sentences(talk.instruction.text):
        lowered = sentence.casefold().replace("’", "'")
        match = re.search(
            r"\b(?:do not|don't|never|must not|should not|refuse to|not willing to|will not"
            r"|won't|under no circumstances)\b(?P<what>.*)",
            lowered,
        )
        if match is None or re.search(
            r"\b(?:if|unless|until|before|when|make up|want to)\b", lowered
        ):
            continue
        what = stems(match["what"])
        what |= {_SAME.get(one, one) for one in what}
        things = named - _FILLERS
        exact = call.name.casefold() in lowered
        if exact or (things and things <= what and (len(what & named) >= 2 or len(named) <= 2)):
            yield Finding(
                kind="misused_tools",
                sentence=f"It called {call.name}, which its instruction forbids.",
                turn=turn.number,
                words=_call(call),
                instruction=quoted(sentence),
            )
            return


def _only_told(turn: UserTurn, done: list[UserCall]) -> str:
    """A deed that the agent has just asked for, and that is told without a call."""
    if turn.calls:
        return ""
    asked = _deeds_in(turn.heard)
    made = _with_synonyms(one for call in done for one in _name_stems(call.name))
    for sentence in sentences(turn.text.replace("’", "'")):
        lowered = sentence.casefold()
        if lowered.endswith("?") or _EARLIER.search(lowered):
            continue
        if _JUST_DONE.search(lowered) and _deed_verbs(asked) - made:
            return sentence
        for deed in _told_deeds(lowered):
            if deed & asked - _READS and not deed & made:
                return sentence
    return ""


def _deed_verbs(asked: set[str]) -> set[str]:
    return (asked & set(_SAME.values())) - _READS - {"check"}


def _told_deeds(lowered: str) -> Iterator[set[str]]:
    for match in _CLAIMS.finditer(lowered):
        verb = stem(_PAST.get(match["verb"], match["verb"]))
        if verb not in _READS:
            yield _with_synonyms({verb})
    for match in _STATE.finditer(lowered):
        if not _NEGATED.search(match[0]):
            words = {stem(word) for word in words_of(match[0])}
            yield _with_synonyms(words & set(_SAME)) or (words - _FILLERS)
