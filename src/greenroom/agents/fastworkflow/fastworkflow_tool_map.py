"""From a FastWorkflow command to a tool of the domain: names, and arguments as plain values.

Commands and tools have the same names unless a map says otherwise. FastWorkflow fills what an agent
left out with defaults of its own, a NOT_FOUND or an empty list: those are not passed on as values.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from greenroom.agents.fastworkflow.tool_values import SENTINELS, properties_of, typed
from greenroom.errors import InputError

OPTIONAL_TOOLS: Final = frozenset({"think"})
"""Optional tools, which change nothing and return nothing."""


class UnmappedCommand(Exception):
    """A command without a tool; the text lists the tools."""


class ToolMap:
    """Maps a workflow's commands to the domain's tools."""

    def __init__(
        self,
        tool_infos: Iterable[Mapping[str, Any]],
        commands_of_tools: Mapping[str, str] | None = None,
    ) -> None:
        self._parameters = {
            str(info["function"]["name"]): properties_of(info["function"].get("parameters", {}))
            for info in tool_infos
        }
        self._commands = {
            tool: (commands_of_tools or {}).get(tool, command_name(tool))
            for tool in self._parameters
        }
        self._tools = {command: tool for tool, command in self._commands.items()}
        unknown = sorted(set(commands_of_tools or {}) - set(self._parameters))
        if unknown:
            raise InputError(
                f"The tool map names {', '.join(unknown)}, which the domain does not have. "
                f"Its tools: {', '.join(sorted(self._parameters))}."
            )

    def check(self, commands: Iterable[str], workflow: str) -> None:
        """Raise InputError unless every required tool has a command."""
        found = {local_name(command) for command in commands}
        missing = sorted(
            tool
            for tool, command in self._commands.items()
            if command not in found and tool not in OPTIONAL_TOOLS
        )
        if missing:
            raise InputError(
                f"The workflow {workflow} has no command for {', '.join(missing)}. Add it under "
                "that name, name the command in a tool map (--agent-option tool_map=FILE), or do "
                "without it (--agent-option partial=1)."
            )

    def has_command(self, command: str) -> bool:
        """Whether a command calls a tool."""
        return local_name(command) in self._tools

    def action(self, command: str, parameters: Any) -> dict[str, Any]:
        """The tool call of a command with its parameters."""
        name = self._tools.get(local_name(command))
        if name is None:
            raise UnmappedCommand(
                f"The command '{local_name(command)}' is not available here. "
                f"Available: {', '.join(sorted(self._tools))}."
            )
        schemas = self._parameters[name]
        arguments = {
            key: typed(value, schemas.get(key, {}))
            for key, value in plain_arguments(parameters).items()
        }
        return {"name": name, "arguments": arguments}


def command_name(tool: str) -> str:
    """The command for a tool: FastWorkflow's commands are words in small letters."""
    return re.sub(r"\W", "_", tool).lower()


def local_name(command: str) -> str:
    """A command's name without its context."""
    return command.rpartition("/")[2]


def plain_arguments(parameters: Any) -> dict[str, Any]:
    """The parameters as plain JSON values, without missing ones."""
    if parameters is None:
        return {}
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in (_fields(parameters) or {}).items()
    }
    return {
        name: plain_value(value)
        for name, value in _members(parameters).items()
        if not _left_out(value, defaults.get(name))
    }


def plain_value(value: Any) -> Any:
    """A value as plain JSON."""
    if isinstance(value, enum.Enum):
        return plain_value(value.value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        found = cast("Mapping[Any, Any]", value)
        return {str(key): plain_value(item) for key, item in found.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = cast("Iterable[Any]", value)
        return [plain_value(item) for item in items]
    if dataclasses.is_dataclass(value) or _fields(value) is not None:
        return {name: plain_value(item) for name, item in _members(value).items()}
    return str(value)


def _members(parameters: Any) -> dict[str, Any]:
    if isinstance(parameters, Mapping):
        return dict(cast("Mapping[str, Any]", parameters))
    fields = _fields(parameters)
    if fields is not None:
        # model_dump() would warn, because FastWorkflow constructs its models unchecked.
        return {name: getattr(parameters, name, None) for name in fields}
    if dataclasses.is_dataclass(parameters) and not isinstance(parameters, type):
        return {
            field.name: getattr(parameters, field.name) for field in dataclasses.fields(parameters)
        }
    raise TypeError(f"parameters of the type {type(parameters).__name__} cannot be read")


def _fields(parameters: Any) -> Mapping[str, Any] | None:
    # A pydantic model has them, if only an empty mapping.
    return getattr(cast("Any", type(parameters)), "model_fields", None)


def _left_out(value: Any, default: Any) -> bool:
    if value is None or (isinstance(value, str) and value in SENTINELS):
        return True
    return value in ("", [], {}) and value == default
