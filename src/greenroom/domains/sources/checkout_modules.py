"""The Python files of a tau-bench checkout: tasks, rules and tool descriptions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, cast

from greenroom.domains.sources.literals import (
    Records,
    assignments,
    call_name,
    literal,
    parse_module,
    refusal,
)
from greenroom.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from greenroom.domains.tools import ToolInfo

_RECORDS: Final[Records] = {"Task": (), "Action": ("name", "kwargs")}
_TASK_FIELDS = frozenset({"annotator", "user_id", "instruction", "actions", "outputs", "id"})


def read_task_records(path: Path, notes: list[str]) -> list[Any]:
    """The tasks of a module: the one list in it of `Task(...)` or of dictionaries.

    They have the format of JSON task files. Fields that it does not know go to the notes.
    """
    module = parse_module(path)
    names, value = _task_list(module, path)
    _refuse_changes(module, names, value, path)
    records = literal(value, path, _RECORDS)
    if not isinstance(records, list):
        raise refusal(path, value, "this should be a list of tasks")
    unknown = sorted(
        {
            str(field)
            for record in cast("list[Any]", records)
            if isinstance(record, dict)
            for field in cast("dict[str, Any]", record).keys() - _TASK_FIELDS
        }
    )
    if unknown:
        notes.append(f"{path.name}: not kept of the tasks: {', '.join(unknown)}.")
    return cast("list[Any]", records)


def _task_list(module: ast.Module, path: Path) -> tuple[list[str], ast.expr]:
    # Skip aliases of a list.
    given = [
        (names, value) for names, value in assignments(module) if not isinstance(value, ast.Name)
    ]
    named = [
        (names, value)
        for names, value in given
        if any(name.lower().startswith("tasks") for name in names)
    ]
    found = named or [(names, value) for names, value in given if _holds_tasks(value)]
    if not found:
        raise DataError(f"{path} holds no list of tasks, such as TASKS = [Task(...), ...].")
    if len(found) > 1:
        lines = " and ".join(str(value.lineno) for _, value in found)
        raise DataError(f"{path} holds more than one list of tasks, on the lines {lines}.")
    return found[0]


def _holds_tasks(value: ast.expr) -> bool:
    return isinstance(value, ast.List) and any(
        isinstance(element, ast.Dict) or call_name(element) == "Task" for element in value.elts
    )


def _refuse_changes(module: ast.Module, names: Sequence[str], value: ast.expr, path: Path) -> None:
    """Refuse code that changes the tasks, because only running it would show the result."""
    for statement in module.body:
        given = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        if given is value or isinstance(given, ast.Name):
            continue
        mentioned = any(
            isinstance(node, ast.Name) and node.id in names for node in ast.walk(statement)
        )
        if mentioned:
            raise refusal(path, statement, "the file is read, not run, so its tasks may differ")


def read_rules(path: Path) -> list[str]:
    """The rules of a module: its list of that name."""
    for names, value in assignments(parse_module(path)):
        if any(name.lower() == "rules" for name in names):
            rules = literal(value, path)
            if not isinstance(rules, list) or not all(
                isinstance(rule, str) for rule in cast("list[Any]", rules)
            ):
                raise refusal(path, value, "this should be a list of texts")
            return cast("list[str]", rules)
    raise DataError(f"{path} holds no list of rules, such as RULES = [...].")


def read_tool_infos(paths: Sequence[Path], notes: list[str]) -> list[ToolInfo]:
    """Read the tool descriptions of modules.

    A file without a description is skipped. If one is unreadable, all are left out: agents need
    every tool for comparable results. The notes say why.
    """
    infos: list[ToolInfo] = []
    unreadable = False
    for path in paths:
        try:
            found = _file_infos(path)
        except DataError as error:
            unreadable = True
            notes.append(f"tools/{path.name} was skipped: {_without_folder(error, path)}")
            continue
        infos.extend(found)
        if not found:
            notes.append(f"tools/{path.name} was skipped: it describes no tool with get_info().")
    if unreadable:
        notes.append("the pack has no tools.json: the domain's own descriptions are used.")
    return [] if unreadable else infos


def _file_infos(path: Path) -> list[ToolInfo]:
    return [
        _tool_info(node, path)
        for node in ast.walk(parse_module(path))
        if isinstance(node, ast.FunctionDef) and node.name == "get_info"
    ]


def _tool_info(function: ast.FunctionDef, path: Path) -> ToolInfo:
    returned = function.body[-1]
    before = function.body[:-1]
    plain = all(
        isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in before
    )
    if not plain or not isinstance(returned, ast.Return) or returned.value is None:
        raise refusal(path, function, "get_info() does more than return a value")
    info = literal(returned.value, path)
    if not _is_tool_info(info):
        raise refusal(path, returned, "this is not a function description")
    return info


def _is_tool_info(info: Any) -> bool:
    match info:
        case {"function": {"name": str(), "parameters": dict()}}:
            return True
        case _:
            return False


def _without_folder(error: DataError, path: Path) -> str:
    return str(error).replace(str(path), path.name)


__all__ = ["read_rules", "read_task_records", "read_tool_infos"]
