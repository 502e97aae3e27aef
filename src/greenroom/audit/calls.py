"""What a user does with tools of its own, in domains where both parties act."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from greenroom.audit.deeds import READS, Asked, Deed, asked_in, deed_of, said_deed, verbs_in
from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk, UserCall, UserTurn
from greenroom.audit.wording import Heard, sentences, stem, stems, words_of

_PAST: Final = {
    "took": "take", "taken": "take", "put": "put", "ran": "run", "set": "set", "did": "do",
    "done": "do", "made": "make", "paid": "pay", "gave": "give", "sent": "send", "held": "hold",
    "unplugged": "unplug", "reset": "reset", "went": "go", "switched": "switch", "left": "leave",
    "chose": "choose", "cut": "cut", "shut": "shut", "let": "let", "drew": "draw",
    "swept": "sweep", "wound": "wind", "hung": "hang", "rebuilt": "rebuild", "wrote": "write",
}  # fmt: skip
_PASTS: Final = r"[a-z]+ed|" + "|".join(_PAST)
"""Where no "I" stands before it, a verb has to look like one in the past."""
_LEADS: Final = r"(?:(?:ok|okay|alright|all right|sure|yes|yep|great|right|done|so|and|well)\W+)*"
_CLAIMS: Final = re.compile(
    r"\b(?:i|we) did (?:just |indeed )?(?P<base>[a-z]{3,})\b"
    r"|\b(?:i|we)(?:'ve| have|'d)?(?:(?: just| now| also| even| simply| successfully"
    rf"| went ahead and| gone ahead and| tried and))* (?P<verb>[a-z]+)\b"
    rf"|^\W*{_LEADS}(?:just |now |i )?(?P<bare>{_PASTS})\b"
    rf"|\b(?:and|then|,) (?:then |also )?(?P<next>{_PASTS})\b"
)
_STATE: Final = re.compile(
    r"\b(?P<what>it|that|they|[a-z]+(?: [a-z]+){0,2})(?:'s| (?:has|have|is|are|was|were))"
    r"(?: been| now| just| both| all)* (?P<state>[a-z]+)\b"
)
_JUST_DONE: Final = re.compile(
    rf"^\W*{_LEADS}(?:done|all done|(?:that|it)(?:'s| is| has been) (?:all )?(?:done|taken care of)"
    r"|all set|finished|(?:i|we)(?:'ve| have)? (?:just )?(?:did|done) (?:that|it|so|this"
    r"|(?:as|what|everything|all)\b.*|both|exactly\b.*))\b"
)
_EARLIER: Final = re.compile(
    r"\b(?:already|(?<!as )(?<!like )(?<!than )before|earlier|yesterday"
    r"|last (?:night|week|time|month)|this morning|twice|days? ago|hours? ago|previously|always"
    r"|used to|had|if|when i|should i|shall i|said that|told me|once i)\b"
)
_NEGATED: Final = re.compile(r"\b(?:not|never|without|no|cannot|unable|failed)\b|n't\b")
_FORBIDS: Final = re.compile(
    r"\b(?:do not|don't|never|must not|mustn't|should not|shouldn't|may not|cannot|refuse"
    r"|decline|avoid|refrain|forbidden|prohibited|not (?:willing|allowed|permitted|supposed"
    r"|okay|ok|to be)|will not|won't|would not|wouldn't|under no circumstances|no account"
    r"|leave\b.*\balone|against|keep your hands off)\b"
)
_WITH_CONDITION: Final = re.compile(r"\b(?:if|unless|until|before|when|once|make up)\b")
_ANY_DEED: Final = re.compile(
    r"\b(?:touch|tamper|interfere|mess|fiddle|alone|hands off|alter|modify)"
)


def misused_tools(talk: Talk) -> Iterator[Finding]:
    """Changes that nobody asked for, calls that are forbidden, and deeds that are only told."""
    if not talk.user_tools:
        return
    heard, asked, done = Heard(), list[Asked](), list[UserCall]()
    for turn in talk.turns:
        heard.add(turn.heard)
        asked.append(asked_in(turn.heard))
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
        told = _only_told(turn, asked[-1], done)
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


def _asked_for(call: UserCall, heard: Heard, asked: list[Asked], talk: Talk) -> bool:
    deed = deed_of(call.name)
    if heard.has(call.name) or any(one.asks_for(deed) for one in asked):
        return True
    wishes = [
        said_deed(sentence)
        for sentence in sentences(talk.instruction.text)
        if not re.search(
            r"\b(?:if|only|when|asked|can|able|not|never)\b|n't\b", sentence.casefold()
        )
    ]
    return any(deed.things & one.things and deed.verbs & one.verbs for one in wishes)


def _forbidden(talk: Talk, turn: UserTurn, call: UserCall) -> Iterator[Finding]:
    deed = deed_of(call.name)
    for sentence in sentences(talk.instruction.text):
        lowered = sentence.casefold().replace("’", "'")
        if _WITH_CONDITION.search(lowered):
            continue
        exact = call.name.casefold() in lowered and _FORBIDS.search(lowered)
        clauses = re.split(r"[,;:]|\bbut\b", lowered)
        if exact or (call.writes and any(_forbids(deed, clause) for clause in clauses)):
            yield Finding(
                kind="misused_tools",
                sentence=f"It called {call.name}, which its instruction forbids.",
                turn=turn.number,
                words=_call(call),
                instruction=quoted(sentence),
            )
            return


def _forbids(deed: Deed, clause: str) -> bool:
    if not _FORBIDS.search(clause):
        return False
    what = said_deed(clause)
    named = deed.things <= what.things if deed.things else bool(deed.verbs & what.verbs)
    return named and (
        not deed.verbs
        or bool(deed.verbs & what.verbs)
        or (bool(deed.things) and _ANY_DEED.search(clause) is not None)
    )


def _only_told(turn: UserTurn, asked: Asked, done: list[UserCall]) -> str:
    """A deed that the agent has just asked for, and that is told without a call."""
    if any(call.writes for call in turn.calls):
        return ""
    around = stems(turn.heard) | stems(turn.text)
    made = [
        one
        for one in (deed_of(call.name) for call in done)
        if not one.things or one.things & around
    ]
    made_verbs = {verb for one in made for verb in one.verbs}
    made_words = {stem(word) for call in done for word in words_of(call.name.replace("_", " "))}
    for sentence in sentences(turn.text.replace("’", "'")):
        lowered = sentence.casefold()
        if lowered.endswith("?") or _EARLIER.search(lowered):
            continue
        if _JUST_DONE.search(lowered) and asked.verbs - {"check"} - made_verbs:
            return sentence
        for verb in _told_verbs(lowered, asked):
            known = verbs_in([verb])
            if known and known <= asked.verbs - {"check"} and not known & made_verbs:
                return sentence
            if not known and not turn.calls and verb in asked.words - READS - made_words:
                return sentence
    return ""


def _told_verbs(lowered: str, asked: Asked) -> Iterator[str]:
    """The stems of what a sentence tells as done, or as the state that the deed leads to."""
    for match in _CLAIMS.finditer(lowered):
        said = next(one for one in match.groups() if one is not None)
        if not _NEGATED.search(lowered[: match.end()]):
            yield _present(said, asked)
    for match in _STATE.finditer(lowered):
        about = stems(match["what"])
        if _NEGATED.search(match[0]) or (about and not about & asked.around):
            continue
        state = match["state"]
        if state in ("on", "off", "back", "in"):
            yield from asked.verbs & {"set", "put", "replug"}
        else:
            yield stem(_PAST.get(state, state))


def _present(said: str, asked: Asked) -> str:
    """The stem of a verb in the past: bled is bleed, as they differ in vowels alone."""
    if said in _PAST or stem(said) != said:
        return stem(_PAST.get(said, said))
    bare = _VOWELS.sub("", said)
    alike = (
        one
        for one in asked.words
        if one != said and one[0] == said[0] and _VOWELS.sub("", one) == bare
    )
    return next(alike, "") if len(bare) > 1 else ""


_VOWELS: Final = re.compile(r"[aeiou]")
