"""Flags for odd behaviour of a simulated user, which can distort an episode."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from greenroom.domains.tasks import RESPOND, STOP

if TYPE_CHECKING:
    from greenroom.domains.environment import Step

ENDED_BEFORE_AGENT_ACTED: Final = "ended_before_agent_acted"
"""It stopped before anybody called a tool."""
REPEATED_ITSELF: Final = "repeated_itself"
"""It said the same thing twice in a row, or three times in all."""
STOP_INSIDE_SENTENCE: Final = "stop_inside_sentence"
"""Its stop message had other text around the stop sign."""
EMPTY_MESSAGE: Final = "empty_message"
"""It said nothing."""

FLAG_WORDS: Final = {
    ENDED_BEFORE_AGENT_ACTED: "stopped before anybody called a tool",
    REPEATED_ITSELF: "said the same thing twice in a row, or three times in all",
    STOP_INSIDE_SENTENCE: "said something else together with the stop sign",
    EMPTY_MESSAGE: "said nothing in one of its messages",
}
"""What each flag says of the simulated user."""

_SAME_THING_TOO_OFTEN: Final = 3
_STOP_SIGN: Final = re.compile(r"###[A-Z-]+###")


Stops = Callable[[str], bool]
"""Whether a message of the user ends the conversation."""


def _says_stop(message: str) -> bool:
    return STOP in message


def conversation_flags(
    opening: str,
    replies: Sequence[str],
    agent_actions_before_each: Sequence[int],
    stops: Stops = _says_stop,
) -> list[str]:
    """The flags of a conversation, in a fixed order, each at most once.

    For each reply, `agent_actions_before_each` says how many tools the agent called before it,
    since the reply before that or since the beginning: both will do.
    """
    if len(replies) != len(agent_actions_before_each):
        raise ValueError("Every reply needs the number of tool calls before it.")
    messages = [opening, *replies]
    flags = {
        ENDED_BEFORE_AGENT_ACTED: _ended_too_early(
            messages, [0, *agent_actions_before_each], stops
        ),
        REPEATED_ITSELF: _repeats(messages),
        STOP_INSIDE_SENTENCE: any(_stops_inside_sentence(message) for message in messages),
        EMPTY_MESSAGE: not all(message.strip() for message in messages),
    }
    return [name for name, raised in flags.items() if raised]


def flags_of_steps(opening: str, steps: Iterable[Step], stops: Stops = _says_stop) -> list[str]:
    """The flags of a played episode."""
    replies: list[str] = []
    calls_before_each: list[int] = []
    calls = 0
    for step in steps:
        if step.invalid is not None:
            continue
        if step.action.name == RESPOND:
            # An agent acts, too, by what it has the user do.
            calls += len(step.user_calls)
            replies.append(step.observation)
            calls_before_each.append(calls)
        else:
            calls += 1
    return conversation_flags(opening, replies, calls_before_each, stops)


def _ended_too_early(
    messages: Sequence[str], calls_before_each: Sequence[int], stops: Stops
) -> bool:
    for message, calls in zip(messages, calls_before_each, strict=True):
        if calls:
            return False
        if stops(message):
            return True
    return False


def _repeats(messages: Sequence[str]) -> bool:
    said = [_normalised(message) for message in messages]
    twice_running = any(one and one == next_one for one, next_one in pairwise(said))
    counts = Counter(words for words in said if words)
    return twice_running or any(count >= _SAME_THING_TOO_OFTEN for count in counts.values())


def _normalised(message: str) -> str:
    """The words without case, spacing and punctuation; a message without words unchanged."""
    return " ".join(re.findall(r"\w+", message.casefold())) or message.strip()


def _stops_inside_sentence(message: str) -> bool:
    sign = _STOP_SIGN.search(message)
    return sign is not None and re.search(r"\w", _STOP_SIGN.sub(" ", message)) is not None
