"""What the cells of an evaluation share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import anyio
from pydantic import BaseModel

from greenroom.domains.environment import SimulatedUser
from greenroom.errors import InputError
from greenroom.evaluation.config import EvaluationConfig
from greenroom.evaluation.evaluators import Evaluator, make_evaluators
from greenroom.evaluation.recorded import Recordings
from greenroom.evaluation.row_calls import RowPlan
from greenroom.evaluation.row_evaluators import row_evaluators
from greenroom.evaluation.simulated import Brief
from greenroom.models import Ledger, ModelSettings
from greenroom.models.pool import ModelPool
from greenroom.store import EvaluationRecord, TestSetVersion, Usage
from greenroom.trials import open_models
from greenroom.users import Goal, UserContext, UserStrategy, find_user_strategy
from greenroom.workflows.calls import Target


@dataclass(frozen=True)
class EvaluationContext:
    """Everything that the cells of an evaluation share. Close its target after use.

    `opened` adds what has to be closed again: the models and the evaluators.
    """

    config: EvaluationConfig
    target: Target
    version: TestSetVersion
    rows: RowPlan
    row_count: int
    user_strategy: UserStrategy | None = None
    """Who plays the users, if rows have goals."""
    recordings: Recordings | None = None
    """Where outputs are found that are scored without a call."""
    own_evaluators: Sequence[dict[str, Any]] = ()
    """Evaluators that only rows name: name, alias and how many rows."""
    pool: ModelPool | None = None
    evaluators: Sequence[Evaluator] = ()

    @cached_property
    def user_settings(self) -> BaseModel:
        """The simulated user's settings."""
        assert self.user_strategy is not None  # it was found with the first goal
        return self.user_strategy.check(self.config.user_options)

    @property
    def interactive(self) -> bool:
        """Whether a person plays the user: one conversation at a time."""
        return self.user_strategy is not None and self.user_strategy.interactive

    @asynccontextmanager
    async def opened(
        self, evaluation: EvaluationRecord, used: Sequence[Usage] = ()
    ) -> AsyncGenerator[EvaluationContext]:
        """The context with its models and evaluators open.

        `used` is what the evaluation has used before; it counts towards the budget.
        """
        async with open_models(self.config, used) as pool:
            specs = [spec for spec in evaluation.evaluators if "rows" not in spec]
            evaluators = make_evaluators(specs, models=pool.client)
            try:
                yield replace(self, pool=pool, evaluators=evaluators)
            finally:
                with anyio.CancelScope(shield=True):
                    for evaluator in evaluators:
                        await evaluator.close()

    def evaluators_of(self, row: Mapping[str, Any], position: int) -> list[Evaluator]:
        """Those of all rows; the row's own take the place of those with the same alias."""
        own = row_evaluators(row, position, self.rows.roles)
        return list({one.alias: one for one in (*self.evaluators, *own)}.values())

    def create_user(
        self, ledger: Ledger, scope: str, seed: int, row: Mapping[str, Any]
    ) -> SimulatedUser:
        """The simulated user of a row's conversation, paid from the user's purse."""
        strategy, config = self.user_strategy, self.config
        assert strategy is not None  # it was found with the first goal
        model = None
        if strategy.needs_model and config.user_model and self.pool is not None:
            settings = ModelSettings(
                model=config.user_model,
                provider=config.user_model_provider,
                api_base=config.user_api_base,
                temperature=None,
            )
            model = self.pool.model(settings, "user", ledger, scope=scope, seed=seed)
        return strategy.create(
            UserContext(model, seed, self.user_settings, persona=config.user_persona, row=row)
        )

    def check_user(self, row: Mapping[str, Any], position: int) -> None:
        """Raise InputError for a row that its simulated user cannot play."""
        strategy = self.user_strategy
        if strategy is not None and strategy.check_case is not None:
            try:
                columns = [column.name for column in self.version.columns]
                case = UserContext(settings=self.user_settings, row=row, columns=columns)
                strategy.check_case(case)
            except InputError as error:
                raise InputError(f"Row {position + 1}: {error}") from error

    def goals_of(self, row: Mapping[str, Any]) -> Sequence[Goal]:
        """When the user of a row has what they want, as far as a script says so."""
        strategy = self.user_strategy
        if strategy is None or strategy.goals is None:
            return ()
        return strategy.goals(UserContext(settings=self.user_settings, row=row))

    def instruction(self, brief: Brief) -> str:
        """What the user is told; a user that only recites gets the goal alone."""
        strategy = self.user_strategy
        plays = strategy is not None and (strategy.needs_model or strategy.interactive)
        return brief.instruction if plays else brief.goal


def find_user(config: EvaluationConfig) -> UserStrategy:
    """The strategy of simulated users; raises where it needs a model and none is named."""
    strategy = find_user_strategy(config.user_strategy)
    if strategy.needs_model and not config.user_model:
        raise InputError(
            f"The {strategy.name} user asks a language model: name it by --user-model."
        )
    strategy.check_persona(config.user_persona)
    return strategy
