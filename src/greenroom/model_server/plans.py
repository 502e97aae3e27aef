"""What an agent will do in a task, known beforehand, and how far a conversation has got with it.

The plan is made by letting the agent play the task once, against a user who agrees to everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from greenroom.agents.oracle import strategy as oracle
from greenroom.agents.strategies import AgentContext, AgentStrategy, Script, Stage
from greenroom.agents.synthetic import strategy as synthetic
from greenroom.domains.actions import Action
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment
from greenroom.model_server.asking import BadRequest
from greenroom.model_server.words import GO_AHEAD
from greenroom.users import ScriptedUser

HABITS: Final = ("loose", "ask", "unknown", "missing", "garbled")
"""What a model can be told to do on its way, by its name: "oracle+ask+loose"."""

_REMEMBERED = 10_000

Deed = tuple[str, bytes]
"""An action that can be looked up: its name, and its arguments as JSON with sorted keys."""


def deed(name: str, arguments: Mapping[str, Any]) -> Deed:
    """The deed that an action is; the order of its arguments does not matter."""
    return name, orjson.dumps(dict(arguments), option=orjson.OPT_SORT_KEYS)


class Plan:
    """What is to be done, in order; the last of it is repeated for as long as it takes."""

    def __init__(self, actions: Iterable[Action]) -> None:
        self.actions = tuple(actions)
        self._deeds = [(deed(action.name, action.kwargs), action) for action in self.actions]

    def next_action(self, done: Iterable[Deed]) -> Action:
        """The first action that was not done yet; what else was done does not count."""
        left = [planned for planned, _ in self._deeds]
        for one in done:
            if one in left:
                left.remove(one)
        wanted = left[0] if left else self._deeds[-1][0]
        return next(action for planned, action in self._deeds if planned == wanted)


class Plans:
    """The plans of a split's tasks by the model that is to play them, each made once."""

    def __init__(self, domain: Domain, split: str, seed: int) -> None:
        self._domain = domain
        self._split = split
        self._seed = seed
        self._plans: dict[tuple[str, int, int], Plan] = {}

    async def plan(self, model: str, task_index: int, trial: int) -> Plan:
        """What a model does in a trial of a task: a function of these and the server's seed."""
        strategy, options = behaviour(model)
        key = model if strategy is synthetic else "", task_index, trial if options else 0
        found = self._plans.get(key)
        if found is None:
            if len(self._plans) >= _REMEMBERED:
                self._plans.clear()
            found = self._plans[key] = await self._play(strategy, options, task_index, trial)
        return found

    async def _play(
        self, strategy: AgentStrategy, options: dict[str, str], task_index: int, trial: int
    ) -> Plan:
        script = Script(self._domain, self._split, task_index)
        agent = strategy.create(
            AgentContext(
                task_index=task_index,
                trial=trial,
                seed=self._seed,
                settings=strategy.check(options),
                script=script,
            )
        )
        steps = len(script.task.actions) + 2
        user = ScriptedUser([GO_AHEAD] * steps)
        environment = Environment(self._domain, user, split=self._split, max_steps=steps)
        await environment.reset(task_index)
        await agent.play(Stage(environment))
        return Plan(step.action for step in environment.steps)


def behaviour(model: str) -> tuple[AgentStrategy, dict[str, str]]:
    """Who plays under a model's name: the oracle, unless it is "synthetic-CHANCE[-SPREAD]".

    >>> behaviour("openai/synthetic-0.5")[1]
    {'success': '0.5', 'spread': '0'}
    """
    habits_of(model)
    name, *given = model.rpartition("/")[2].partition("+")[0].split("-")
    if name != synthetic.name:
        return oracle, {}
    success, spread, *more = [*given, *("0.8", "0")[len(given) :]]
    options = {"success": success, "spread": spread}
    try:
        shares = [float(share) for share in options.values()]
    except ValueError:
        shares = [-1.0]
    if more or not all(0 <= share <= 1 for share in shares):
        raise BadRequest(
            f"There is no model '{model}': it is synthetic-CHANCE or synthetic-CHANCE-SPREAD, "
            "each from 0 to 1.",
            code="model_not_found",
            status=404,
        )
    return synthetic, options


def habits_of(model: str) -> frozenset[str]:
    """The habits in a model's name.

    >>> sorted(habits_of("synthetic-0.5+loose+ask"))
    ['ask', 'loose']
    """
    habits = model.rpartition("/")[2].split("+")[1:]
    unknown = [habit for habit in habits if habit not in HABITS]
    if unknown:
        raise BadRequest(
            f"There is no model '{model}': nobody has the habit '{unknown[0]}'. "
            f"It is one of {', '.join(HABITS)}.",
            code="model_not_found",
            status=404,
        )
    return frozenset(habits)
