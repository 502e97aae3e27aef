"""Finding workflows by what a person types: app.py, app.py:name, package.module:name."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from greenroom.errors import InputError, UnknownName, redacted
from greenroom.workflows.declare.workflow import Workflow


def load_workflows(*targets: str) -> list[Workflow]:
    """The workflows of each target, in the order of the files; none twice.

    A target is a Python file or a module, with `:name` for one of its workflows.
    """
    modules: dict[str, ModuleType] = {}
    found: list[Workflow] = []
    for target in targets:
        source, name = _split(target)
        if source not in modules:
            modules[source] = _module(source)
        chosen = _chosen(modules[source], source, name)
        found += [one for one in chosen if not any(one is known for known in found)]
    return found


def _split(target: str) -> tuple[str, str | None]:
    source, separator, name = target.rpartition(":")
    # A single letter is a drive, and the colon part of a path.
    if not separator or len(source) == 1 or "/" in name or "\\" in name:
        return target, None
    if not source or not name:
        raise InputError(f"'{target}' names no workflow: write app.py, or app.py:name.")
    return source, name


def _chosen(module: ModuleType, source: str, name: str | None) -> list[Workflow]:
    declared = {key: one for key, one in vars(module).items() if isinstance(one, Workflow)}
    if name is None:
        unique = list({id(one): one for one in declared.values()}.values())
        if unique:
            return unique
        raise InputError(
            f"There is no workflow in {source}. Write above a function:\n"
            "  from greenroom import chat_workflow\n  @chat_workflow"
        )
    if name in declared:
        return [declared[name]]
    by_name = [one for one in declared.values() if name in (one.name, one.slug)]
    if by_name:
        return by_name[:1]
    if callable(getattr(module, name, None)):
        raise InputError(
            f"'{name}' of {source} is not declared as a workflow. Write above it: @workflow, or "
            "@chat_workflow if it takes messages and answers with messages."
        )
    raise UnknownName("workflow", name, declared)


def _module(source: str) -> ModuleType:
    path = Path(source)
    if path.suffix == ".py" or path.is_file() or "/" in source or "\\" in source:
        return _from_file(path)
    return _imported(source)


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    whole = path.resolve()
    digest = hashlib.sha256(str(whole).encode()).hexdigest()[:8]
    name = f"greenroom_app_{''.join(c if c.isalnum() else '_' for c in path.stem)}_{digest}"
    spec = importlib.util.spec_from_file_location(name, whole)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file: its name has to end in .py.")
    module = importlib.util.module_from_spec(spec)
    _findable(whole.parent)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _cannot_load(str(path), error, whole) from error
    return module


def _imported(source: str) -> ModuleType:
    _findable(Path.cwd())
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


def _findable(directory: Path) -> None:
    """Let a workflow import the modules that lie beside it."""
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))


def _cannot_load(source: str, error: BaseException, file: Path | None = None) -> InputError:
    if isinstance(error, InputError):  # a workflow that is declared wrongly: its text says all
        return error
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    where = f"{source}, line {line}" if line else source
    return InputError(f"{where}: {type(error).__name__}: {redacted(str(error))}")


__all__ = ["load_workflows"]
