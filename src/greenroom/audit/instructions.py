"""The instruction of a simulated user, as checks read it: its parts, and rules in its sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from greenroom.audit.wording import sentences, stem, stems, words_of

RuleKind = Literal["hold_back", "refuse", "want"]
Condition = Literal["none", "asked"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a sentence of an instruction forbids or wants."""

    kind: RuleKind
    sentence: str
    about: str
    """The words for the thing."""
    stems: frozenset[str]
    condition: Condition = "none"
    """`asked`: it holds until the agent brings it up."""
    before: str = ""
    """The sentence before it, which a word such as "it" stands for."""
    lead: str = ""
    """The first of the stems."""
    trigger: frozenset[str] = frozenset()
    """What the agent has to ask about, where the rule says so."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction with what follows from its text."""

    text: str
    known: str
    """What the user knows, where the instruction says so in a part of its own."""
    unknown: str
    """What the user does not know."""
    rules: tuple[Rule, ...]
    insists: bool
    """The user is told to be persistent."""
    may_leave: bool
    """The user is told of a reason to end the conversation."""

    def of(self, kind: RuleKind) -> list[Rule]:
        """The rules of a kind."""
        return [rule for rule in self.rules if rule.kind == kind]


_HEADING: Final = re.compile(
    r"^[ \t]*(persona|instructions|domain|reason for call|known info|unknown info|"
    r"task instructions)[ \t]*:[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_INSISTS: Final = re.compile(
    r"\b(?:insist|persist|repeat|keep (?:asking|pushing|on|saying)|no for an answer|push back|"
    r"stubborn|be firm|argue|bargain|again and again|more than once)"
)
_MAY_LEAVE: Final = re.compile(
    r"\b(?:end the (?:call|conversation|chat)|hang up|leave (?:the (?:call|chat|conversation)"
    r"|if)|say goodbye|give up"
    r"|call back later|"
    r"stop the conversation)"
)

