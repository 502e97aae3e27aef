"""Two workflows without a model, to try the playground with: a chat and a completion.

greenroom playground library_desk.py
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Literal, TypedDict

from pydantic import BaseModel, Field

from greenroom import chat_workflow, workflow
from greenroom.messages import Message


class Book(TypedDict):
    """What the catalogue knows of a book."""

    shelf: str
    copies: int
    due: str | None


SHELF: dict[str, Book] = {
    "Middlemarch": {"shelf": "E4", "copies": 2, "due": None},
    "Solaris": {"shelf": "L1", "copies": 0, "due": "Friday"},
    "The Waves": {"shelf": "W7", "copies": 1, "due": None},
}


class Manner(BaseModel):
    """How the desk speaks."""

    tone: Literal["warm", "brief"] = "warm"
    seconds_per_word: float = Field(0.01, ge=0, le=1, description="The pause after each word.")


@chat_workflow(parameters=Manner)
async def library_desk(
    messages: list[Message], parameters: Manner, reader: str = "reader"
) -> AsyncIterator[str | dict[str, Any]]:
    """Answers questions about three books, looks them up on the shelf and holds them."""
    heard = messages[-1].text
    title = next((one for one in SHELF if one.lower() in heard.lower()), None)
    if title is None:
        known = ", ".join(SHELF)
        answer = f"I can look up **{known}**. Which one would you like, {reader}?"
    else:
        call = {"id": f"look-{len(messages)}", "name": "find_book", "input": {"title": title}}
        yield {"type": "tool_call", **call}
        found = SHELF[title]
        yield {"type": "tool_result", "id": call["id"], "output": found}
        if found["copies"]:
            answer = f"*{title}* stands on shelf {found['shelf']}; {found['copies']} to borrow."
        else:
            answer = f"*{title}* is lent out until {found['due']}. Shall I hold it for you?"
    if parameters.tone == "warm":
        answer += " Happy to help with anything else."
    for word in answer.split(" "):
        yield f"{word} "
        await asyncio.sleep(parameters.seconds_per_word)


@workflow
def shelf_mark(title: str, capital: bool = True) -> dict[str, Any]:
    """Gives the shelf mark of a book: a completion, one set of inputs at a time."""
    found = SHELF.get(title)
    mark = found["shelf"] if found else "not here"
    return {"title": title, "mark": mark if capital else mark.lower(), "known": found is not None}
