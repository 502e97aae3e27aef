"""What a user does with tools of its own, in domains where both parties act."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk, UserCall, UserTurn
from greenroom.audit.wording import Heard, sentences, stem, stems, words_of

_CLAIMS: Final = re.compile(
    r"\bi(?:'ve| have)?(?: just| now| already| also| went ahead and| tried and)* "
    r"(rebooted|restarted|toggled|turned (?:on|off|it)|turned|switched|reset|reseated"
    r"|re-seated|reinserted|ran|run|checked|granted|connected|disconnected|paid|enabled"
    r"|disabled|changed|set|opened|dismissed)\b(?P<rest>.*)"
)
_ONE_DEED: Final = (
    "reboot restart",
    "toggle toggl turn switch enabl disabl",
    "reseat re-seat reinsert",
    "run ran",
    "make paid",
    "check open",
    "set chang",
    "grant",
    "connect",
    "disconnect",
    "reset",
    "dismiss dismis",
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
    heard, done = Heard(), list[UserCall]()
    for turn in talk.turns:
        heard.add(turn.heard)
        for call in turn.calls:
            yield from _forbidden(talk, turn, call)
            if call.writes and not _asked_for(call, heard, talk):
                yield Finding(
                    kind="misused_tools",
                    sentence=f"It called {call.name}, which changes something, and nobody had "
                    "asked for it.",
                    turn=turn.number,
                    words=_call(call),
                )
                return
        done += turn.calls
        told = _only_told(talk, turn, done)
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


def _asked_for(call: UserCall, heard: Heard, talk: Talk) -> bool:
    if heard.has(call.name):
        return True
    named = _name_stems(call.name)
    said = heard.stems | {_SAME.get(one, one) for one in heard.stems}
    things = named - _FILLERS
    if things & said or not things:
        return True
    verbs = {_SAME.get(one, one) for one in named}
    return bool(verbs & said - _FILLERS) or bool(things & stems(talk.instruction.text))


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


def _only_told(talk: Talk, turn: UserTurn, done: list[UserCall]) -> str:
    made = {one for call in done for one in _name_stems(call.name)}
    made |= {_SAME.get(one, one) for one in made}
    for sentence in sentences(turn.text.replace("’", "'")):
        for match in _CLAIMS.finditer(sentence.casefold()):
            verb = stem(match[1].split()[0])
            verb = _SAME.get(verb, verb)
            things = stems(match["rest"])
            for name in talk.user_tools:
                parts = _name_stems(name)
                same = {_SAME.get(one, one) for one in parts}
                about = (same | parts) - _FILLERS
                told = verb in same and about & (things | {verb})
                if told and not about & made and not turn.calls:
                    return sentence
    return ""
