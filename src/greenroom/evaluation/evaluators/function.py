"""The evaluator that is a Python function of one's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio.to_thread
from pydantic import Field

from greenroom.errors import InputError, UnknownName, redacted
from greenroom.evaluation.evaluators.reading import raw_pair
from greenroom.evaluation.evaluators.returned import NoScore, read_score
from greenroom.evaluation.evaluators.types import (
    CASE_FIELDS,
    Case,
    EvaluatorContext,
    EvaluatorKind,
    ExpectingSettings,
    Score,
    Unscored,
)
from greenroom.options import Reference
from greenroom.util.attempt_logs import log_error
from greenroom.util.imports import load_module, split_target

PARAMETERS = ("case", "output", *CASE_FIELDS)
"""What a function may ask for, by name."""


class PlainSettings(ExpectingSettings):
    """Settings of a function that is named itself."""

    threshold: float = Field(
        default=0.5, ge=0, le=1, description="Passed from this score on, if it does not say so."
    )


class FunctionSettings(PlainSettings):
    """Settings of python."""

    function: Reference = Field(description="file.py:function, or package.module:function.")


@dataclass(frozen=True)
class _FunctionScorer:
    settings: PlainSettings
    function: Callable[..., Any]
    asked_for: tuple[str, ...]
    name: str

    async def evaluate(self, case: Case) -> Score:
        compared, against = raw_pair(case)
        known = {"case": case, "output": compared} | case.fields()
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
            reason = f"{self.name}: {error}"
        except Exception as error:
            log_error(error)
            reason = f"{self.name}: {type(error).__name__}: {error}"
        raise Unscored(redacted(reason), compared=compared, against=against, broken=True)

    async def close(self) -> None:
        """Nothing is open."""


def load_function(target: str) -> Callable[..., Any]:
    """The function that file.py:name or module:name means."""
    source, name = split_target(target, "function")
    if name is None or not name.isidentifier():
        raise InputError(
            f"'{target}' names no function: write file.py:function or module:function."
        )
    module = load_module(source)
    found = getattr(module, name, None)
    if not callable(found):
        functions = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise UnknownName(f"function in {source}", name, functions)
    return found


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


def wrap_function(found: Any, name: str) -> EvaluatorKind | None:
    """A kind of evaluator from a plain function."""
    if not inspect.isfunction(found):
        return None
    summary = (inspect.getdoc(found) or "").split("\n")[0]
    return EvaluatorKind(
        name, lambda chosen, _: _scorer(chosen, found, name), PlainSettings, summary
    )


def _scorer(settings: PlainSettings, function: Callable[..., Any], name: str) -> _FunctionScorer:
    return _FunctionScorer(settings, function, _parameters(function, name), name)


def _create(settings: FunctionSettings, _: EvaluatorContext) -> _FunctionScorer:
    return _scorer(settings, load_function(settings.function), settings.function)


python = EvaluatorKind("python", _create, FunctionSettings, "a Python function of your own")
