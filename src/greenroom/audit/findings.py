"""What an audit says of a simulated user: findings, their kinds and their words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from greenroom.store.record import Record

FindingKind = Literal[
    "invented_fact",
    "gave_away",
    "contradicted_itself",
    "denied_fact",
    "ended_too_early",
    "against_instruction",
    "spoke_as_agent",
    "repeated_itself",
    "never_answered",
    "misused_tools",
    "empty_message",
    "stop_inside_sentence",
    "blamed_by_judge",
]


@dataclass(frozen=True, slots=True)
class KindInfo:
    """What a kind of finding is called, and whether it can be why an episode failed."""

    label: str
    meaning: str
    is_fault: bool = True
    """False: it is odd, and nothing follows from it."""


KINDS: Final[dict[FindingKind, KindInfo]] = {
    "invented_fact": KindInfo(
        "Invented a fact",
        "said a name, an id, a number, a date or an address that nobody had given them",
    ),
    "gave_away": KindInfo("Gave something away", "said what the instruction holds back"),
    "contradicted_itself": KindInfo(
        "Contradicted itself", "said something that does not go with what it said before"
    ),
    "denied_fact": KindInfo(
        "Denied a fact", "said that it does not have what its instruction gives"
    ),
    "ended_too_early": KindInfo(
        "Ended too early", "stopped before the agent could act, or with its question open"
    ),
    "against_instruction": KindInfo(
        "Accepted or refused wrongly", "agreed to, asked for or refused what it was told not to"
    ),
    "spoke_as_agent": KindInfo("Spoke as the agent", "said what only the agent says"),
    "repeated_itself": KindInfo(
        "Repeated itself", "said the same thing again to something else, or three times in all"
    ),
    "never_answered": KindInfo(
        "Never answered", "was asked the same twice, and did not answer either time"
    ),
    "misused_tools": KindInfo(
        "Misused its tools", "called a tool unasked or against its instruction, or made a result up"
    ),
    "empty_message": KindInfo("Said nothing", "sent a message without words"),
    "stop_inside_sentence": KindInfo(
        "Stopped in a sentence", "said something together with the stop sign", is_fault=False
    ),
    "blamed_by_judge": KindInfo(
        "Blamed by a judge", "is why the episode failed, as a model judged", is_fault=False
    ),
}
"""All kinds, in the order in which they are shown."""


class Finding(Record):
    """One thing that a simulated user did wrong, with its evidence."""

    kind: FindingKind
    sentence: str
    """What is wrong, in a sentence."""
    turn: int
    """The turn that the user's message begins, from 1; 0 for the conversation as a whole."""
    words: str = ""
    """What the user said, or the call that they made."""
    instruction: str = ""
    """What the instruction says of it; empty where it says nothing."""
    source: Literal["check", "judge"] = "check"
    """Who found it."""

    @property
    def is_fault(self) -> bool:
        """Whether it can be why an episode failed."""
        return KINDS[self.kind].is_fault


LONGEST_QUOTE: Final = 240


def quoted(text: str, around: str = "") -> str:
    """A message as evidence, in one line: the part around some words, if it is long."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_QUOTE:
        return line
    place = max(0, line.casefold().find(around.casefold()))
    start = max(0, min(place - LONGEST_QUOTE // 3, len(line) - LONGEST_QUOTE))
    end = start + LONGEST_QUOTE
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
