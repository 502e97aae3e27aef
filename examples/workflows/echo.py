"""A chat workflow without a model: it repeats what it hears, word by word.

greenroom serve echo.py
greenroom chat echo.py
"""

from __future__ import annotations

from collections.abc import Iterator

from greenroom import chat_workflow
from greenroom.messages import Message


@chat_workflow
def echo(messages: list[Message], greeting: str = "You said") -> Iterator[str]:
    """Repeats what it hears."""
    # Every call brings the whole conversation.
    heard = [message.text for message in messages if message.role == "user"]
    yield f"{greeting}: "
    # Each yielded piece is shown at once; together they are one message.
    for word in heard[-1].split():
        yield f"{word} "
    yield f"({len(heard)})"
