"""Words as checks compare them: sentences, stems, and what a reply does with a question."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Final

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"')*]*\s+|\n+|;\s+")
_LONGEST: Final = 1_000
"""Characters of a sentence that are looked at: patterns stay quick on any text."""
_WORD: Final = re.compile(r"[a-z0-9#][a-z0-9_#']*")
_SUFFIXES: Final = (
    "ations", "ation", "ances", "ance", "ments", "ment", "ings", "ing", "ies", "ied", "als", "al",
    "ed", "es", "s", "e",
)  # fmt: skip
_WITHOUT_MEANING: Final = """
a about after again all also am an and any anything are as ask asks asked at back be because been
before being but by can could customer did do does don't doesn't done either ever every for from
get gets getting got had has have having he her here hers him his how i i'd i'll i'm i've if in
instead into is it its it's just know let like make me more most my need needs no nor not now of
off ok on once one only or other our out over own please prefer really right same she should
simply so some something such than that that's the their them then there these they thing things
this those to too up upon us use very want wants was we well were what when where whether which
while who will wish with without would yes you you'd you'll you're your yours agent agents
representative user order orders even another anyone anybody under circumstances matter never
always today still way currently
"""
_STOP_WORDS: Final = frozenset(_WITHOUT_MEANING.split())


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text."""
    parts = (part.strip(" \t*-•")[:_LONGEST] for part in _SENTENCE_END.split(text))
    return [part for part in parts if part]


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word without what inflects it: cancelled, cancelling and cancellation are one.

    >>> {stem(word) for word in ("cancel", "cancelled", "cancellation", "cancelling")}
    {'cancel'}
    """
    if any(letter.isdigit() for letter in word):
        return word.lstrip("#")
    found = word.removesuffix("'s").replace("'", "").replace("nsion", "nd")
    for suffix in _SUFFIXES:
        if found.endswith(suffix) and len(found) - len(suffix) >= 3:
            found = found.removesuffix(suffix)
            break
    return found[:-1] if len(found) > 3 and found[-1] == found[-2] else found


def words_of(text: str) -> list[str]:
    """All words in lower case."""
    return _WORD.findall(text.casefold().replace("’", "'"))


def stems(text: str) -> frozenset[str]:
    """The stems of the words that carry a meaning."""
    return frozenset(stem(word) for word in words_of(text) if word not in _STOP_WORDS)


class Heard:
    """What was said so far, told once for all checks of a sentence."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self.stems: set[str] = set()

    def add(self, text: str) -> None:
        """Somebody said something more."""
        if text:
            self._texts.append(text.casefold())
            self.stems |= stems(text)

    def has(self, words: str) -> bool:
        """Whether the words stand in one of the texts."""
        wanted = words.casefold()
        return any(wanted in text for text in self._texts)


def normalised(message: str) -> str:
    """The words without case, spacing and punctuation; a message without words unchanged."""
    return " ".join(re.findall(r"\w+", message.casefold())) or message.strip()


_ALIKE: Final = 0.85


def similar(one: str, other: str) -> bool:
    """Two messages have almost the same words."""
    first, second = normalised(one).split(), normalised(other).split()
    if first == second:
        return bool(first)
    longer = max(len(first), len(second))
    if not first or not second or abs(len(first) - len(second)) > 0.3 * longer:
        return False
    return sum((Counter(first) & Counter(second)).values()) >= _ALIKE * longer


_YES: Final = re.compile(
    r"^\W*(?:(?:ok|okay|great|perfect|alright|all right|well|oh|ah|hm+|thanks|thank you|fine"
    r"|nice|good|cool|lovely|wonderful|brilliant|awesome|excellent"
    r"|sweet)[,.! ]+(?:then[,.! ]+)?)*"
    r"(?:yes|yeah|yep|yup|sure|absolutely|certainly|definitely|of course|please do|please go ahead|"
    r"please proceed|go ahead|go for it|why not|do (?:it|that|so)|gladly|with pleasure"
    r"|exactly|indeed|deal|you may|you can|count me in|you have my|that's (?:right|correct|it"
    r"|the one)|that is (?:right|correct)|right|let's do|let's go|sounds good|that works"
    r"|works for me|"
    r"that sounds|that would be|that'd be|i accept|i agree|i'll take|i will take|i confirm"
    r"|confirmed?|i'm (?:fine|ok|okay|happy) with|"
    r"that's fine|that is fine|by all means|fine by me|correct|proceed)\b"
)
_NO: Final = re.compile(
    r"^\W*(?:(?:ok|okay|well|oh|sorry|hmm|actually|thanks|thank you)[,.! ]+(?:but )?)*"
    r"(?:no|nope|nah|not really|no thanks|no thank you|absolutely not|definitely not"
    r"|i'd rather not|"
    r"i would rather not|please don't|please do not|don't|do not|i decline|i refuse|i don't want|"
    r"i do not want|i'll pass|i will pass|never mind|not for me|not interested"
    r"|i've changed my mind|no longer|leave it)\b"
)
_LIMITS: Final = re.compile(
    r"\b(?:but|however|except|without|instead|not|no|n't|only if|unless|don't|won't|can't"
    r"|never|rather|before)\b"
)


