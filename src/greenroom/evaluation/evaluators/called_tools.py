"""Tool calls: which were made, with which arguments, and which should have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field

from greenroom.evaluation.evaluators.equality import is_array, json_equal
from greenroom.evaluation.evaluators.reading import NO_EXPECTED, output_messages
from greenroom.evaluation.evaluators.types import (
    Case,
    ExpectingSettings,
    Score,
    Unscored,
    plain_kind,
    verdict,
)
from greenroom.messages import messages_of
from greenroom.store import decoded
from greenroom.util.raw_json import raw_value

ToolUse = dict[str, Any]
"""A call as it is compared: `name` and `arguments`."""

Mode = Literal["strict", "unordered", "subset", "superset"]
ArgumentMode = Literal["exact", "partial", "ignore"]

_ARGUMENTS = ("arguments", "args", "kwargs", "input", "parameters")


class NoCalls(ValueError):
    """A value that names no tool calls."""


def _checked_calls(value: Any) -> Any:
    return None if value is None else calls_named(value)


class ToolCallSettings(ExpectingSettings):
    """Settings of tool_calls."""

    mode: Mode = Field(
        default="strict",
        description="strict: the expected calls in their order; unordered: the same calls in any "
        "order; subset: no call but expected ones; superset: all expected ones, and maybe more.",
    )
    arguments: ArgumentMode = Field(
        default="exact",
        description="exact: equal; partial: the expected ones are there with their values; "
        "ignore: any.",
    )
    calls: Annotated[list[ToolUse] | None, BeforeValidator(_checked_calls)] = Field(
        default=None,
        description='The expected calls, [{"name": ..., "arguments": {...}}]; by default those '
        "of the expected output.",
    )


def raw_calls(message: Mapping[str, Any]) -> list[Any]:
    """The calls of one message, as they are."""
    calls = message.get("tool_calls")
    return cast("list[Any]", calls) if isinstance(calls, list) else []


def calls_in(messages: Sequence[Mapping[str, Any]]) -> list[ToolUse]:
    """All tool calls of messages, in order."""
    calls: list[Any] = []
    for message in messages:
        calls += raw_calls(message)
        if message.get("function_call"):  # what tool calls were once called
            calls.append(message["function_call"])
    return [_call(call) for call in calls]


def calls_named(value: Any) -> list[ToolUse]:
    """The calls that an expected value names: messages, a list of calls, or a single one.

    NoCalls if it is something else, such as a text.
    """
    value = decoded(value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        messages = messages_of(fields)
        if messages is not None:
            return calls_in(messages)
        if is_array(fields.get("tool_calls")):
            return [_call(call) for call in fields["tool_calls"]]
        return [_call(fields)]
    if is_array(value):
        items = cast("list[Any]", value)
        messages = messages_of(items)
        return calls_in(messages) if messages else [_call(item) for item in items]
    raise NoCalls("it names no tool calls")


def _call(call: Any) -> ToolUse:
    if not isinstance(call, Mapping):
        raise NoCalls("a tool call is an object")
    fields = cast("Mapping[str, Any]", call)
    inner = fields.get("function")
    if isinstance(inner, Mapping):
        fields = cast("Mapping[str, Any]", inner)
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        raise NoCalls("a tool call has a name and arguments")
    arguments = next((fields[key] for key in _ARGUMENTS if key in fields), None)
    return {"name": name, "arguments": _arguments(arguments)}


def _arguments(value: Any) -> Any:
    if value is None or value == "":
        return {}
    if not isinstance(value, str):
        return value
    try:
        return raw_value(value)
    except (ValueError, RecursionError):
        return value  # a text that is no JSON equals no arguments


def _tool_calls(settings: ToolCallSettings, case: Case) -> Score:
    try:
        told = [_call(call) for call in case.tool_calls]
        made = [*told, *calls_in(output_messages(case))]
    except NoCalls as error:
        raise Unscored(f"the output: {error}", compared=case.outputs) from error
    wanted = _wanted(settings, case, made)
    pairs = _matching(wanted, made, settings.arguments)
    passed = _passed(settings, wanted, made, len(pairs))
    return verdict(passed, made, wanted, _reason(passed, wanted, made, pairs))


def _wanted(settings: ToolCallSettings, case: Case, made: list[ToolUse]) -> list[ToolUse]:
    if settings.calls is not None:
        return settings.calls
    if case.expected is None:
        raise Unscored(NO_EXPECTED, compared=made)
    try:
        return calls_named(case.expected)
    except NoCalls as error:
        reason = f"the expected output: {error}"
        raise Unscored(reason, compared=made, against=case.expected) from error


def _passed(
    settings: ToolCallSettings, wanted: list[ToolUse], made: list[ToolUse], matched: int
) -> bool:
    mode = settings.mode
    if mode == "strict":
        return len(wanted) == len(made) and all(
            _fits(expected, actual, settings.arguments)
            for expected, actual in zip(wanted, made, strict=True)
        )
    if mode == "unordered":
        return matched == len(wanted) == len(made)
    return matched == (len(made) if mode == "subset" else len(wanted))


def _matching(
    wanted: list[ToolUse], made: list[ToolUse], arguments: ArgumentMode
) -> dict[int, int]:
    """As many pairs as possible: for each made call that has one, the expected call.

    With partial arguments one call may fit several, so that taking the first would be too few.
    """
    taken: dict[int, int] = {}

    def place(expected: int, tried: set[int]) -> bool:
        for actual in range(len(made)):
            if actual in tried or not _fits(wanted[expected], made[actual], arguments):
                continue
            tried.add(actual)
            if actual not in taken or place(taken[actual], tried):
                taken[actual] = expected
                return True
        return False

    for expected in range(len(wanted)):
        place(expected, set())
    return taken


def _fits(expected: ToolUse, actual: ToolUse, arguments: ArgumentMode) -> bool:
    if expected["name"] != actual["name"]:
        return False
    if arguments == "ignore":
        return True
    if arguments == "exact":
        return json_equal(expected["arguments"], actual["arguments"])
    return _covers(actual["arguments"], expected["arguments"])


def _covers(actual: Any, expected: Any) -> bool:
    if not isinstance(expected, Mapping) or not isinstance(actual, Mapping):
        return json_equal(actual, expected)
    there, needed = cast("Mapping[str, Any]", actual), cast("Mapping[str, Any]", expected)
    return all(key in there and _covers(there[key], value) for key, value in needed.items())


def _reason(
    passed: bool, wanted: list[ToolUse], made: list[ToolUse], pairs: Mapping[int, int]
) -> str:
    if passed:
        return f"{len(made)} calls as expected" if len(made) != 1 else "1 call as expected"
    expected = set(pairs.values())
    left_out = [call["name"] for number, call in enumerate(wanted) if number not in expected]
    extra = [call["name"] for number, call in enumerate(made) if number not in pairs]
    faults = [
        f"{words}: {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}"
        for words, names in (("not made", left_out), ("not expected", extra))
        if names
    ]
    return "; ".join(faults) or "another order"


tool_calls = plain_kind(
    "tool_calls", _tool_calls, ToolCallSettings, "the tools that were called, and how"
)
