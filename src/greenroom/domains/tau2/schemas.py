"""The tools of tau2-bench's source: schemas, unlock texts and facts, read without running it.

A tool is a method that `@is_tool(...)` or `@is_discoverable_tool(...)` decorates.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field
from pydantic.errors import PydanticUserError

from greenroom.domains.sources.literals import literal, refusal
from greenroom.domains.tau2.docstrings import read_docstring, unlock_text
from greenroom.domains.tau2.source_types import Module, SourceTypes, call_or_name, make_model

if TYPE_CHECKING:
    from greenroom.domains.tools import ToolInfo

_LISTED: Final = "is_tool"
_DISCOVERABLE: Final = "is_discoverable_tool"
_USER: Final = "User"

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SourceTool:
    """A tool as the source declares it."""

    name: str
    function: AnyFunction
    module: Module
    owner: str
    """The class that has it."""
    kind: str = "read"
    """read, write, think or generic."""
    mutates: bool = False
    """It is run again when a trajectory is graded."""
    discoverable: bool = False

    @property
    def docstring(self) -> str | None:
        """Its docstring, as it is written."""
        return ast.get_docstring(self.function, clean=False)


@dataclass(frozen=True)
class SourceTools:
    """The tools of both parties of a domain."""

    agent: Sequence[SourceTool]
    user: Sequence[SourceTool]


def read_tools(types: SourceTypes, folder: Path) -> SourceTools:
    """The tools of a domain, from `tools.py` and `user_tools.py` in its folder."""
    main, own = folder / "tools.py", folder / "user_tools.py"
    classes = _toolkits(types, main) if main.is_file() else {}
    users = {name: found for name, found in classes.items() if _USER in name}
    if own.is_file():
        users = _toolkits(types, own)
    agents = {name: found for name, found in classes.items() if _USER not in name}
    return SourceTools(_largest(agents.values()), _largest(users.values()))


def class_tools(types: SourceTypes, path: Path, name: str) -> Sequence[SourceTool]:
    """The tools of one class of a module; none if there is no such class."""
    return _toolkits(types, path).get(name, ())


def tool_schema(tool: SourceTool, types: SourceTypes) -> ToolInfo:
    """The tool's schema, as tau2-bench shows it to a model."""
    said = read_docstring(tool.docstring)
    fields: dict[str, Any] = {}
    for argument, default in _arguments(tool.function):
        kind = (
            Any
            if argument.annotation is None
            else types.annotation(argument.annotation, tool.module)
        )
        value = types.default(default, tool.module)
        if argument.arg in said.arguments:
            value = Field(value, description=said.arguments[argument.arg])
        fields[argument.arg] = (kind, value)
    try:
        parameters = make_model("parameters", fields).model_json_schema()
    except PydanticUserError as error:
        problem = f"this tool has no schema ({error.message.splitlines()[0]})"
        raise refusal(tool.module.path, tool.function, problem) from error
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": said.description or tool.name,
            "parameters": parameters,
        },
    }


def unlock_texts(tools: Iterable[SourceTool]) -> dict[str, Any]:
    """What is told of discoverable tools, by name."""
    found = {tool.name: tool.docstring for tool in tools if tool.discoverable}
    return {name: unlock_text(name, found[name]) for name in sorted(found)}


def tool_facts(tools: Iterable[SourceTool]) -> list[dict[str, Any]]:
    """What is known of tools besides their schemas."""
    return [
        {
            "name": tool.name,
            "type": tool.kind,
            "mutates_state": tool.mutates,
            "qualname": f"{tool.owner}.{tool.name}",
            "signature": _signature(tool.function),
            "discoverable": tool.discoverable,
        }
        for tool in tools
    ]


def _toolkits(types: SourceTypes, path: Path) -> dict[str, Sequence[SourceTool]]:
    module = types.module(path)
    found = {name: _class_tools(types, node, module) for name, node in module.classes.items()}
    return {name: tools for name, tools in found.items() if tools}


def _largest(candidates: Iterable[Sequence[SourceTool]]) -> Sequence[SourceTool]:
    return max(candidates, key=len, default=())


def _class_tools(types: SourceTypes, node: ast.ClassDef, module: Module) -> Sequence[SourceTool]:
    """A class's own tools in the order of the source, then those that it inherits."""
    tools: dict[str, SourceTool] = {}
    # Nobody has run this source: classes may inherit from each other, or in a very long line.
    seen: set[ast.ClassDef] = set()
    waiting, owner = [(node, module)], node.name
    while waiting:
        node, module = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        for tool in _own_tools(node, module, owner):
            tools.setdefault(tool.name, tool)
        bases = [types.find_class(call_or_name(base) or "", module) for base in node.bases]
        waiting += [found for found in reversed(bases) if found is not None]
    return list(tools.values())


def _own_tools(node: ast.ClassDef, module: Module, owner: str) -> Iterator[SourceTool]:
    for statement in node.body:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for decorator in statement.decorator_list:
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            if call_or_name(call) in (_LISTED, _DISCOVERABLE):
                kind, mutates = _declared(decorator, module)
                discoverable = call_or_name(call) == _DISCOVERABLE
                yield SourceTool(
                    statement.name, statement, module, owner, kind, mutates, discoverable
                )


def _declared(decorator: ast.expr, module: Module) -> tuple[str, bool]:
    given: dict[str, ast.expr] = {}
    if isinstance(decorator, ast.Call):
        given = dict(zip(("tool_type", "mutates_state"), decorator.args, strict=False))
        given |= {one.arg: one.value for one in decorator.keywords if one.arg}
    kind = (call_or_name(given["tool_type"]) or "READ").lower() if "tool_type" in given else "read"
    told = literal(given["mutates_state"], module.path) if "mutates_state" in given else None
    return kind, kind == "write" if told is None else bool(told)


def _arguments(function: AnyFunction) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    names = [*function.args.posonlyargs, *function.args.args]
    defaults = [None] * (len(names) - len(function.args.defaults)) + list(function.args.defaults)
    pairs = list(zip(names, defaults, strict=True))
    if pairs and pairs[0][0].arg in ("self", "cls"):
        pairs = pairs[1:]
    yield from pairs
    yield from zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)


def _signature(function: AnyFunction) -> str:
    texts: list[str] = []
    for argument, default in _arguments(function):
        kind = "" if argument.annotation is None else f": {ast.unparse(argument.annotation)}"
        texts.append(
            f"{argument.arg}{kind}" + ("" if default is None else f" = {ast.unparse(default)}")
        )
    returned = "" if function.returns is None else f" -> {ast.unparse(function.returns)}"
    return f"({', '.join(texts)}){returned}"


__all__ = [
    "SourceTool",
    "SourceTools",
    "class_tools",
    "read_tools",
    "tool_facts",
    "tool_schema",
    "unlock_texts",
]