_TELL: Final = (
    r"(?:mention|reveal|tell|say|disclose|provide|give(?: out| away)?|share|volunteer"
    r"|speak(?! to\b| with\b)(?: of| about)?|"
    r"bring up|talk about|state|admit|hand over|let on|divulge|give up|refer to)"
)
_TELLING: Final = (
    r"(?:mentioning|revealing|telling|saying|disclosing|providing|giving(?: out| away)?|sharing|"
    r"volunteering|speaking(?: of| about)?|bringing up|talking about|divulging|admitting|stating)"
)
_NOT: Final = (
    r"(?:do not|don't|does not|doesn't|must not|mustn't|should not|shouldn't|will not|won't"
    r"|would not|wouldn't|may not|cannot|never|are not to|aren't to)"
)
_HOLD_BACK: Final = re.compile(
    rf"\b(?:{_NOT}|not|under no \w+|in no way|by no means|nobody"
    rf"|no one) (?:[\w']+ ){{0,4}}?{_TELL}\b(?P<about>.*)"
    rf"|\b(?:prefer|rather|choose|want|try|careful|ought|supposed"
    rf"|allowed) not (?:to )?{_TELL}\b(?P<about2>.*)"
    rf"|\b(?:avoid|without|refuse to|decline to|against|hesitate to"
    rf"|refrain from) (?:{_TELLING}|{_TELL})\b(?P<about3>.*)"
    rf"|\bonly (?:ever )?{_TELL}\b(?P<about6>.*)"
    rf"|\b(?:only|if and only) (?:if|when|once|after) [^.]{{1,60}}?(?:,|do you"
    rf"|you) {_TELL}\b(?P<about7>.*)"
    rf"|\bif asked[^.]{{0,30}}?\bonly then,? {_TELL}\b(?P<about8>.*)"
    rf"|\b{_TELL}\b(?P<about9>.*?)\bonly (?:if|when|once|after)\b(?P<rest9>.*)"
    r"|\b(?:hide|conceal|withhold)\b(?P<about10>.*)"
    r"|\b(?:agent|they|anyone|anybody|nobody|no one)(?: \w+)?? (?:must not|mustn't|should not"
    r"|shouldn't"
    r"|may not|must never|should never|must|should|is not to|does not need to) (?:never )?"
    r"(?:learn(?: of| about)?|know(?: of| about)?|find out(?: about)?|hear(?: of| about)?"
    r"|discover|notice)\b(?P<about11>.*)"
    r"|(?:\bnot|n't) want (?:the agent|anyone|anybody|them|others|people) to "
    r"(?:learn(?: of| about)?|know(?: of| about)?|find out(?: about)?|hear(?: of| about)?"
    r"|discover|notice)\b(?P<about12>.*)"
    r"|\bkeep (?:quiet|silent|mum) (?:about|on|of)\b(?P<about13>.*)"
    r"|\bkeeps? (?P<about4>.*?) (?:a secret|secret|private|to yourself|confidential"
    r"|hidden)\b(?P<rest4>.*)"
    r"|\b(?P<about5>[\w' ]+) (?:is|are|stays|stay|remains|remain|must stay"
    r"|has to stay) (?:a )?(?:secret|private|confidential|between)\b(?! person)(?P<rest5>.*)"
)
_REFUSE: Final = re.compile(
    r"\b(?:do not|don't|will not|won't|would not|wouldn't|must not|should not|cannot"
    r"|never) (?:ever )?"
    r"(?:want(?: to)?|accept|agree to|consent to|take|wish(?: to| for)?|like to|settle for"
    r"|request|ask (?:for|to)|let \w+|allow|go for|need|opt for|pay(?: for)?)\b(?P<about>.*)"
    r"|\b(?:refuse|decline|reject|turn down|say no to|oppose)(?: to)?(?: accept)?\b(?P<about2>.*)"
    r"|\bnot (?:willing|interested|prepared|ready|okay|ok|open)(?: to| in"
    r"| with)?(?: accept)?\b(?P<about3>.*)"
    r"|\bunwilling to(?: accept)?\b(?P<about4>.*)"
    r"|\byou (?:will not|won't|will never|would never) (?:ever )?(?P<about10>.*)"
    r"|\bif (?:the agent (?:offers|proposes|suggests)(?: you)?|you(?:'re"
    r"| are) offered) (?P<about7>[^,;]*),?"
    r"(?: \w+){0,3}? (?:turn|refuse|decline|reject|say no|do not|don't|never)\b"
    r"|\bif (?P<about8>[^,;]*?) (?:is|are|gets?) (?:offered|proposed|suggested),?"
    r"(?: \w+){0,3}? (?:turn|refuse|decline|reject|say no|do not|don't|never)\b"
    r"|^(?!you\b)(?P<about9>[\w' -]*?) (?:is|are) (?:not acceptable|unacceptable"
    r"|out of the question|no option|not an option|not okay|not ok|not something you accept)\b"
    r"|\byou (?:want|need|wish for|take) no (?P<about5>.*)"
    r"|\b(?:under no circumstances|at no point|in no case)\b.*?\b(?:want|accept|agree|wish"
    r"|are|be|get|should|must|will|may)(?: to)? (?P<about6>.*)"
)
_WANT: Final = re.compile(
    r"\b(?:you(?:'d| would)? (?:also )?(?:want|like|wish|need|agree|accept|love|hope|ask|plan"
    r"|expect)|you(?:'re| are| would be) (?:also )?(?:ok|okay"
    r"|fine|happy|willing|glad|open|ready|prepared))"
    r"(?: (?:to|with|for))?(?: accept)? (?P<about>.*)"
)
_CONDITIONAL: Final = re.compile(
    r"\b(?:if|unless|only|until|when|once|except|whether|in case|provided|as long as"
    r"|otherwise|before|after|first|while|without|or|instead|even though|than)\b"
)
_UNTIL_ASKED: Final = re.compile(
    r"\b(?:unless|until|only (?:if|when|after|once)|before|if|when) .*\b(?:ask|asks|asked"
    r"|asking|mention|mentions|mentioned|bring|brings|brought|prompt|prompts|prompted|request"
    r"|requests|requested|raise|raises|raised|need|needs|inquires|wants)\b"
    r"|\b(?:proactively|upfront|up front|volunteer|voluntarily|unprompted|unasked|on your own"
    r"|right away|immediately|initially|at first|in your first|at the start"
    r"|of your own accord)\b"
)
_NEVER_IF: Final = re.compile(
    r"\b(?:even if|even when|(?<!only )(?<!only, )(?:if|when) asked(?! for it)(?! to)|even under)\b"
)
_REVEAL_THAT_NOT: Final = re.compile(r"^\W*(?:that )?you (?:do not|don't|cannot|can't|are not)\b")
_TAIL: Final = re.compile(
    r"\b(?:unless|until|if|when|because|since|as|but|even|so|and you|that is|which"
    r"|to the agent|to anyone|"
    r"to anybody|under any|upfront|up front|proactively|right away|at first|on your own"
    r"|with the agent|for any reason|at any|during)\b.*"
    r"|[.,:(!?\[].*"
)
_LEAD_IN: Final = re.compile(
    r"^\W*(?:(?:to (?:the agent|anyone|anybody|them)|anything|a word|details?|information"
    r"|the fact|facts|something) )*(?:about |of |on |that )?"
)
_VAGUE: Final = re.compile(
    r"\b(?:much|too many|more than|anything|everything|any other|any personal"
    r"|things? (?:about|not))\b"
)
_PRONOUN: Final = frozenset(
    map(
        stem,
        [
            "it",
            "this",
            "that",
            "them",
            "these",
            "those",
            "information",
            "detail",
            "details",
            "so",
            "limit",
            "fact",
            "anybody",
            "anyone",
            "anything",
            "something",
            "someone",
            "say",
            "matter",
            "secret",
            "lot",
        ],
    )
)
_TRIGGER: Final = re.compile(
    r"\b(?:asks?|asked|asking|inquires?)(?: you)?(?: (?:for|about|of|whether))?"
    r" (?P<what>[^.,;]*)"
)


