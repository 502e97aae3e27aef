"""Breaks modules of Greenroom for a while: every function in them raises, also in child processes.

A test that still passes while the code that it is said to show is broken shows something else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
VARIABLE = "GREENROOM_TEST_BROKEN"
"""The names of the broken modules, for child processes."""

_ON_START = """
import os, sys
sys.path.insert(0, {root!r})
from tests.broken_code import VARIABLE, Breaker
if names := os.environ.get(VARIABLE):
    Breaker(names.split(",")).install()
"""


def modules_of(place: str) -> list[str]:
    """The modules that a place under src/greenroom names: a file, a folder or a pattern."""
    source = ROOT / "src/greenroom"
    found = [
        file
        for path in source.glob(place.rstrip("/"))
        for file in ([path] if path.is_file() else path.rglob("*.py"))
    ]
    names = [file.relative_to(source.parent).with_suffix("") for file in found]
    return sorted(".".join(name.parts).removesuffix(".__init__") for name in names)


@contextmanager
def broken(places: list[str], folder: Path) -> Generator[None]:
    """Break the modules of these places; the folder is for what child processes read."""
    names = [name for place in places for name in modules_of(place)]
    (folder / "sitecustomize.py").write_text(_ON_START.format(root=str(ROOT)))
    path = os.environ.get("PYTHONPATH")
    os.environ |= {
        VARIABLE: ",".join(names),
        "PYTHONPATH": f"{folder}:{path}" if path else str(folder),
    }
    breaker = Breaker(names)
    breaker.install()
    try:
        yield
    finally:
        breaker.remove()
        del os.environ[VARIABLE], os.environ["PYTHONPATH"]
        if path:
            os.environ["PYTHONPATH"] = path


class Breaker:
    """Breaks modules that are loaded, and those that are loaded later."""

    def __init__(self, names: list[str]) -> None:
        self._names = set(names)
        self._changed: list[tuple[FunctionType, CodeType]] = []

    def install(self) -> None:
        sys.meta_path.insert(0, self)  # pyright: ignore[reportArgumentType]
        for name in self._names & sys.modules.keys():
            self.damage(sys.modules[name])

    def remove(self) -> None:
        sys.meta_path.remove(self)  # pyright: ignore[reportArgumentType]
        for function, code in self._changed:
            function.__code__ = code

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self._names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_damage(module: ModuleType) -> None:
                load(module)
                self.damage(module)

            spec.loader.exec_module = load_and_damage
        return spec

    def damage(self, module: ModuleType) -> None:
        for function in _functions(vars(module), module):
            code = function.__code__
            # The new code is where all that hold the function find it.
            function.__code__ = _raises.__code__.replace(co_freevars=code.co_freevars)
            self._changed.append((function, code))


def _raises(*_: Any, **__: Any) -> None:
    raise RuntimeError("this module is broken on purpose")


def _functions(names: dict[str, Any], module: ModuleType) -> Iterator[FunctionType]:
    for value in list(names.values()):
        if isinstance(value, type):
            if value.__module__ == module.__name__:
                yield from _functions(dict(vars(value)), module)
            continue
        # Static methods, properties and what keeps its answers hold the function.
        held = (getattr(value, name, None) for name in ("__func__", "func", "fget", "__wrapped__"))
        for one in (value, *held):
            # What a decorator of another module made, or a dataclass, stays as it is.
            if isinstance(one, FunctionType) and one.__code__.co_filename == module.__file__:
                yield one
