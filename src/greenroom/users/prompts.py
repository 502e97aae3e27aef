"""The prompts of simulated users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from greenroom.domains.tasks import STOP
from greenroom.util.json_values import as_dict, as_list

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

_ACTS: Final = """\
You can act, too: your tools are things that you do yourself, such as pressing a button or looking \
at a screen. The agent cannot do them for you and does not see what comes of them.
- In each turn either call a tool or write a message, never both.
- Do one thing at a time, and look at its result before you go on.
- Act when the agent asks you to, or when you have to look something up to answer. Try nothing \
else on your own.
- What you say about the state of things comes from a result or from your brief. If you have not \
looked, look first or say that you do not know."""

PERSONAS: Final[Mapping[str, str]] = {
    "plain": "",
    "terse": """\
- You write as little as you can: a few words, no greeting, no thanks, no full sentences where a \
word will do. You answer what was asked and add nothing.""",
    "chatty": """\
- You love to talk. You wander off into small remarks about your day, the weather or how you feel \
about all this, and your wish comes somewhere in between. The remarks hold no facts that could \
matter to the agent.""",
    "impatient": """\
- You are in a hurry and let it show. You complain when something takes long or is asked twice, \
and press for the result. You stay within the brief, and still answer what you are asked.""",
    "forgetful": """\
- You are absent-minded. The first time that the agent asks for a detail such as a number or a \
date, you say that you have to look, and give it when you are asked again. You may bring up a part \
of your wish late, but before the chat ends.""",
    "non-native": """\
- The language of this chat is not your own. You use short and simple sentences with small \
mistakes of grammar and word order, and ask what an unusual word means. Names, numbers and dates \
you write as the brief has them.""",
}
"""Ways to behave, by name: lines that are added to the rules of a user's part."""

_OTHER_ENDS: Final[Mapping[str, str]] = {
    "###TRANSFER###": "When the agent has made clear that it hands you over to somebody else",
    "###OUT-OF-SCOPE###": "When the brief does not tell you enough to go on with the chat",
}
"""When to use the stop words of tau2-bench besides the usual one."""

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


def part(
    instruction: str,
    *,
    acts: bool = False,
    stop_words: Sequence[str] = (STOP,),
    thoughts: bool = False,
    persona: str | None = None,
) -> str:
    """The system prompt of a model that plays the customer.

    The customer may have tools, other words to end the chat with, thoughts before each message, and
    a way to behave.
    """
    ends = [
        f"- {_OTHER_ENDS[word]}, write {word} and not one word besides. This ends the chat as well."
        for word in stop_words
        if word in _OTHER_ENDS
    ]
    manner = PERSONAS[persona] if persona else ""
    rules = "\n".join([_PART, *ends, *([manner] if manner else [])])
    parts = [rules, *([_ACTS] if acts else []), *([_TWO_PARTS] if thoughts else [])]
    return "\n\n".join([*parts, f"Your brief:\n{instruction}"])


def review(instruction: str, conversation: Sequence[ChatMessage], draft: str) -> list[ChatMessage]:
    """The request to review a draft; the conversation is from the customer's side."""
    chat = "\n".join(line for message in conversation for line in _told(message))
    question = f"The brief:\n{instruction}\n\nThe chat so far:\n{chat}\n\nThe draft:\n{draft}"
    return [{"role": "system", "content": _REVIEWER}, {"role": "user", "content": question}]


def _told(message: ChatMessage) -> list[str]:
    """The lines of a message in a chat as the reviewer reads it."""
    speakers = {"user": "Agent", "assistant": "Customer", "tool": "What came of it"}
    speaker, content = speakers.get(message["role"]), message.get("content")
    lines = [f"{speaker}: {content}"] if speaker and content else []
    calls = [as_dict(as_dict(call).get("function")) for call in as_list(message.get("tool_calls"))]
    return [*lines, *(f"Customer does: {call['name']} {call['arguments']}" for call in calls)]


def another_draft(draft: str, objection: str = "") -> str:
    """Asks for a draft in place of one that was rejected."""
    why = f"\nThe objection: {objection}" if objection else ""
    return (
        "This draft of your next message does not fit your part. "
        f"Write a different one, and only that.\nThe draft: {draft}{why}"
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
    words = f"[A direction for you, not from the agent: {direction}]"
    if last["role"] != "user":  # the result of a call
        return [*messages, {"role": "user", "content": words}]
    return [*before, {**last, "content": f"{last['content']}\n\n{words}"}]
