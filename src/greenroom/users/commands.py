"""What a person types to act as the user: /tools, and /call NAME key=value ..."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

import orjson

from greenroom.domains.tasks import Action

if TYPE_CHECKING:
    from greenroom.domains.environment import UserTools

TOOLS_COMMAND: Final = "/tools"
CALL_COMMAND: Final = "/call"


def is_command(typed: str) -> bool:
    """Whether a line is one of these commands."""
    words = typed.split(maxsplit=1)
    return bool(words) and words[0].lower() in (TOOLS_COMMAND, CALL_COMMAND)


def read_command(tools: UserTools, typed: str) -> Action | str:
    """The call that a line asks for, or a text to show instead: the tools, or what is wrong."""
    try:
        command, *words = shlex.split(typed)
    except ValueError as error:
        return f"That cannot be read: {error}."
    if command.lower() == TOOLS_COMMAND or not words:
        listed = [_usage(info["function"]) for info in tools.infos]
        return "\n".join(listed) or "You have no tools here."
    name, *pairs = words
    if not all("=" in pair for pair in pairs):
        return f"Write arguments as key=value: {CALL_COMMAND} {name} key=value ..."
    split = (pair.partition("=") for pair in pairs)
    return Action(name, {key: _value(text) for key, _, text in split}, "user")


def _usage(function: dict[str, Any]) -> str:
    parameters = " ".join(f"{name}=..." for name in function["parameters"].get("properties", {}))
    about = str(function.get("description", "")).partition("\n")[0]
    return f"{function['name']} {parameters}".rstrip() + (f"  {about}" if about else "")


def _value(text: str) -> Any:
    """A value as JSON, or the text itself."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
