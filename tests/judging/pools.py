"""A pool of models that are made up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from greenroom.models import Budget, Ledger, Model, ModelPool, ModelSettings, Purse

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

    def opened(
        *, max_cost: float | None, spent_cost: float, spent_tokens: int, **_: Any
    ) -> ModelPool:
        return MadeUpPool(make, Budget(max_cost, cost=spent_cost, tokens=spent_tokens))

    monkeypatch.setattr("greenroom.judging.run.open_pool", opened)
