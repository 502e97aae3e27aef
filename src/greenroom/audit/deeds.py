"""Deeds: what is done to what, as a request asks for it and as the name of a tool tells it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from greenroom.audit.wording import sentences, stem, stems, words_of

_ALIKE: Final = """
restart reboot power_cycle power-cycle cycle
set toggle turn switch enable disable activ deactiv change update connect disconnect choose
replug reseat re-seat reinsert re-insert replace unplug plug take remove insert pull
run ran start launch perform execute
pay make paid settle
put place bring
check open
grant allow give giv permit
reset restore default factory revert
dismiss close
install upgrade
delete erase wipe clear
press push hold
lock shut
clean wash rinse empty drain
""".strip().splitlines()
_NAMES: Final = {
    name: stem(words.split()[0])
    for words in _ALIKE
    for word in words.split()
    for name in (word, stem(word))
}
"""The name that a deed goes by here, by the stems of the words for it."""
READS: Final = frozenset(
    map(
        stem,
        words_of(
            "check look read tell see show view test say report find confirm verify describe list"
            " ask know explain answer speak talk"
        ),
    )
)
_LOOSE: Final = frozenset({"set"})
"""What is set may be said in any words: only what stands for it must be right."""
_LIGHT: Final = frozenset({"put"})
"""What is put somewhere may be any deed."""
_FILLERS: Final = frozenset(
    map(
        stem,
        words_of("get set make run check toggle status can send go list show device setting mode"),
    )
) | {"toggle"}
_NEGATED: Final = re.compile(
    r"\b(?:not|never|without|no need|wait|hold off|before|nothing)\b|n't\b"
)
_ASKS: Final = re.compile(
    r"\b(?:please|kindly|(?:could|can|would|will|should|must|may|might) you|you (?:can|could"
    r"|should|must|may|might|need|have to|will need|would need)|you'll (?:need|have)|try(?: to)?"
    r"|tried|need you|like you|want you|ask you|go ahead|suggest|recommend|advise|let's"
    r"|how about|what about|mind|make sure|ensure|next|first|step|again|once more)\b"
)
_OWN: Final = re.compile(
    r"^\W*(?:(?:ok|okay|so|now|then|and|well|great|thanks|thank you|alright)\W+)*"
    r"(?:i|i'm|i'll|i'd|i've|we|we're|we'll|we'd|we've|let me|allow me|my|our|here's what i(?:'d)?"
    r"|the plan|shall (?:i|we)|may i|can i|could i|should i|would you like me|do you want me"
    r"|would you mind if i|is it (?:ok|okay|fine|alright) if i)\b"
)
_OWN_INSIDE: Final = re.compile(
    r"\b(?:want me to|like me to|if i|shall i|may i|i(?:'m| am) going to|i(?:'ll| will|'d| would)"
    r"|let me(?! know)|allow me)\b(?!.*\byou to\b)"
)
_FIRST: Final = re.compile(r"^\W*(?:(?:\d+\.|step \d+|now|then|next|first|okay|ok|and|or)\W+)*")
_TELLS: Final = re.compile(
    r"^(?:(?:it|this|that|these|those|there|the|a|an|your|my|its|he|she|they)\b"
    r"|[a-z']+ (?:is|are|was|were|has|have|had|will|would)\b)"
)


@dataclass(frozen=True, slots=True)
class Deed:
    """What is done, and to what: both as stems."""

    verbs: frozenset[str]
    things: frozenset[str]
    refers: bool = False
    """It names what stands elsewhere: it, them, a new one."""


def verbs_in(words: Iterable[str]) -> frozenset[str]:
    """The deeds among stems of words, each by one name."""
    return frozenset(_NAMES[one] for one in words if one in _NAMES)


def deed_of(tool: str) -> Deed:
    """What the name of a tool tells."""
    named = _words(re.sub(r"[_\-.]", " ", tool))
    return Deed(verbs_in(named), frozenset(named - _FILLERS - set(_NAMES)))


def said_deed(text: str) -> Deed:
    """What a clause speaks of."""
    verbs = verbs_in(_words(text))
    if _OFF_AND_ON.search(text):
        verbs |= {"restart"}
    things = stems(text) - _FILLERS - READS - set(_NAMES)
    return Deed(verbs, things, _REFERS.search(text) is not None)


_REFERS: Final = re.compile(r"\b(?:it|them|that|this|one|ones|those|these|so)\b")
_OFF_AND_ON: Final = re.compile(r"\boff\b.{1,20}\bon\b")


def _words(text: str) -> set[str]:
    return {stem(word) for word in words_of(text) if word not in ("setting", "settings")}


@dataclass(frozen=True, slots=True)
class Asked:
    """What an agent's message asks the user to do."""

    clauses: tuple[Deed, ...] = ()
    words: frozenset[str] = frozenset()
    """The stems of the clauses that ask."""
    around: frozenset[str] = frozenset()
    """Everything that the message speaks of, which "it" may stand for."""

    @property
    def verbs(self) -> frozenset[str]:
        """All deeds that it asks for."""
        return frozenset(verb for clause in self.clauses for verb in clause.verbs)

    def asks_for(self, deed: Deed) -> bool:
        """Whether the deed is among what is asked for.

        Where a request has no deed that is known by name, the thing alone tells.
        """
        verbs = deed.verbs - _LOOSE
        of_all = self.verbs
        if not deed.things:
            return not deed.verbs or bool(deed.verbs & self.verbs)
        for clause in self.clauses:
            about = deed.things & (clause.things | (self.around if clause.refers else set()))
            if about and (not verbs or clause.verbs <= _LIGHT or verbs & of_all):
                return True
            if deed.verbs & clause.verbs and (not clause.things or deed.things & self.around):
                return True
        return False


def asked_in(heard: str) -> Asked:
    """What the agent asks the user to do: not what it asks about, does itself, or warns of."""
    clauses = list(_requests(heard.replace("’", "'")))
    return Asked(
        tuple(map(said_deed, clauses)),
        frozenset(stem(word) for clause in clauses for word in words_of(clause)),
        stems(heard),
    )


def _requests(heard: str) -> Iterator[str]:
    for sentence in sentences(heard):
        lowered, own, asks = sentence.casefold(), False, False
        for clause in re.split(r"[,;:]|\bthen\b|\band (?=i\b|i'|please|you\b)", lowered):
            words = _words(clause)
            requested = _ASKS.search(clause) is not None
            own = _OWN.search(clause) is not None or (own and not requested)
            own = own or _OWN_INSIDE.search(clause) is not None
            if own and re.search(r"\byou (?:to|can|could|should)\b|suggest|recommend", clause):
                own = False
            asks = asks or requested
            told = _TELLS.search(_FIRST.sub("", clause)) is not None and not requested
            if own or told or _NEGATED.search(clause) or not words:
                continue
            if lowered.endswith("?") and not asks:
                continue
            if words & READS and not verbs_in(words) - {"check"}:
                continue
            yield clause
