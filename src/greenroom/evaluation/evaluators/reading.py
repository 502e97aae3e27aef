"""What is compared with what: the workflow's flag decides, not the shape of its output.

For a chat workflow it is the text of the last assistant message, or its tool calls if it has no
text; for any other the output at face value. The expected side is read in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from greenroom.evaluation.evaluators.equality import is_array, type_name
from greenroom.evaluation.evaluators.paths import NotThere, Path, parse_path, pick
from greenroom.evaluation.evaluators.types import Case, Missed, Unscored
from greenroom.messages import last_assistant_message, messages_of, text_of
from greenroom.store import chat_of, decoded
from greenroom.util.json_values import as_list
from greenroom.util.raw_json import raw_text, raw_value
from greenroom.workflows.calls import called_tools

NO_EXPECTED = "the row has no expected output"
_BLOCK = re.compile(r"```(?:json)?[ \t]*\r?\n(.*?)```", re.DOTALL | re.IGNORECASE)


class Calls(list[Any]):
    """The tool calls of a message without text: name and arguments."""


class NoJson(ValueError):
    """A text is not JSON, and has no code block that is."""


def output_of(case: Case) -> Any:
    """What the workflow said: text or calls for a chat workflow, else the output as it is."""
    if not case.is_chat:
        return case.outputs
    if messages_of(case.outputs) is None:
        raise Unscored("the output of the chat workflow holds no messages", compared=case.outputs)
    message = last_assistant_message(case.outputs)
    return _said(message) if message is not None else ""


def expected_of(case: Case) -> Any:
    """What it should have said, read like the output; Unscored if nobody said."""
    if case.expected is None:
        raise Unscored(NO_EXPECTED, compared=output_of(case))
    return _spoken(case.expected) if case.is_chat else case.expected


def _spoken(expected: Any) -> Any:
    value = decoded(expected)
    if isinstance(value, str) or not messages_of(value):
        return expected
    message = last_assistant_message(value)
    if message is None:
        raise Unscored("the expected output holds no message of the assistant", against=expected)
    return _said(message)


def _said(message: dict[str, Any]) -> str | Calls:
    if text := text_of(message.get("content")) or text_of(message.get("refusal")):
        return text
    former = message.get("function_call")
    raw = as_list(message.get("tool_calls")) or ([{"function": former}] if former else [])
    calls = [
        {"name": call["name"], "arguments": call["input"]}
        for call in called_tools({"tool_calls": raw})
    ]
    return Calls(calls if len(calls) == len(raw) else raw) if raw else ""


def pair_of(case: Case, field: str = "") -> tuple[Any, Any]:
    """What was said and what was expected; of both the field, if one is named."""
    compared, against = output_of(case), expected_of(case)
    if isinstance(compared, Calls) and isinstance(against, str):
        if not against:
            raise Missed("it calls tools, which was not expected", compared=compared, against="")
        compared = ""  # words were expected, and there are none
    if not field:
        return compared, against
    path = parse_path(field)
    return field_of(compared, path, against), expected_field(against, path)


def raw_pair(case: Case) -> tuple[Any, Any]:
    """The same for those who judge in their own way: what cannot be read is there as it is."""
    try:
        compared = output_of(case)
    except Unscored:
        compared = case.outputs
    try:
        return compared, expected_of(case)
    except Unscored:
        return compared, case.expected


def field_of(output: Any, path: Path, against: Any = None) -> Any:
    """What stands in a field of an output, which may be JSON as a text; Missed if nothing does."""
    try:
        return pick(as_json(output), path)
    except (NotThere, NoJson) as error:
        raise Missed(f"the output: {error}", compared=output, against=against) from error


def expected_field(expected: Any, path: Path) -> Any:
    """The field of an expected output that has it; else the expected output is the field's."""
    value = decoded(expected)
    if isinstance(value, Mapping) or is_array(value):
        try:
            return pick(value, path)
        except NotThere:
            return expected
    return expected


def as_text(value: Any, what: str) -> str:
    """A value as a text evaluator reads it; Unscored for what is no text."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return raw_text(value)
    if isinstance(value, Calls):
        if what == "output":
            return ""
        raise Unscored(f"the {what} has no text, only tool calls: use tool_calls", against=value)
    raise Unscored(
        f"the {what} is JSON ({type_name(value)}), not text: name a field of it, or use json_diff "
        "or field_match",
        compared=value if what == "output" else None,
        against=value if what != "output" else None,
    )


def as_json(value: Any) -> Any:
    """A value as JSON: of a text, what it is or what its only code block holds; else NoJson."""
    if not isinstance(value, str):
        return value
    blocks = _BLOCK.findall(value)
    for candidate in (value, *(blocks if len(blocks) == 1 else ())):
        try:
            return raw_value(candidate)
        except (ValueError, RecursionError):
            continue
    raise NoJson("it is not JSON")


def output_messages(case: Case) -> list[dict[str, Any]]:
    """The messages that the workflow returned, whatever its flag; all of a simulated conversation.

    Unscored where there are none.
    """
    if case.conversation is not None:
        return case.conversation
    messages = messages_of(case.outputs)
    if messages is None:
        raise Unscored("the output holds no messages", compared=case.outputs)
    return messages


def whole_conversation(case: Case) -> list[dict[str, Any]]:
    """Everything that was said: the history that the workflow was given, and its output."""
    if case.conversation is not None:
        return case.conversation
    return [*_history(case), *output_messages(case)]


def _history(case: Case) -> list[dict[str, Any]]:
    inputs = case.inputs
    for value in (inputs.get("messages"), *inputs.values()):
        chat = chat_of(value)
        if chat is not None:
            return chat
    return []


def texts_in(value: Any) -> list[str]:
    """The texts that an expected value names: itself, or the items of a list."""
    found = decoded(value)
    several = is_array(found) and not isinstance(found, Calls)
    return [expected_words(item) for item in (cast("list[Any]", found) if several else [value])]


def expected_words(value: Any) -> str:
    """An expected value as a text to look for; Unscored if it is empty, as every text has that."""
    text = as_text(value, "expected output")
    if not text:
        raise Unscored("the expected output has no text to look for", against=value)
    return text