def affirms(message: str) -> bool:
    """The message begins with a yes."""
    return _YES.search(_plain(message)) is not None


def refuses(message: str) -> bool:
    """The message begins with a no."""
    return _NO.search(_plain(message)) is not None


def limited(message: str) -> bool:
    """Something in the message takes back or narrows what it says."""
    return _LIMITS.search(_plain(message).replace("why not", "")) is not None


def _plain(message: str) -> str:
    return message.casefold().replace("’", "'")


_NOT_KNOWN: Final = re.compile(
    r"\b(?:(?:do|did|does|can|could|would|will|have|is|are|am)(?:n't| not)|cannot|never"
    r"|no longer|not|unable|"
    r"no|without|forgot|forgotten|lost|rather|prefer|unsure|deleted|private|unfortunately"
    r"|skip|whichever|any of|"
    r"look (?:it |that |them )?up|check|find|figure)\b"
)


def cannot_say(message: str) -> bool:
    """The message says that something is not known, not there, or not to be told."""
    return _NOT_KNOWN.search(_plain(message)) is not None


_WITHHOLDS: Final = re.compile(
    r"\b(?:rather not|prefer not|not comfortable|(?:don't|do not|won't|will not|can't|cannot"
    r"|not going to) (?:want to |wish to )?"
    r"(?:say|share|tell|give|reveal|disclose|provide|discuss|mention)|to myself|private"
    r"|personal|confidential|none of your)\b"
)


def withholds(message: str) -> bool:
    """The message says that something is not to be told."""
    return _WITHHOLDS.search(_plain(message)) is not None


_OFFERS_MORE: Final = re.compile(
    r"\b(?:else|further|other|others|more|all|it|help|assist|assistance|everything|anything"
    r"|additional|need|do for|questions)\b"
)
_SAID_IN_CLOSINGS: Final = """
anything something else further more help assist assistance helping question questions wish wishes
request requests matter matters concern concerns issue issues thing mind hand service support day
time moment here happy satisfied free hesitate ask feel additional everything conversation chat
reach contact there afternoon evening
"""
_OF_CLOSINGS: Final = frozenset(map(stem, _SAID_IN_CLOSINGS.split()))


def closes(sentence: str) -> bool:
    """Whether a question only offers more help: it names nothing that help would be for."""
    return _OFFERS_MORE.search(_plain(sentence)) is not None and (
        stems(sentence.replace("'", "")) <= _OF_CLOSINGS
        or _ANYTHING_ELSE.search(_plain(sentence)) is not None
    )


_ANYTHING_ELSE: Final = re.compile(
    r"\b(?:anything|something|what) (?:else|more|further)\b|\bany (?:other|more|further"
    r"|additional)\b"
    r"|\b(?:further|other) (?:questions|requests|concerns|issues|assistance|help)"
    r"|\b(?:help you with|do for you) today"
)


def questions(message: str) -> list[str]:
    """What an agent asks in a message, without asking whether there is anything else."""
    return [
        one
        for one in sentences(message)
        if (one.endswith("?") or _REQUEST.search(_plain(one))) and not closes(one)
    ]


_REQUEST: Final = re.compile(
    r"\b(?:please|kindly)(?: \w+)? (?:provide|confirm|share|tell|give|specify|enter|choose|pick"
    r"|select|let me know|reply|answer|state|clarify|repeat|say|indicate|verify|send|type|write)\b"
    r"|\bi(?:'ll| will|'d| would)? (?:(?:also|just|still|only|first|do) )*need (?:to (?:know"
    r"|have|be sure"
    r"|confirm|verify|ask|hear)|your|the|an?)\b"
    r"|\b(?:could|can|may|would) (?:you|i) (?:please )?"
    r"(?:provide|confirm|share|tell|give|have|get|repeat|specify|let me know)\b"
    r"|^\W*(?:(?:and|so|then|lastly|finally|last thing|one more thing|again)\W+)?"
    r"(?:tell me|let me know (?:if you(?:'d| would)|wh|how|your)|reply|type|specify|choose"
    r"|say yes)\b"
    r"|[,:;] (?:tell me|let me know (?:wh|how|your)|reply|type|say yes|specify|choose)\b"
    r"|\bi (?:must|have to|need to|would like to|'d like to) ask\b|\bmay i ask\b"
    r"|\bsay (?:yes|so) and\b|\bi(?:'m| am) (?:still )?(?:waiting for|missing) your\b"
    r"|\byou (?:haven't|have not|didn't|did not) (?:told me|tell me|say|said|answer(?:ed)?)\b"
    r"|\b(?:can't|cannot|can not) (?:continue|proceed|go on) without\b"
)
