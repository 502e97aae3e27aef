"""Which evaluators there are, and how one is made ready: found by name, its settings checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from greenroom.errors import InputError, redacted
from greenroom.evaluation.evaluators.function import wrap_function
from greenroom.evaluation.evaluators.specs import HOW, EvaluatorSpec, parse_spec
from greenroom.evaluation.evaluators.types import (
    Case,
    EvaluatorContext,
    EvaluatorKind,
    ExpectingSettings,
    Missed,
    OpenModel,
    Score,
    Scorer,
    Unscored,
)
from greenroom.models.types import BudgetExhausted
from greenroom.options import check_settings, stored_settings
from greenroom.registry import Registry

ENTRY_POINTS = "greenroom.evaluators"


class Evaluator:
    """An evaluator that is ready: it scores cases, and never raises for what a case holds."""

    def __init__(self, spec: EvaluatorSpec, scorer: Scorer) -> None:
        self.name = spec.name
        self.alias = spec.alias
        self._scorer = scorer

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that differ from the defaults: enough to make the same evaluator again."""
        return stored_settings(self._scorer.settings)

    @property
    def expected_column(self) -> str | None:
        """The column with what it expects, if it has one of its own."""
        settings = self._scorer.settings
        return settings.expected if isinstance(settings, ExpectingSettings) else None

    @property
    def spec(self) -> dict[str, Any]:
        """Name, alias and settings as JSON, for keeping."""
        return EvaluatorSpec(self.name, self.alias, self.settings).as_dict()

    async def evaluate(self, case: Case) -> Score:
        """The score of a case.

        Bad input and a spent budget are raised. Whatever else goes wrong is a score
        of None that says so.
        """
        try:
            return await self._scorer.evaluate(case)
        except (Unscored, Missed) as error:
            return error.score
        except (InputError, BudgetExhausted):
            raise
        except Exception as error:
            reason = redacted(f"{self.name} broke: {type(error).__name__}: {error}")
            return Score(None, None, case.outputs, case.expected, reason, broken=True)

    async def close(self) -> None:
        """Let go of what is open."""
        await self._scorer.close()


_REGISTRY = Registry(ENTRY_POINTS, EvaluatorKind, "evaluator", wrap_function)


def evaluator_names() -> list[str]:
    """The names of all installed evaluators."""
    return _REGISTRY.names()


def name_of_evaluator(evaluator: Any) -> str:
    """The name of an evaluator that is given as an object: an EvaluatorKind or a function."""
    ships = isinstance(evaluator, EvaluatorKind) and evaluator.name in evaluator_names()
    if ships and load_kind(evaluator.name) is evaluator:
        return evaluator.name
    return _REGISTRY.name_of(evaluator)


def load_kind(name: str) -> EvaluatorKind:
    """The kind of evaluator of that name, or the one that `file.py:name` or `module:name` means."""
    source, separator, setting = name.partition(":")
    if separator and source in evaluator_names():
        raise InputError(f"'{setting}' in '{name}' is no setting: {HOW}.")
    return _REGISTRY.load(name)


def make_evaluator(
    given: str | Mapping[str, Any] | EvaluatorSpec, *, models: OpenModel | None = None
) -> Evaluator:
    """An evaluator from what a person wrote, or from what was kept; its settings are checked.

    `models` opens the models that evaluators ask; its owner closes them. Without it each opens its
    own.
    """
    spec = parse_spec(given)
    kind = load_kind(spec.name)
    settings = check_settings(f"the {kind.name} evaluator", kind.settings, spec.settings)
    return Evaluator(spec, kind.create(settings, EvaluatorContext(models=models)))


def make_evaluators(
    given: Iterable[str | Mapping[str, Any] | EvaluatorSpec], *, models: OpenModel | None = None
) -> list[Evaluator]:
    """Several evaluators, each under an alias of its own."""
    specs = [parse_spec(one) for one in given]
    aliases = [spec.alias for spec in specs]
    for spec in specs:
        if aliases.count(spec.alias) > 1:
            raise InputError(
                f"Two evaluators are called '{spec.alias}': write another name before one of them, "
                f"such as my_{spec.name}={spec.name}."
            )
    return [make_evaluator(spec, models=models) for spec in specs]
