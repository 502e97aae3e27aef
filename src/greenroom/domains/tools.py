"""Tools: plain functions that read and change a world and answer with text.

A tool's schema comes from its signature: the docstring is its description, `Annotated[str, "..."]`
describes a parameter, `Literal` becomes an enumeration and a `TypedDict` an object. A pack may
bring descriptions of its own.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from greenroom.domains.world import Record, Table, World
from greenroom.errors import DataError, InputError
from greenroom.util.attempt_logs import log_error

ToolInfo = dict[str, Any]
"""A tool's chat-completion function schema."""

ToolFunction = TypeVar("ToolFunction", bound=Callable[..., Any])


class Refused(Exception):
    """Raised by a tool that refuses a request: the agent sees "Error: " and the reason."""


class ToolResult(NamedTuple):
    """The result of a call."""

    observation: str
    problem: str | None = None
    """Why the call was invalid, if it was."""
    failed: bool = False
    """The tool raised: it refused, or the call was invalid."""


ToolKind = Literal["read", "write", "think", "generic"]
"""What a tool does, for statistics."""


@dataclass(frozen=True)
class Tool:
    """A function of a domain, callable by name with keyword arguments."""

    function: Callable[..., Any]
    writes: bool = False
    ends_episode: bool = False
    kind: ToolKind = "read"
    replayed: bool = False
    """Grading by replay carries its calls out again."""
    listed: bool = True
    """Models are told about it; a tool that is not listed can be called all the same."""
    owner: str | None = None
    """The class that argument errors name; None uses Tau Bench's words."""
    render: Callable[[Any], str] = json.dumps
    """Writes a result that is no text."""
    described: bool = True
    """Its signature makes its schema; otherwise only a pack describes it."""

    @cached_property
    def name(self) -> str:
        """The name that agents call it by."""
        return self.function.__name__

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """What it takes besides the world, by name."""
        _world, *parameters = inspect.signature(self.function).parameters.values()
        return {parameter.name: parameter for parameter in parameters}

    @cached_property
    def _required(self) -> tuple[str, ...]:
        empty = inspect.Parameter.empty
        return tuple(name for name, p in self.parameters.items() if p.default is empty)

    @cached_property
    def info(self) -> ToolInfo:
        """The tool's schema, from its signature and docstring."""
        if not self.described:
            raise DataError(
                f"The pack does not describe the tool {self.name}: its tools.json is missing. "
                "'greenroom data import' makes a pack of a checkout, with the descriptions."
            )
        hints = get_type_hints(self.function, include_extras=True)
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": inspect.cleandoc(self.function.__doc__ or ""),
                "parameters": {
                    "type": "object",
                    "properties": {
                        name: _schema(
                            hints.get(name), f"the parameter '{name}' of the tool {self.name}"
                        )
                        for name in self.parameters
                    },
                    "required": list(self._required),
                },
            },
        }

    def call(self, world: World, arguments: Mapping[str, Any]) -> ToolResult:
        """Run the tool; errors become part of the observation."""
        mismatch = self._reserved(arguments) or self.mismatch(arguments)
        if mismatch is not None:
            return ToolResult(f"Error: {mismatch}", mismatch, failed=True)
        try:
            # Copy lists and dictionaries: a tool may store them in records, and later changes to
            # those records must not change the recorded action.
            answer = self.function(world, **{key: _copied(arguments[key]) for key in arguments})
        except Refused as refusal:
            return ToolResult(f"Error: {refusal}", failed=True)
        except Exception as error:
            log_error(error)
            return ToolResult(f"Error: {error}", f"{type(error).__name__}: {error}", failed=True)
        return ToolResult(answer if isinstance(answer, str) else self.render(answer))

    def mismatch(self, arguments: Mapping[str, Any]) -> str | None:
        """What Python says of arguments that do not fit; None if they do."""
        # Use the words of Python 3.11 on every version of Python, so that agents and recorded
        # episodes always see the same text.
        if arguments.keys() == self.parameters.keys():
            return None
        for name in arguments:
            if name not in self.parameters:
                return f"{self._called} got an unexpected keyword argument '{name}'"
        missing = [f"'{name}'" for name in self._required if name not in arguments]
        if not missing:
            return None
        plural = "s" if len(missing) > 1 else ""
        return (
            f"{self._called} missing {len(missing)} required positional "
            f"argument{plural}: {_enumeration(missing)}"
        )

    @cached_property
    def _called(self) -> str:
        if self.owner is not None:
            return f"{self.owner}.{self.name}()"
        return f"{''.join(part.capitalize() for part in self.name.split('_'))}.invoke()"

    def _reserved(self, arguments: Mapping[str, Any]) -> str | None:
        """What is said of an argument with a name that the original's own call uses."""
        if self.owner is None:
            if "data" in arguments and "data" not in self.parameters:
                return f"{self._called} got multiple values for keyword argument 'data'"
            return None
        call = "Environment.make_tool_call() got multiple values for"
        if "requestor" in arguments:
            return f"tau2.environment.environment.{call} keyword argument 'requestor'"
        for name in ("self", "tool_name"):
            if name in arguments:
                return f"{call} argument '{name}'"
        return None


