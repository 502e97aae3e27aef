"""The prompts of simulated users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from greenroom.domains.tasks import STOP

if TYPE_CHECKING:
    from greenroom.models import ChatMessage

AGENT_GREETING: Final = "Hi! How can I help you today?"
"""The first message to a simulated user."""

SILENCE: Final = "(The agent sent an empty message.)"
"""Replaces empty text, because some providers refuse messages without content."""

_PART: Final = f"""\
You are the customer in a chat with a customer service agent. Your brief, further down, says who \
you are and what you came for. The agent has not read it and learns about you only from what \
you write.

How to play your part:
- Send one short message per turn, the way people type in a chat, then wait for the agent.
- Let things come out step by step. Mention what matters at this point and keep the rest for when \
it is asked for or needed.
- You know what the brief says and nothing more. Asked about anything else, say that you do not \
know it or do not have it at hand. Make up no names, numbers, dates or wishes.
- Speak as the person in the brief would. Never quote the brief; put it in your own words.
- Hold on to the brief's preferences, conditions and moods, even if the agent suggests otherwise.
- You are the one who is being helped: do not do the agent's work, and do not step out of your part.
- As long as the agent is waiting for your consent or still has to do something for you, go on.
- When all that you came for is done, or it is certain that it will not be done, write {STOP} and \
not one word besides. This ends the chat.
- Where the brief tells you to behave in another way than these lines do, the brief counts."""

_TWO_PARTS: Final = f"""\
Each of your turns has two parts, labelled like this:
Thought: what the agent's message means for you, what is still open, what to say next
User Response: your message to the agent

The thought is private; the agent gets the response alone. Write {STOP} nowhere but in the \
response, and there only to end the chat."""

_REVIEWER: Final = f"""\
Someone plays a customer who chats with a customer service agent, and has drafted the customer's \
next message. The player works from a brief that the agent cannot see. Judge the draft before it \
is sent.

Reject it if one of these holds:
- It says something that the brief does not support or that contradicts the brief.
- It gives up a wish, or passes over a condition, that the brief holds on to.
- It copies the brief, or pours out much more of it than this point of the chat calls for.
- It sounds like the agent, or speaks about playing a part.
- It ends the chat with {STOP} although something in the brief is neither done nor certain to fail.
- It goes on although everything in the brief is settled; then it should be {STOP} and nothing else.
Otherwise accept it. Matters of taste are no reason to reject.

Answer in two lines:
Reason: one sentence
Verdict: accept or reject"""

REMINDER: Final = "You have not said anything yet. Give your next message to the agent now."


def part(instruction: str) -> str:
    """The system prompt of a model that plays the customer."""
    return f"{_PART}\n\nYour brief:\n{instruction}"


def part_with_thoughts(instruction: str) -> str:
    """The system prompt of a model that thinks before it speaks."""
    return f"{_PART}\n\n{_TWO_PARTS}\n\nYour brief:\n{instruction}"


def review(instruction: str, conversation: Sequence[ChatMessage], draft: str) -> list[ChatMessage]:
    """The request to review a draft; the conversation is from the customer's side."""
    speakers = {"user": "Agent", "assistant": "Customer"}
    chat = "\n".join(
        f"{speakers[message['role']]}: {message['content']}"
        for message in conversation
        if message["role"] in speakers
    )
    question = f"The brief:\n{instruction}\n\nThe chat so far:\n{chat}\n\nThe draft:\n{draft}"
    return [{"role": "system", "content": _REVIEWER}, {"role": "user", "content": question}]


def another_draft(draft: str) -> str:
    """Asks for a draft in place of one that was rejected."""
    return (
        "This draft of your next message does not fit your part. "
        f"Write a different one, and only that.\nThe draft: {draft}"
    )


def reflection(draft: str, objection: str) -> str:
    """Asks for a look back at a rejected draft and for a better one."""
    return (
        "This draft of your next message does not fit your part.\n"
        f"The draft: {draft}\n"
        f"The objection: {objection}\n"
        "Go over it in two parts, labelled like this:\n"
        "Reflection: what was wrong with the draft, and what your brief asks for here\n"
        "User Response: the better message, the only part that the agent gets"
    )


def with_direction(messages: Sequence[ChatMessage], direction: str) -> list[ChatMessage]:
    """The messages, with a direction for the player added to the last one."""
    *before, last = messages
    content = f"{last['content']}\n\n[A direction for you, not from the agent: {direction}]"
    return [*before, {**last, "content": content}]
