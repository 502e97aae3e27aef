"""The tasks that the server knows, and the actions that a scripted agent plans for each.

They are recorded by letting the agent play the task once with a user who agrees to everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final

import orjson

from greenroom.agents.oracle import strategy as oracle
from greenroom.agents.strategies import AgentContext, AgentStrategy, Script, Stage
from greenroom.agents.synthetic import strategy as synthetic
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import Action
from greenroom.model_server.requests import BadRequest
from greenroom.trials import cell_seed
from greenroom.users import ScriptedUser

HABITS: Final = ("loose", "ask", "unknown", "missing", "garbled")
"""Extra behaviour that a model's name can ask for: "oracle+ask+loose"."""

GO_AHEAD: Final = "Yes, please go ahead."
"""How the scripted user agrees."""

_REMEMBERED = 10_000
_TRIALS = 16
"""Trials whose seeds are known, to tell tasks with the same instruction apart."""

ActionKey = tuple[str, bytes]
"""A hashable action: its name, and its arguments as JSON with sorted keys."""


def action_key(name: str, arguments: Mapping[str, Any]) -> ActionKey:
    """The key of an action; the order of its arguments does not matter."""
    return name, orjson.dumps(dict(arguments), option=orjson.OPT_SORT_KEYS)


class ActionSequence:
    """An agent's actions in order; the last one repeats."""

    def __init__(self, actions: Iterable[Action]) -> None:
        self.actions = tuple(actions)
        self._keyed = [(action_key(action.name, action.kwargs), action) for action in self.actions]

    def next_action(self, done: Iterable[ActionKey]) -> Action:
        """The first action that is not done yet; other actions are ignored."""
        left = [key for key, _ in self._keyed]
        for key in done:
            if key in left:
                left.remove(key)
        wanted = left[0] if left else self._keyed[-1][0]
        return next(action for key, action in self._keyed if key == wanted)


class PlannedActions:
    """The actions that each model takes in the tasks of a split, recorded once."""

    def __init__(self, domain: Domain, split: str, seed: int) -> None:
        self._domain = domain
        self._split = split
        self._seed = seed
        self._recorded: dict[tuple[str, int, int], ActionSequence] = {}

    async def of(self, model: str, task_index: int, trial: int) -> ActionSequence:
        """A model's actions in a trial of a task; they depend on these and the server's seed."""
        strategy, options = strategy_of(model)
        key = model if strategy is synthetic else "", task_index, trial if options else 0
        found = self._recorded.get(key)
        if found is None:
            if len(self._recorded) >= _REMEMBERED:
                self._recorded.clear()
            found = self._recorded[key] = await self._play(strategy, options, task_index, trial)
        return found

    async def _play(
        self, strategy: AgentStrategy, options: dict[str, str], task_index: int, trial: int
    ) -> ActionSequence:
        script = Script(self._domain, self._split, task_index)
        settings = strategy.check(options)
        agent = strategy.create(AgentContext(task_index, trial, self._seed, settings, script))
        steps = len(script.task.actions) + 2
        user = ScriptedUser([GO_AHEAD] * steps, does_as_asked=True)
        most = 4 * steps if self._domain.edition.counts_messages else steps
        environment = Environment(self._domain, user, split=self._split, max_steps=most)
        await environment.reset(task_index)
        await agent.play(Stage(environment))
        return ActionSequence(step.action for step in environment.steps)


def strategy_of(model: str) -> tuple[AgentStrategy, dict[str, str]]:
    """The agent that a model's name selects: the oracle, or "synthetic-CHANCE[-SPREAD]".

    >>> strategy_of("openai/synthetic-0.5")[1]
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
        raise _no_model(
            model, "it is synthetic-CHANCE or synthetic-CHANCE-SPREAD, each from 0 to 1."
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
        raise _no_model(model, f"'{unknown[0]}' is no habit. The habits are {', '.join(HABITS)}.")
    return frozenset(habits)


def _no_model(model: str, why: str) -> BadRequest:
    text = f"There is no model '{model}': {why}"
    return BadRequest(text, code="model_not_found", status=404)


class TaskFinder:
    """Finds tasks by their instruction.

    Of several with the same one, it is the one whose episode has the seed of the request: runs with
    the server's seed send it. Without such a seed it is the first.
    """

    def __init__(self, domain: Domain, split: str, seed: int = 10) -> None:
        split = domain.pack.split_named(split)
        self.tasks = domain.tasks(split)
        self.description = f"the {len(self.tasks)} tasks of {domain.name}, split {split}"
        self._seed = seed
        self._by_instruction: dict[str, list[int]] = {}
        for index, task in enumerate(self.tasks):
            self._by_instruction.setdefault(domain.brief(task).strip(), []).append(index)
        self._by_instruction.pop("", None)
        self._longest_first = sorted(self._by_instruction, key=len, reverse=True)

    def match(self, text: str, seed: int | None = None) -> int | None:
        """The task whose instruction is this text."""
        return self.chosen(text.strip(), seed)

    def find_in(self, text: str, seed: int | None = None) -> int | None:
        """The task whose instruction occurs in a text; the longest if there are several."""
        return self.chosen(self.instruction_in(text), seed)

    def instruction_in(self, text: str) -> str:
        """The longest instruction that occurs in a text; empty if there is none."""
        return next((one for one in self._longest_first if one in text), "")

    def chosen(self, instruction: str, seed: int | None) -> int | None:
        """The task with an instruction, by the seed of the request if there are several."""
        found = self._by_instruction.get(instruction, [])
        if len(found) > 1 and seed is not None:
            return self._by_seed.get(seed, found[0])
        return found[0] if found else None

    @cached_property
    def _by_seed(self) -> dict[int, int]:
        alike = [one for found in self._by_instruction.values() if len(found) > 1 for one in found]
        return {
            cell_seed(self._seed, index, trial): index
            for index in alike
            for trial in range(_TRIALS)
        }
