"""Drafts of a simulated user, looked at by the checks of the user audit before they are sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from greenroom.audit import (
    KINDS,
    Finding,
    FindingKind,
    Talk,
    UserCall,
    UserTurn,
    findings_of,
    read_instruction,
)
from greenroom.messages import text_of
from greenroom.options import Settings

if TYPE_CHECKING:
    from greenroom.models import ChatMessage


class DraftSettings(Settings):
    """Settings of users whose drafts are reviewed."""

    checks: bool = Field(
        True,
        description="Drafts go through the checks of the user audit before they are reviewed; "
        "those that fail are written anew.",
    )

    @model_serializer(mode="wrap")
    def _always_told(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Results depend on it: a run tells it also where it is the default.
        return {**dump(self), "checks": self.checks}


def faults_of_draft(
    instruction: str, conversation: Iterable[ChatMessage], draft: str
) -> list[Finding]:
    """What the checks find in a draft of the user's next message.

    The conversation is from the user's side. What agents do in silence cannot be seen there: they
    count as having acted, and facts are known from what they said.
    """
    turns = tuple(_turns([*conversation, {"role": "assistant", "content": draft}]))
    talk = Talk(read_instruction(instruction), turns)
    return [one for one in findings_of(talk) if one.turn == len(turns) and one.is_fault]


def _turns(conversation: Iterable[ChatMessage]) -> Iterator[UserTurn]:
    number, heard, calls = 0, list[str](), list[UserCall]()
    for message in conversation:
        role, text = message["role"], text_of(message.get("content"))
        if role == "user":
            heard.append(text)
        elif role == "tool":
            calls.append(UserCall(str(message.get("name", "")), {}, text))
        elif role == "assistant" and not message.get("tool_calls"):
            number += 1
            yield UserTurn(number, text, "\n".join(heard), calls=tuple(calls), agent_calls=1)
            heard, calls = [], []


class DraftTally:
    """How many drafts of an episode were checked, and what came of those with faults."""

    def __init__(self) -> None:
        self._checked = 0
        self._anew, self._sent = Counter[FindingKind](), Counter[FindingKind]()

    def check(self) -> None:
        """A draft was checked."""
        self._checked += 1

    def write_anew(self, faults: Sequence[Finding]) -> None:
        """A draft with faults was written anew; it counts once, for the first of them."""
        self._anew[faults[0].kind] += 1

    def send(self, faults: Sequence[Finding]) -> None:
        """A draft with faults was sent as it is."""
        self._sent[faults[0].kind] += 1

    def counts(self) -> dict[str, dict[str, float | None]]:
        """All that was counted, by what it is of."""
        found: dict[str, dict[str, float | None]] = {
            "drafts": {"checked": self._checked} if self._checked else {},
            "drafts written anew": _by_kind(self._anew),
            "messages sent with a fault": _by_kind(self._sent),
        }
        return {title: counts for title, counts in found.items() if counts}


def _by_kind(counter: Mapping[FindingKind, int]) -> dict[str, float | None]:
    return {kind: counter[kind] for kind in KINDS if kind in counter}
