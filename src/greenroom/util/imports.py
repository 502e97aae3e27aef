"""Loading what people name: `file.py`, `file.py:name`, `package.module:name`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from greenroom.errors import InputError, redacted

_LOADED: dict[Path, tuple[int, ModuleType]] = {}
"""The files that are loaded, each with the time of its last change."""


def split_target(target: str, noun: str = "object") -> tuple[str, str | None]:
    """The file or module that a target names, and the name within it."""
    source, separator, name = target.rpartition(":")
    # A single letter is a drive, and the colon part of a path.
    if not separator or len(source) == 1 or "/" in name or "\\" in name:
        return target, None
    if not source or not name:
        raise InputError(f"'{target}' names no {noun}: write file.py:name or package.module:name.")
    return source, name


def is_target(text: str) -> bool:
    """Whether a text names a file or a module, rather than something registered."""
    return ":" in text or is_file(text)


def is_file(source: str) -> bool:
    """Whether a source is a file, rather than a module."""
    return source.endswith(".py") or "/" in source or "\\" in source


def absolute_target(target: str) -> str:
    """The target with the whole path of its file, so that it is found from any folder.

    Addresses, modules and registered names stay as they are.
    """
    if "://" in target:
        return target
    source, separator, name = target.rpartition(":")
    for file, rest in ((target, ""), (source, f"{separator}{name}")):
        if _exists(file):
            return f"{Path(file).resolve()}{rest}"
    return target


def load_module(source: str) -> ModuleType:
    """The module of a Python file, or the one of that name."""
    path = Path(source)
    return _from_file(path) if is_file(source) or _exists(source) else _imported(source)


def _exists(file: str) -> bool:
    try:
        return bool(file) and Path(file).is_file()
    except OSError:  # a name that is too long for a file
        return False


def place_of(given: Any, declared: Any = None) -> str | None:
    """`package.module:name` for an object that can be imported from there, else None.

    `declared` is what a decorator made of it, which may stand there in its place.
    """
    module, name = getattr(given, "__module__", None), getattr(given, "__qualname__", None)
    if not module or not name or module == "__main__" or not str(name).isidentifier():
        return None
    found = getattr(sys.modules.get(module), name, None)
    return f"{module}:{name}" if found is not None and found in (given, declared) else None


def later(package: str, **names: str) -> Callable[[str], Any]:
    """A package's `__getattr__`, which imports a module when one of its names is first used.

    For each module of the package, `names` has its public names, separated by blanks.
    """
    modules = {name: module for module, listed in names.items() for name in listed.split()}

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return find


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    whole = path.resolve()
    changed = whole.stat().st_mtime_ns
    known = _LOADED.get(whole)
    if known is not None and known[0] == changed:
        return known[1]
    digest = hashlib.sha256(os.fsencode(whole)).hexdigest()[:8]
    name = f"greenroom_file_{''.join(c if c.isalnum() else '_' for c in path.stem)}_{digest}"
    spec = importlib.util.spec_from_file_location(name, whole)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file: its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    _make_importable(whole.parent)
    # Data classes look their module up while it is executed.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _cannot_load(str(path), error, whole) from error
    _LOADED[whole] = changed, module
    return module


def _imported(source: str) -> ModuleType:
    _make_importable(Path.cwd())
    try:
        return importlib.import_module(source)
    except ModuleNotFoundError as error:
        if error.name is not None and (source == error.name or source.startswith(f"{error.name}.")):
            raise InputError(
                f"There is no module '{source}', and no file of that name. A file is given as "
                "app.py or app.py:name."
            ) from error
        raise _cannot_load(source, error) from error
    except (Exception, SystemExit) as error:
        raise _cannot_load(source, error) from error


def _make_importable(directory: Path) -> None:
    """Let a file import the modules beside it."""
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))


def _cannot_load(source: str, error: BaseException, file: Path | None = None) -> InputError:
    if isinstance(error, InputError):  # its text says everything
        return error
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    where = f"{source}, line {line}" if line else source
    return InputError(f"{where}: {type(error).__name__}: {redacted(str(error))}")


def source_of(source: str) -> Path | None:
    """The file of a Python file or of a module that is loaded; None if it has none."""
    if is_file(source) or _exists(source):
        return Path(source).resolve()
    return _file_of(sys.modules.get(source))


def modules_within(folders: Collection[Path]) -> dict[str, tuple[Path, ModuleType]]:
    """The loaded modules whose files are in these folders or below, installed packages left out."""
    found: dict[str, tuple[Path, ModuleType]] = {}
    for name, module in list(sys.modules.items()):
        file = _file_of(module)
        if file is None or "site-packages" in file.parts or name.partition(".")[0] == "greenroom":
            continue
        if any(file.is_relative_to(folder) for folder in folders):
            found[name] = file, module
    return found


def forget_modules(modules: Mapping[str, tuple[Path, ModuleType]]) -> None:
    """Have these modules loaded anew when they are next asked for."""
    for name, (file, _) in modules.items():
        sys.modules.pop(name, None)
        _LOADED.pop(file, None)
    importlib.invalidate_caches()


def restore_modules(modules: Mapping[str, tuple[Path, ModuleType]]) -> None:
    """Put modules back that were forgotten."""
    for name, (_, module) in modules.items():
        sys.modules[name] = module


def _file_of(module: ModuleType | None) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if isinstance(file, str) and file.endswith(".py") else None
