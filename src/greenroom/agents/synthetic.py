"""The synthetic agent: an oracle that fails on purpose at a given rate.

The chance that it solves a task is known exactly, so metrics and intervals can be compared with
the truth. Each outcome is a pure function of seed, task and trial.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from greenroom.agents.oracle import Oracle, required_script
from greenroom.agents.strategies import Agent, AgentContext, AgentStrategy, Script, Stage
from greenroom.domains.tasks import Action
from greenroom.options import Settings

if TYPE_CHECKING:
    from greenroom.agents.history import History

Share = Annotated[float, Field(ge=0, le=1)]


class SyntheticSettings(Settings):
    """The settings of the synthetic agent."""

    success: Share = Field(
        default=0.8,
        description="The chance that a task is solved, 0 to 1; the mean, if spread is set.",
    )
    spread: Share = Field(
        default=0.0,
        description="How much tasks differ, 0 to 1: each task gets a chance of its own.",
    )


def success_probability(settings: SyntheticSettings, seed: int, task_index: int) -> float:
    """The chance that the synthetic agent solves a task."""
    mean, spread = settings.success, settings.spread
    if spread == 0 or mean in (0, 1):
        return mean
    # A beta distribution around the mean; its weight falls from infinite (no spread) to 0.
    weight = 1 / spread - 1
    draw = random.Random(f"{seed}/{task_index}")  # noqa: S311
    if weight == 0:
        return float(draw.random() < mean)
    return draw.betavariate(mean * weight, (1 - mean) * weight)


class WanderingAgent:
    """Thinks until it runs out of steps."""

    async def play(self, stage: Stage) -> None:
        while not stage.over:
            await stage.step(Action("think", {"thought": "Still thinking."}))


def _create(context: AgentContext) -> Agent:
    script = required_script(context)
    draw = random.Random(f"{context.run_seed}/{context.task_index}/{context.trial}")  # noqa: S311
    chance = success_probability(context.settings, context.run_seed, context.task_index)
    if draw.random() < chance:
        return Oracle(script.domain, script.task.actions, script.task.outputs, context.history)
    return draw.choice(_ways_to_fail(script, draw, context.history))


def _ways_to_fail(script: Script, draw: random.Random, history: History | None) -> list[Agent]:
    task, decisive = script.task, script.decisive_actions
    ways: list[Agent] = []
    if decisive:
        left_out = draw.choice(decisive)
        actions = [action for index, action in enumerate(task.actions) if index != left_out]
        ways.append(Oracle(script.domain, actions, task.outputs, history))
    if task.outputs:
        ways.append(Oracle(script.domain, task.actions, (), history))
    return ways or [WanderingAgent()]


strategy = AgentStrategy(
    "synthetic",
    _create,
    "an oracle that fails on purpose, as often as it is told to",
    settings=SyntheticSettings,
    reads_script=True,
    takes_over="history",
)
