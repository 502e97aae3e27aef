"""Turns as messages, and messages as turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from greenroom.errors import InputError
from greenroom.messages import is_message
from greenroom.store.thread_records import Message, TurnContent, TurnRecord, new_id
from greenroom.workflows.calls import called_tools

_ANSWERS = ("assistant", "tool", "function")


def messages_so_far(turns: Iterable[TurnRecord]) -> list[Message]:
    """What was said and answered in turns, as a workflow takes it.

    The text of a turn that broke was never an answer, so it is left out.
    """
    messages: list[Message] = []
    for turn in turns:
        messages += turn.content.said
        if turn.status in ("done", "stopped"):
            messages += turn.content.replies
    return messages


def turns_of(messages: Sequence[Message], thread_id: str) -> list[TurnRecord]:
    """Messages as turns: each begins with what a person says, and an answer ends it.

    A last turn without an answer is a draft.
    """
    check_messages(messages)
    turns: list[TurnRecord] = []
    content: TurnContent | None = None
    by_user: set[str] = set()
    for message in messages:
        is_answer = message.get("role") in _ANSWERS
        if message.get("role") == "user":
            by_user |= {str(call.get("id")) for call in called_tools(message)}
        elif str(message.get("tool_call_id")) in by_user:
            is_answer = False  # what a tool of the user answered belongs to what the user says
        if content is None or (content.replies and not is_answer):
            content = TurnContent()
            turns.append(TurnRecord(thread_id=thread_id, status="done", content=content))
        (content.replies if is_answer else content.said).append(message)
    if content is not None and not content.replies:
        turns[-1].status = "draft"
    return turns


def check_messages(messages: Sequence[Message]) -> None:
    """Raise an InputError for what has not the shape of messages."""
    for number, message in enumerate(messages, 1):
        if not is_message(message):
            raise InputError(
                f"Message {number} is no message: it has a role, and content or tool calls."
            )


def edited(
    turn: TurnRecord, side: Literal["said", "answer"], index: int, message: Message | None
) -> TurnRecord | None:
    """A turn with a message changed, added at the end or deleted; None if nothing is left.

    What the workflow returned stays as it was.
    """
    if turn.status == "running":
        raise InputError("This turn is running: stop it, or wait for it.")
    if message is not None:
        check_messages([message])
    content = turn.content.model_copy(deep=True)
    listed = content.said if side == "said" else content.replies
    if index > len(listed) or (message is None and index == len(listed)):
        raise InputError(f"There is no message {index + 1} on this side of the turn.")
    listed[index : index + 1] = [] if message is None else [message]
    if not content.said and not content.replies and not content.inputs:
        return None
    changes: dict[str, Any] = {"id": new_id(), "edited": True, "content": content}
    if side == "answer" and message is not None and turn.status in ("draft", "broken"):
        changes |= {"status": "done", "error": None}  # the person wrote the answer
    return turn.model_copy(update=changes)
