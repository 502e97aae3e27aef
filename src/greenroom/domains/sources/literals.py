"""Read values from Python source without running it.

Tau Bench's task files are Python modules with plain values and calls of two record types. This
module reads those from the syntax tree and refuses everything else with its place.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from greenroom.domains.packs import read_text
from greenroom.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

Records = Mapping[str, tuple[str, ...]]
"""The calls that make records, by name, with their positional fields."""

_SHOWN = 60


def parse_module(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    source = read_text(path).removeprefix("\ufeff")
    try:
        with warnings.catch_warnings():
            # Ignore warnings about doubtful escapes in the file's strings.
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        place = f"{path}, line {error.lineno}" if error.lineno else str(path)
        raise DataError(f"{place} is not valid Python: {error.msg}.") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"{path} is not valid Python: {error or 'nested too deeply'}.") from error


def assignments(module: ast.Module) -> Iterator[tuple[list[str], ast.expr]]:
    """The top-level assignments of a module: names and values."""
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            yield names, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target = statement.target
            yield [target.id] if isinstance(target, ast.Name) else [], statement.value


def literal(node: ast.expr, path: Path, records: Records | None = None) -> Any:
    """The value of an expression as JSON: tuples become lists, records become objects."""
    return _Reader(path, records or {}).value(node)


def call_name(node: ast.expr) -> str | None:
    """The name of the function that an expression calls, if it has one."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else None


def refusal(path: Path, node: ast.AST, problem: str) -> DataError:
    """The error for source that this module cannot read."""
    line = getattr(node, "lineno", "?")
    text = " ".join(ast.unparse(node).split())
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return DataError(f"{path}, line {line}: {problem}: {shown}")


class _Reader:
    """Reads the expressions of one file."""

    def __init__(self, path: Path, records: Records) -> None:
        self._path = path
        self._records = records

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.List() | ast.Tuple():
                return [self.value(element) for element in node.elts]
            case ast.Dict():
                return {
                    self._key(key, node): self.value(value)
                    for key, value in zip(node.keys, node.values, strict=True)
                }
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant() as number):
                return self._signed(node, sign, number)
            case ast.BinOp(op=ast.Add()):
                return self._joined(node)
            case ast.Call() if call_name(node) in self._records:
                return self._record(node)
            case _:
                raise self._refused(node)

    def _constant(self, node: ast.Constant) -> Any:
        try:
            kept = orjson.loads(orjson.dumps(node.value))
        except TypeError as error:
            raise self._refused(node) from error
        # JSON would turn infinity into null.
        if kept != node.value:
            raise self._refused(node)
        return node.value

    def _signed(
        self, node: ast.UnaryOp, sign: ast.USub | ast.UAdd, operand: ast.Constant
    ) -> int | float:
        number = self._constant(operand)
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise self._refused(node)
        return -number if isinstance(sign, ast.USub) else number

    def _joined(self, node: ast.BinOp) -> str:
        # Loop instead of recursing: a long text may be joined from very many pieces.
        parts: list[ast.expr] = []
        rest: ast.expr = node
        while isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Add):
            parts.append(rest.right)
            rest = rest.left
        texts = [self.value(part) for part in (rest, *reversed(parts))]
        if not all(isinstance(text, str) for text in texts):
            raise self._refused(node)
        return "".join(texts)

    def _key(self, key: ast.expr | None, node: ast.Dict) -> str:
        text = None if key is None else self.value(key)
        if not isinstance(text, str):
            raise refusal(self._path, key or node, "keys have to be texts")
        return text

    def _record(self, node: ast.Call) -> dict[str, Any]:
        positional = self._records[call_name(node) or ""]
        fields: dict[str, Any] = {}
        if len(node.args) > len(positional):
            raise refusal(self._path, node, "arguments have to be given by name")
        for name, argument in zip(positional, node.args, strict=False):
            fields[name] = self.value(argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                raise refusal(self._path, node, "arguments have to be written out")
            fields[keyword.arg] = self.value(keyword.value)
        return fields

    def _refused(self, node: ast.expr) -> DataError:
        return refusal(self._path, node, "the file is read, not run, and this is not a plain value")


__all__ = ["Records", "assignments", "call_name", "literal", "parse_module", "refusal"]
