"""Evaluators of conversations: the last message, how long it is, who speaks when."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from pydantic import Field, model_validator

from greenroom.evaluation.evaluators.called_tools import raw_calls
from greenroom.evaluation.evaluators.reading import (
    as_text,
    expected_of,
    expected_words,
    output_messages,
    whole_conversation,
)
from greenroom.evaluation.evaluators.text import TextList, WordingSettings
from greenroom.evaluation.evaluators.types import (
    Case,
    Score,
    Settings,
    Unscored,
    plain_kind,
    verdict,
)
from greenroom.messages import ROLES, text_of
from greenroom.util.json_values import as_dict

_INSTRUCTIONS = ("system", "developer")


class LastMessageSettings(WordingSettings):
    """Settings of last_message."""

    match: Literal["equals", "contains"] = Field(
        default="equals", description="Whether its text has to be the other, or to contain it."
    )
    value: str | None = Field(
        default=None, description="The text to compare with; by default the expected output."
    )
    role: str | None = Field(default=None, description="Who has to have said it, if it matters.")


class LengthSettings(Settings):
    """Settings of conversation_length."""

    min: int | None = Field(default=None, ge=0, description="Not fewer than this.")
    max: int | None = Field(default=None, ge=0, description="Not more than this.")
    count: Literal["messages", "turns"] = Field(
        default="messages",
        description="messages: all but those of system and developer; turns: those of the user.",
    )

    @model_validator(mode="after")
    def _one_is_needed(self) -> LengthSettings:
        if self.min is None and self.max is None:
            raise ValueError("min or max is needed")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is more than max")
        return self


class RoleOrderSettings(Settings):
    """Settings of role_order."""

    roles: TextList | None = Field(
        default=None, description="The roles of all messages in order; by default the usual rules."
    )
    allow_repeats: bool = Field(
        default=False, description="User and assistant may speak several times in a row."
    )

    @model_validator(mode="after")
    def _known(self) -> RoleOrderSettings:
        for role in self.roles or ():
            if role not in ROLES:
                raise ValueError(f"there is no role '{role}'; there are {', '.join(sorted(ROLES))}")
        return self


_as_expected = partial(as_text, what="expected output")


def _last_message(settings: LastMessageSettings, case: Case) -> Score:
    messages = output_messages(case)
    if not messages:
        return verdict(False, None, settings.value, "there is no message")
    message = messages[-1]
    compared = text_of(message.get("content"))
    against = settings.value
    if against is None and (case.expected is not None or settings.role is None):
        # The evaluator is about messages, whatever the workflow's flag says.
        as_chat = Case(outputs=case.outputs, expected=case.expected, is_chat=True)
        read = expected_words if settings.match == "contains" else _as_expected
        against = read(expected_of(as_chat))
    if settings.role is not None and message.get("role") != settings.role:
        reason = f"the last message is by {message.get('role')}, not by {settings.role}"
        return verdict(False, compared, against, reason)
    if against is None:
        return verdict(True, compared, None, f"the last message is by {settings.role}")
    if not against and raw_calls(message):
        return verdict(False, raw_calls(message), against, "it calls tools, which was not expected")
    text, wanted = settings.prepared(compared), settings.prepared(against)
    passed = text == wanted if settings.match == "equals" else wanted in text
    words = "is the same" if settings.match == "equals" else "contains it"
    return verdict(passed, compared, against, words if passed else f"not so: {settings.match}")


def _length(settings: LengthSettings, case: Case) -> Score:
    messages = whole_conversation(case)
    wanted = settings.count == "turns"
    number = sum(
        message.get("role") == "user" if wanted else message.get("role") not in _INSTRUCTIONS
        for message in messages
    )
    low, high = settings.min, settings.max
    passed = (low is None or number >= low) and (high is None or number <= high)
    against = {key: value for key, value in (("min", low), ("max", high)) if value is not None}
    return verdict(passed, number, against, f"{number} {settings.count}")


def _order(settings: RoleOrderSettings, case: Case) -> Score:
    messages = whole_conversation(case)
    if not messages:
        raise Unscored("there are no messages")
    roles = [str(message.get("role")) for message in messages]
    if settings.roles is not None:
        passed = roles == settings.roles
        return verdict(passed, roles, settings.roles, "as told" if passed else "another order")
    fault = _fault(messages, allow_repeats=settings.allow_repeats)
    return verdict(fault is None, roles, "the usual rules", fault or "in order")


def _fault(messages: list[dict[str, Any]], *, allow_repeats: bool) -> str | None:
    """What is wrong with the order of a conversation's messages, if anything is."""
    open_calls: list[Any] = []
    speaker: str | None = None
    for number, message in enumerate(messages, start=1):
        role = str(message.get("role"))
        if role in _INSTRUCTIONS:
            if speaker is not None:
                return f"message {number}: {role} speaks after the conversation began"
            continue
        if role in ("tool", "function"):
            if not open_calls:
                return f"message {number}: a tool answers, and nothing was called"
            given = message.get("tool_call_id")
            answered = open_calls[0] if given is None else given
            if answered not in open_calls:
                return f"message {number}: a tool answers a call that was not made"
            open_calls.remove(answered)
        else:
            if open_calls:
                return f"message {number}: {role} speaks before the tools have answered"
            if role == speaker and not allow_repeats:
                return f"message {number}: {role} speaks twice in a row"
            open_calls = [as_dict(call).get("id") for call in raw_calls(message)]
        # Behind the answers of tools the assistant may go on.
        speaker = role
    return None


last_message = plain_kind(
    "last_message", _last_message, LastMessageSettings, "what the last message says"
)
conversation_length = plain_kind(
    "conversation_length", _length, LengthSettings, "how many messages or turns it took"
)
role_order = plain_kind("role_order", _order, RoleOrderSettings, "who speaks when")