class Toolset(Mapping[str, Tool]):
    """The tools of a domain, by name.

    >>> tools = Toolset()
    >>> @tools.add(writes=True)
    ... def lend_book(world: World, book: Annotated[str, "The book's id."]) -> str:
    ...     "Lend a book."
    ...     world["books"][book]["lent"] = True
    ...     return "ok"
    >>> tools["lend_book"].info["function"]["parameters"]["required"]
    ['book']
    """

    def __init__(
        self, *, owner: str | None = None, render: Callable[[Any], str] = json.dumps
    ) -> None:
        self._tools: dict[str, Tool] = {}
        self._owner = owner
        self._render = render

    def add(
        self,
        *,
        writes: bool = False,
        ends_episode: bool = False,
        kind: ToolKind | None = None,
        replayed: bool | None = None,
        listed: bool = True,
        schema: bool = True,
    ) -> Callable[[ToolFunction], ToolFunction]:
        """Make the decorated function a tool: its first parameter is the world of its party.

        Without `schema`, the pack describes the tool.
        """

        def register(function: ToolFunction) -> ToolFunction:
            tool = Tool(
                function,
                writes=writes,
                ends_episode=ends_episode,
                kind=kind or ("write" if writes else "read"),
                replayed=writes if replayed is None else replayed,
                listed=listed,
                owner=self._owner,
                render=self._render,
                described=schema,
            )
            if schema:
                _ = tool.info  # refuse a signature without a schema now, not in an episode
            self._tools[tool.name] = tool
            return function

        return register

    def include(self, other: Toolset) -> None:
        """Add the tools of another set."""
        self._tools.update(other._tools)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._tools))

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    @property
    def infos(self) -> list[ToolInfo]:
        """The schemas of the tools that are listed, by name."""
        return [self[name].info for name in self if self[name].listed]


def check_tool_info(info: ToolInfo) -> ToolInfo:
    """The schema of a pack's tool; raise ValueError if it has another shape or leads elsewhere."""
    match info:
        case {"function": {"name": str(), "parameters": dict()}}:
            pass
        case _:
            raise ValueError('a tool is {"type": "function", "function": {name, parameters, ...}}')
    left: list[Any] = [info]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left.extend(cast("list[Any]", value))
        elif isinstance(value, dict):
            for key, item in cast("dict[str, Any]", value).items():
                if key in ("$ref", "$dynamicRef") and isinstance(item, str) and item[:1] != "#":
                    raise ValueError(f"{key} {item:.60} leads out of the file: write it out")
                left.append(item)
    return info


def own_record(table: Table, key: Any, refusal: str) -> Record:
    """The world's own copy of a record, to be changed; raise Refused if there is none."""
    if key not in table:
        raise Refused(refusal)
    return table[key]


def record_text(table: Table, key: Any, refusal: str) -> str:
    """A record as text; raise Refused if there is none."""
    if key not in table:
        raise Refused(refusal)
    return table.text(key)


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


def _enumeration(names: list[str]) -> str:
    if len(names) <= 2:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


_JSON_TYPES: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
}


def _schema(hint: Any, where: str) -> dict[str, Any]:
    origin = get_origin(hint)
    if origin is Annotated:
        inner, description = get_args(hint)[:2]
        return _schema(inner, where) | {"description": description}
    if origin is Literal:
        values = list(get_args(hint))
        return _schema(type(values[0]), where) | {"enum": values}
    if origin is list:
        return {"type": "array", "items": _schema(get_args(hint)[0], where)}
    if is_typeddict(hint):
        fields = get_type_hints(hint, include_extras=True)
        return {
            "type": "object",
            "properties": {name: _schema(inner, where) for name, inner in fields.items()},
            "required": sorted(hint.__required_keys__, key=list(fields).index),
        }
    if hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    raise InputError(
        f"There is no schema for {where}: its type is {hint!r}. Use str, int, float, bool, list, "
        "Literal or a TypedDict."
    )