@lru_cache(maxsize=4096)
def read_instruction(text: str) -> Instruction:
    """An instruction; the trials of a task share what was read."""
    parts = _parts(text)
    lowered = text.casefold().replace("’", "'")
    return Instruction(
        text=text,
        known=parts.get("known info", ""),
        unknown=parts.get("unknown info", ""),
        rules=tuple(_rules(text)),
        insists=_INSISTS.search(lowered) is not None,
        may_leave=_MAY_LEAVE.search(lowered) is not None,
    )


def with_persona(instruction: str, persona: str | None) -> str:
    """An instruction for somebody who plays so: who is forgetful by persona may say so, too."""
    return f"{instruction}\n\nYou are {persona}." if persona else instruction


def _parts(text: str) -> dict[str, str]:
    found = list(_HEADING.finditer(text))
    ends = [*(one.start() for one in found[1:]), len(text)]
    return {
        one[1].casefold(): text[one.end() : end].strip()
        for one, end in zip(found, ends, strict=False)
    }


def _rules(text: str) -> list[Rule]:
    found: list[Rule] = []
    before = ""
    for sentence in sentences(_HEADING.sub("", text)):
        found += [rule for rule in _rules_of(sentence, before) if rule is not None]
        before = sentence
    return found


def _rules_of(sentence: str, before: str) -> Iterator[Rule | None]:
    lowered = " ".join(sentence.casefold().replace("’", "'").split())
    held, refused = _HOLD_BACK.search(lowered), _REFUSE.search(lowered)
    if held is not None:
        yield _hold_back(sentence, before, lowered, held)
    # Who does not agree to share something holds it back, and refuses to share it.
    if refused is not None and (held is None or _AGREES.search(lowered)):
        yield _plain_rule("refuse", sentence, lowered, refused)
    if held is None and refused is None and (wanted := _WANT.search(lowered)) is not None:
        yield _plain_rule("want", sentence, lowered, wanted)


_AGREES: Final = re.compile(
    r"(?:not|n't|never) (?:ever )?(?:agree|consent) to\b|\b(?:refuse|decline) to\b"
    r"|\bnot (?:willing|prepared|ready|okay|ok|open)\b|\bunwilling to\b"
)


def _hold_back(sentence: str, before: str, lowered: str, match: re.Match[str]) -> Rule | None:
    about = _about(match)
    if _REVEAL_THAT_NOT.search(about):
        return None
    if _only(match) and not _UNTIL_ASKED.search(lowered):
        return None  # "only say that ...": what else is to be said is not known
    until_asked = _only(match) or _UNTIL_ASKED.search(lowered) is not None
    until_asked = until_asked and not _NEVER_IF.search(lowered)
    conditional = re.search(r"\b(?:if|unless|until|when|once|only)\b", lowered) is not None
    if conditional and not until_asked and not _NEVER_IF.search(lowered):
        return None  # a condition that cannot be told from the conversation
    about = _TAIL.sub("", _LEAD_IN.sub("", about)).strip()
    named = stems(about)
    if _VAGUE.search(about):
        return None
    if not named - _PRONOUN:
        # "Do not reveal it": what it is stands before it.
        earlier = sentence[: match.start()] if match.start() > 12 else before
        about, before = earlier.strip(" ,(;:"), before
        named = stems(about)
    if not named:
        return None
    condition: Condition = "asked" if until_asked else "none"
    trigger = _TRIGGER.search(lowered) if until_asked else None
    asked = stems(_TAIL.sub("", trigger["what"])) if trigger else frozenset[str]()
    return Rule("hold_back", sentence, about, named, condition, before, trigger=asked)


def _only(match: re.Match[str]) -> bool:
    """What is held back may be told under a condition: only if, only when."""
    return any(match[f"about{number}"] is not None for number in (6, 7, 8, 9))


_TAKING: Final = re.compile(
    r"^(?:to )?(?:pay(?: for)?|sign up for|take part in|buy|get|have|receive|use|add|be) "
)
_ANY_KIND: Final = frozenset(
    map(stem, ["kind", "sort", "type", "form", "offer", "being", "receive"])
)


def _plain_rule(kind: RuleKind, sentence: str, lowered: str, match: re.Match[str]) -> Rule | None:
    offered = kind == "refuse" and (match["about7"] or match["about8"])
    if not offered and _CONDITIONAL.search(lowered):
        return None
    about = _TAKING.sub("", _TAIL.sub("", _about(match)).strip())
    named = stems(about)
    if not 1 <= len(named) <= 6:
        return None
    named -= _ANY_KIND
    if not named:
        return None
    lead = next(one for one in map(stem, words_of(about)) if one in named)
    return Rule(kind, sentence, about, named, lead=lead)


def _about(match: re.Match[str]) -> str:
    named = {name: text for name, text in match.groupdict().items() if text is not None}
    return next((text for name, text in named.items() if name.startswith("about")), "").strip()
