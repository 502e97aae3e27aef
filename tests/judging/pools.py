"""A pool of models that are made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from greenroom.config import WorkConfig
from greenroom.models import Budget, Ledger, Model, ModelPool, ModelSettings, Purse
from greenroom.store import Usage

MakeModel = Callable[[str], Model]
"""A model by the scope of its cached answers, which names task and trial."""


class MadeUpPool(ModelPool):
    """Gives the same answers whatever the settings."""

    def __init__(self, make: MakeModel, budget: Budget) -> None:
        super().__init__(budget=budget)
        self._make = make

    def model(
        self,
        settings: ModelSettings,
        purse: Purse,
        ledger: Ledger,
        *,
        scope: str = "",
        seed: int | None = None,
    ) -> Model:
        return ledger.model(purse, self._make(scope))


def use_models(monkeypatch: pytest.MonkeyPatch, make: MakeModel) -> None:
    """Have judgings ask these models."""
    use_pool(monkeypatch, lambda budget: MadeUpPool(make, budget))


def use_pool(monkeypatch: pytest.MonkeyPatch, make: Callable[[Budget], ModelPool]) -> None:
    """Have judgings ask this pool."""

    def opened(config: WorkConfig, used: Sequence[Usage]) -> ModelPool:
        spent = sum(one.cost or 0.0 for one in used)
        return make(Budget(config.max_cost, cost=spent))

    monkeypatch.setattr("greenroom.judging.run.open_models", opened)
