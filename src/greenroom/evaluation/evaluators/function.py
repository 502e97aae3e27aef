"""The evaluator that is a Python function of one's own."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio.to_thread
from pydantic import Field

from greenroom.errors import InputError, UnknownName, redacted
from greenroom.evaluation.evaluators.reading import raw_pair
from greenroom.evaluation.evaluators.returned import NoScore, read_score
from greenroom.evaluation.evaluators.types import (
    Case,
    EvaluatorContext,
    EvaluatorKind,
    Score,
    Settings,
    Unscored,
)

PARAMETERS = (
    "case",
    "output",
    "outputs",
    "expected",
    "inputs",
    "is_chat",
    "conversation",
    "parameters",
    "seconds",
    "cost",
)
"""What a function may ask for, by name."""


class FunctionSettings(Settings):
    """Settings of python."""

    function: str = Field(description="file.py:function, or package.module:function.")
    threshold: float = Field(
        default=0.5, ge=0, le=1, description="Passed from this score on, if it does not say so."
    )


@dataclass(frozen=True)
class _FunctionScorer:
    settings: FunctionSettings
    function: Callable[..., Any]
    asked_for: tuple[str, ...]

    async def evaluate(self, case: Case) -> Score:
        compared, against = raw_pair(case)
        known = {"case": case, "output": compared} | {
            name: getattr(case, name) for name in PARAMETERS[2:]
        }
        call = partial(self.function, **{name: known[name] for name in self.asked_for})
        try:
            # A function of one's own may take its time: it must not hold up the others.
            if inspect.iscoroutinefunction(self.function):
                value = await call()
            else:
                value = await anyio.to_thread.run_sync(call)
            return read_score(
                value, compared=compared, against=against, threshold=self.settings.threshold
            )
        except NoScore as error:
            reason = f"{self.settings.function}: {error}"
        except Exception as error:
            reason = f"{self.settings.function}: {type(error).__name__}: {error}"
        raise Unscored(redacted(reason), compared=compared, against=against, broken=True)

    async def close(self) -> None:
        """Nothing is open."""


def load_function(target: str) -> Callable[..., Any]:
    """The function that file.py:name or module:name means."""
    source, separator, name = target.rpartition(":")
    if not separator or not source or not name.isidentifier():
        raise InputError(
            f"'{target}' names no function: write file.py:function or module:function."
        )
    module = _from_file(Path(source)) if source.endswith(".py") else _imported(source)
    found = getattr(module, name, None)
    if not callable(found):
        functions = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise UnknownName(f"function in {source}", name, functions)
    return found


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    spec = importlib.util.spec_from_file_location(f"greenroom_evaluator_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(
            f"{path} cannot be loaded: {type(error).__name__}: {redacted(str(error))}"
        ) from error
    return module


def _imported(name: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise InputError(
            f"The module '{name}' cannot be loaded: {type(error).__name__}: {redacted(str(error))}"
        ) from error


def _parameters(function: Callable[..., Any], target: str) -> tuple[str, ...]:
    asked_for: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name in PARAMETERS:
            asked_for.append(parameter.name)
        elif parameter.default is parameter.empty:
            raise UnknownName(f"parameter of {target}", parameter.name, PARAMETERS)
    return tuple(asked_for)


def _create(settings: FunctionSettings, context: EvaluatorContext) -> _FunctionScorer:
    source, _, name = settings.function.rpartition(":")
    if source.endswith(".py"):
        # An evaluation is resumed from wherever its owner stands then.
        settings = settings.model_copy(update={"function": f"{Path(source).resolve()}:{name}"})
    function = load_function(settings.function)
    return _FunctionScorer(settings, function, _parameters(function, settings.function))


python = EvaluatorKind("python", _create, FunctionSettings, "a Python function of your own")
