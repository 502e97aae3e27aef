"""Types that Python source names, made without running it.

tau2-bench renders the schema of a tool by pydantic, from the annotations of its function. Here the
annotations are read from the syntax tree, and the models, enums and aliases they name are built
anew, so that pydantic renders the same schema.
"""

from __future__ import annotations

import ast
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict, Field, create_model

from greenroom.domains.sources.literals import call_name, literal, parse_module, refusal
from greenroom.errors import DataError

_PLAIN: Final[Mapping[str, Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "dict": dict,
    "list": list,
    "tuple": tuple,
    "set": set,
    "Dict": dict,
    "List": list,
    "Tuple": tuple,
    "Set": set,
    "Mapping": Mapping,
    "Sequence": typing.Sequence,
    "Any": Any,
    "object": Any,
    "None": None,
    "date": date,
    "datetime": datetime,
    "BaseModel": BaseModel,
}
_ENUMS: Final = frozenset({"Enum", "StrEnum", "IntEnum"})
_FIELD_OPTIONS: Final = frozenset(
    {"description", "title", "gt", "ge", "lt", "le", "min_length", "max_length", "pattern"}
)
_DEPTH: Final = 40


@dataclass(frozen=True)
class Module:
    """A module: what it defines and what it imports, by name."""

    path: Path
    classes: Mapping[str, ast.ClassDef]
    values: Mapping[str, ast.expr]
    imports: Mapping[str, tuple[str, str]]
    """The module and the name there."""


@dataclass
class SourceTypes:
    """The types of the modules below a folder, the one that `import` starts from."""

    root: Path
    _modules: dict[Path, Module] = field(default_factory=dict[Path, Module])
    _made: dict[tuple[Path, str], Any] = field(default_factory=dict[tuple[Path, str], Any])
    _depth: int = 0

    def module(self, path: Path) -> Module:
        """A module, read once."""
        if path not in self._modules:
            self._modules[path] = _read_module(path, self.root)
        return self._modules[path]

    def find_class(self, name: str, module: Module) -> tuple[ast.ClassDef, Module] | None:
        """A class that a module defines or imports, with the module that defines it."""
        # Two modules may import a name from each other.
        for _ in range(_DEPTH):
            if name in module.classes:
                return module.classes[name], module
            home, name = module.imports.get(name, ("", ""))
            path = _module_path(self.root, home) if home else None
            if path is None:
                return None
            module = self.module(path)
        return None

    def annotation(self, node: ast.expr, module: Module) -> Any:
        """The type that an annotation names; raises DataError where it is not known."""
        self._depth += 1
        try:
            if self._depth > _DEPTH:
                raise refusal(module.path, node, "this type is nested too deeply")
            return self._annotation(node, module)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # What Python or pydantic says of a type that is none, such as str[int].
            raise refusal(module.path, node, f"this is not a type ({_first(error)})") from error
        finally:
            self._depth -= 1

    def _annotation(self, node: ast.expr, module: Module) -> Any:
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Constant(value=str(text)):
                return self.annotation(_expression(text, node, module), module)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return self._named(name, node, module)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.annotation(left, module) | self.annotation(right, module)
            case ast.Subscript(value=outer, slice=inner):
                return self._subscript(outer, inner, module)
            case _:
                raise refusal(module.path, node, "this is not a type that can be read")

    def _subscript(self, outer: ast.expr, inner: ast.expr, module: Module) -> Any:
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        match call_or_name(outer):
            case "Literal":
                return typing.Literal[tuple(literal(part, module.path) for part in parts)]
            case "Optional":
                return typing.Optional[self.annotation(inner, module)]  # noqa: UP045
            case "Union":
                return typing.Union[tuple(self.annotation(part, module) for part in parts)]  # noqa: UP007
            case "Annotated":
                kept = [self._field(one, module) for one in parts[1:] if call_name(one) == "Field"]
                bare = self.annotation(parts[0], module)
                return typing.Annotated[bare, *kept] if kept else bare
            case _:
                known = [
                    ...
                    if isinstance(part, ast.Constant) and part.value is ...
                    else self.annotation(part, module)
                    for part in parts
                ]
                return self.annotation(outer, module)[tuple(known)]

    def _named(self, name: str, node: ast.expr, module: Module) -> Any:
        if name in module.classes:
            return self._class(module.classes[name], module)
        if name in module.values:
            return self.annotation(module.values[name], module)
        if name in module.imports and name not in _PLAIN:
            home, original = module.imports[name]
            path = _module_path(self.root, home)
            if path is not None:
                there = self.module(path)
                return self.annotation(ast.copy_location(ast.Name(original), node), there)
        if name in _PLAIN:
            return _PLAIN[name]
        raise refusal(module.path, node, "this type is not known")

    def _class(self, node: ast.ClassDef, module: Module) -> Any:
        place = (module.path, node.name)
        if place not in self._made:
            bases = [call_or_name(base) for base in node.bases]
            make = self._enum if _ENUMS & set(bases) else self._model
            self._made[place] = make(node, module)
        return self._made[place]

    def _enum(self, node: ast.ClassDef, module: Module) -> Any:
        bases = {call_or_name(base) for base in node.bases}
        members = {
            target.id: literal(statement.value, module.path)
            for statement in node.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        mixin = str if bases & {"str", "StrEnum"} else int if bases & {"int", "IntEnum"} else None
        make = cast("Callable[..., Any]", Enum)
        made = make(node.name, members, type=mixin) if mixin else make(node.name, members)
        made.__doc__ = ast.get_docstring(node)
        return made

    def _model(self, node: ast.ClassDef, module: Module) -> Any:
        bases = [self.annotation(base, module) for base in node.bases if _counts(base)]
        base = bases[0] if bases else None
        if not (isinstance(base, type) and issubclass(base, BaseModel)):
            raise refusal(module.path, node, "this class is neither a pydantic model nor an enum")
        config = _config(node, module)
        configured = cast("Callable[..., Any]", type(base))
        parent = configured(node.name, (base,), {"model_config": config}) if config else base
        fields: dict[str, Any] = {
            statement.target.id: (
                self.annotation(statement.annotation, module),
                self.default(statement.value, module),
            )
            for statement in node.body
            if isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id != "model_config"
            and "ClassVar" not in ast.unparse(statement.annotation)
        }
        return make_model(node.name, fields, base=parent, doc=ast.get_docstring(node))

    def default(self, node: ast.expr | None, module: Module) -> Any:
        """The default of a field or an argument; `...` if there is none."""
        if node is None:
            return ...
        if call_name(node) == "Field":
            return self._field(cast("ast.Call", node), module)
        match node:
            case ast.Constant(value=value) if value is ...:
                return ...
            case ast.Attribute(value=ast.Name(id=owner), attr=member):
                found = self._named(owner, node, module)
                if isinstance(found, type) and issubclass(found, Enum):
                    known = found.__members__
                    if member in known:
                        return known[member]
                raise refusal(module.path, node, "this default is not known")
            case _:
                return literal(node, module.path)

    def _field(self, node: Any, module: Module) -> Any:
        options: dict[str, Any] = {}
        factory = False
        for keyword in node.keywords:
            if keyword.arg == "default":
                options["default"] = self.default(keyword.value, module)
            elif keyword.arg == "default_factory":
                factory = True
            elif keyword.arg in _FIELD_OPTIONS:
                options[keyword.arg] = literal(keyword.value, module.path)
        if node.args:
            options["default"] = self.default(node.args[0], module)
        if factory:
            # The schema of a made default says nothing of it.
            options["default_factory"] = dict
        return Field(**options)


def make_model(name: str, fields: Mapping[str, Any], *, base: Any = None, doc: Any = None) -> Any:
    """A pydantic model of these fields."""
    make = cast("Callable[..., Any]", create_model)
    with warnings.catch_warnings():
        # A field may have the name of something that every model has.
        warnings.simplefilter("ignore")
        try:
            return make(name, __base__=base, __doc__=doc, **fields)
        except (NameError, TypeError, ValueError) as error:
            raise DataError(f"The fields of {name} cannot be read: {error}.") from error


def call_or_name(node: ast.expr) -> str | None:
    """The name that an expression is, or ends in: `typing.List` is List."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _first(error: Exception) -> str:
    return str(error).split("\n", maxsplit=1)[0]


def _counts(base: ast.expr) -> bool:
    return call_or_name(base) not in (None, "ABC", "Generic")


def _config(node: ast.ClassDef, module: Module) -> ConfigDict | None:
    for statement in node.body:
        target, value = None, None
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign):
            target, value = statement.target, statement.value
        if isinstance(target, ast.Name) and target.id == "model_config" and value is not None:
            options = (
                {one.arg: one.value for one in value.keywords if one.arg}
                if isinstance(value, ast.Call)
                else {}
            )
            if "extra" in options:
                return ConfigDict(extra=literal(options["extra"], module.path))
    return None


def _expression(text: str, node: ast.expr, module: Module) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise refusal(module.path, node, "this is not a type that can be read") from error


def _read_module(path: Path, root: Path) -> Module:
    tree = parse_module(path)
    imports: dict[str, tuple[str, str]] = {}
    package = path.relative_to(root).parent.parts if path.is_relative_to(root) else ()
    for statement in ast.walk(tree):
        if isinstance(statement, ast.ImportFrom):
            above = package[: len(package) - statement.level + 1] if statement.level else ()
            home = ".".join([*above, *([statement.module] if statement.module else [])])
            for alias in statement.names:
                imports[alias.asname or alias.name] = (home, alias.name)
    return Module(
        path=path,
        classes={node.name: node for node in tree.body if isinstance(node, ast.ClassDef)},
        values={
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        },
        imports=imports,
    )


def _module_path(root: Path, name: str) -> Path | None:
    place = root.joinpath(*name.split(".")) if name else root
    found = next(
        (p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()), None
    )
    # A link could lead to any file of this machine.
    return found if found is not None and found.resolve().is_relative_to(root.resolve()) else None


__all__ = ["Module", "SourceTypes", "call_or_name", "make_model"]
