"""What a user accepts, asks for or refuses against its instruction."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.instructions import Rule
from greenroom.audit.talks import Talk, UserTurn
from greenroom.audit.wording import affirms, limited, questions, refuses, sentences, stems, words_of

_REQUESTS: Final = re.compile(
    r"\b(?:i(?:'d| would)? (?:also |really |rather |actually |just )?(?:like|want|love|need"
    r"|accept|agree|'ll take|will take|take)|i'll (?:take|go with|accept)|please|can you"
    r"|could you|go ahead|let's|"
    r"let me|happy to|fine with|sounds good|okay with|ok with|happy with)\b"
)
_REFUSALS: Final = re.compile(
    r"\b(?:(?:do not|don't|won't|will not|wouldn't|can't|cannot) (?:want|accept|agree|need"
    r"|wish|take|care for|like|consent|go for)|not interested|no need|refuse|decline|reject"
    r"|not willing|"
    r"no longer (?:want|need|wish)|no thanks|no thank you|pass on|against|rather not"
    r"|forget about|changed my mind|call off|skip)\b"
)
_NEGATED: Final = re.compile(
    r"\b(?:not|n't|no|never|without|don't|won't|can't|unless|if|rather|instead|refuse|decline"
    r"|avoid|why|whether)\b|n't\b"
)
_NOT: Final = re.compile(r"\b(?:not|n't|no|never|without|don't|won't|can't|unable|instead)\b|n't\b")
_CLAUSE_END: Final = re.compile(
    r"[,;:.?!]|\b(?:and|but|because|since|so|can|could|please|if|until|yet)\b"
)
_CONFIRMS_NOT: Final = re.compile(
    r"\b(?:asks? (?:you )?(?:for|to) confirm|say(?:ing)? yes|not confirm|change your mind)"
)
_SAYS_NO: Final = re.compile(
    r"\b(?:no(?! longer)|not(?! able| only)|never|skip|leave out)\b|(?<!ca)n't\b"
)
_SHORT: Final = 6
_SHARE: Final = 0.75


def against_instruction(talk: Talk) -> Iterator[Finding]:
    """Each rule about what is accepted and refused, and the first message that breaks it."""
    refused = talk.instruction.of("refuse")
    wanted = talk.instruction.of("want")
    for rule in refused:
        if not any(rule.stems <= want.stems for want in wanted):
            yield from _first(
                rule, talk, _accepts, "It agreed to, or asked for, what it was told not to"
            )
    for rule in wanted:
        if not any(_like(rule.stems, one.stems) for one in refused):
            yield from _first(rule, talk, _declines, "It refused what it was told to want")


def _like(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one & other)


def _first(
    rule: Rule, talk: Talk, breaks: Callable[[Rule, UserTurn], str], sentence: str
) -> Iterator[Finding]:
    for turn in talk.turns:
        if _CONFIRMS_NOT.search(talk.instruction.text.casefold()) and refuses(turn.text):
            continue
        words = breaks(rule, turn)
        if words:
            yield Finding(
                kind="against_instruction",
                sentence=f"{sentence}: {rule.about}.",
                turn=turn.number,
                words=quoted(turn.text, words[:40]),
                instruction=quoted(rule.sentence),
            )
            return


def _covers(rule: Rule, text: str) -> bool:
    shared = rule.stems & stems(text)
    # What is to be done counts more than with what.
    if rule.lead not in shared:
        return False
    if any(any(letter.isdigit() for letter in one) and one not in shared for one in rule.stems):
        return False
    return len(shared) >= max(1, _SHARE * len(rule.stems))


def _accepts(rule: Rule, turn: UserTurn) -> str:
    plain = turn.text.casefold().replace("’", "'")
    if affirms(plain) and not limited(plain):
        asked = questions(turn.heard)
        # Of several questions, a yes answers the last one.
        if asked and _asks_about(rule, asked[-1], turn.heard):
            return turn.text
    offered = _is_offered(rule, turn)
    for sentence in sentences(plain):
        asks = any(one.search(sentence) for one in (_REQUESTS, _POLITE)) or affirms(sentence)
        asks = (asks or (offered and _WELCOMES.search(sentence) is not None)) and (
            not sentence.endswith("?") or _POLITE.search(sentence) is not None
        )
        named = _names(rule, sentence) if offered else _covers(rule, sentence)
        if not named:
            continue
        if asks and not _NEGATED.search(sentence) and not _OBJECTS.search(sentence):
            return sentence
        if offered and not sentence.endswith("?") and _agrees(rule, sentence):
            return sentence
    return ""


def _agrees(rule: Rule, sentence: str) -> bool:
    """A clause speaks well of what was offered, or tells the agent to do it."""
    rest = _OBJECTS_NOT.sub("fine with", sentence)
    clauses = [one for one in re.split(r"[,;:]| (?:and|but) ", rest) if one.strip()]
    if _OBJECTS.search(_SEES.sub("", rest)) or _NEGATED.search(rest):
        return False
    return any(
        _names(rule, one)
        and (_WELCOMES.search(one) is not None or _TELLS_TO.search(one) is not None)
        for one in clauses
    )


_OBJECTS_NOT: Final = re.compile(
    r"\b(?:no|not|n't|don't have any|have no|without any?) (?:objections?|problems?|issues?"
    r"|concerns?|reservations?)(?: (?:to|with|about|against))?\b"
    r"|\b(?:don't|do not|wouldn't|won't) mind\b|\bwhy not\b|\bnothing against\b"
)
"""What denies an objection."""
_SEES: Final = re.compile(r"^\W*(?:(?:i|ok|okay|oh|sure)[, ]+)*(?:understand|understood|see)\b")
_TELLS_TO: Final = re.compile(
    r"^\W*(?:(?:please|just|then|so|now|do|go ahead)\W+)*[a-z]+ (?:the|a|an|it|me|that|your)\b"
)


def _asks_about(rule: Rule, question: str, heard: str) -> bool:
    """A question asks for it, or for what the sentence before says: "Is that fine with you?"."""
    said = sentences(heard)
    short = len(question.split()) <= _SHORT + 2
    if short and question in said and _ABOUT_THAT.search(question.casefold()):
        before = said[: said.index(question)][-1:]
        question = " ".join([*before, question])
    return _covers(rule, question) and not _NOT.search(question.casefold())


_ABOUT_THAT: Final = re.compile(r"\b(?:that|this|it|so)\b(?! (?:you|i|we|the)\b)")


def _is_offered(rule: Rule, turn: UserTurn) -> bool:
    """The agent has just proposed what the rule is about."""
    return any(_names(rule, one) for one in sentences(turn.heard))


def _names(rule: Rule, text: str) -> bool:
    """What was just spoken of may be named with fewer words."""
    return _covers(rule, text) or len(rule.stems & stems(text)) >= _SHARE_OF_OFFERED * len(
        rule.stems
    )


_SHARE_OF_OFFERED: Final = 0.6
_OBJECTS: Final = re.compile(
    r"\b(?:too|high|unfair|unhappy|worried|against|why|strange|expensive|but|problem with"
    r"|understand"
    r"|hoped|expected|waive|waived|heard|thought)\b"
)


def _says_no_to(rule: Rule, clause: str) -> bool:
    """No paper invoice; a paper invoice is not needed."""
    found = _SAYS_NO.search(clause)
    if found is None:
        return False
    rest = clause[found.end() :]
    return (
        _covers(rule, rest)
        or _bare(rule, clause[found.start() :])
        or (
            _NOT_NEEDED.search(clause, found.start()) is not None
            and (_covers(rule, clause[: found.start()]) or _bare(rule, clause[: found.start()]))
        )
    )


def _bare(rule: Rule, text: str) -> bool:
    """What was just offered, by its noun alone: the survey, a surcharge."""
    noun = words_of(_ONLY_NOUN.split(rule.about)[0])[-1:]
    article = r"(?:an?|the|any|no|such|that|this)"
    return any(re.match(rf"\W*(?:[\w']+ ){{0,3}}?{article} {one}\b", text) for one in noun)


_ONLY_NOUN: Final = re.compile(r" (?:by|for|of|with|to|in|on|at|from)\b")
_NOT_NEEDED: Final = re.compile(
    r"(?:not|n't) (?:\w+ )?(?:necessary|needed|required|for me|what i want|ok|okay|fine|acceptable"
    r"|possible|an option|alright|welcome)\b"
)
_WELCOMES: Final = re.compile(
    r"\b(?:take|accept|add|include|have|do|ok|okay|fine|works?|great|good|love|like|interested"
    r"|willing|send|set|sign|go|acceptable|sounds|agree|use|transfer|call|share|close|wonderful"
    r"|perfect|problem|idea|happy|choose|prefer|can|will|would|suits?|alright|all right|put|get"
    r"|consider|pay|then|yes|sure|it is|feasible|possible|doable|consent|permission|fine with|live"
    r"|arrange|book|order|start|proceed|welcome|appreciate|useful|helpful|handy|enjoy)\b|'ll\b"
)
_POLITE: Final = re.compile(
    r"\b(?:could|can|would) you\b|\bmay i\b|\b(?:can|could) i (?:have|get|talk|speak)\b"
)


def _declines(rule: Rule, turn: UserTurn) -> str:
    plain = turn.text.casefold().replace("’", "'")
    asked = questions(turn.heard)
    short = refuses(plain) and len(plain.split()) <= _SHORT
    if short and asked and _asks_about(rule, asked[-1], turn.heard):
        return turn.text
    offered = _is_offered(rule, turn)
    for sentence in sentences(plain):
        if offered and not sentence.endswith("?") and _SAYS_NO.search(sentence):
            clauses = re.split(r"[,;:]| and | but ", sentence)
            if any(_says_no_to(rule, one) for one in clauses):
                return sentence
        for found in _REFUSALS.finditer(sentence):
            if _covers(rule, _CLAUSE_END.split(sentence[found.end() :])[0]):
                return sentence
    return ""
