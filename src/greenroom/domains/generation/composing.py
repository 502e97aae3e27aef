"""Tasks that are put together from wishes, after plans."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from greenroom.domains.generation.plans import Mix, TaskPlan, draw_plans
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.domains.generation.acceptance import Acceptance
    from greenroom.domains.tasks import Action, Task

T = TypeVar("T")

_ATTEMPTS: Final = 4000
_EXACT_ATTEMPTS: Final = 60
"""So many drawn tasks have to name as many lookups as planned; from then on fewer will do."""
_STORY: Final = 0.6
_PERSONA: Final = 0.9
_MANNER: Final = 0.25
_BEGINNING: Final = re.compile(r"(?:^|(?<=[.?!] ))[a-z]")


class Unsuitable(Exception):
    """A wish does not fit the user."""


def needed(found: T | None) -> T:
    """What a wish cannot do without; raise Unsuitable if there is none."""
    if found is None:
        raise Unsuitable
    return found


@dataclass(frozen=True)
class Wish:
    """A wish: its text for the simulated user, the actions and the outputs."""

    text: str
    actions: tuple[Action, ...]
    outputs: tuple[str, ...] = ()


class Talk(Protocol):
    """A user's conversation, which wishes are drawn for."""

    @property
    def rng(self) -> Random:
        """The random numbers of the pack."""
        ...

    def say(self, text: str, /, **words: str) -> str:
        """One way to say something."""
        ...


V = TypeVar("V", bound=Talk)
Draw = Callable[[V], Wish]
"""Draws a wish for a conversation; raises Unsuitable if it does not fit the user."""


@dataclass(frozen=True)
class Pools(Generic[V]):
    """What wishes are drawn from."""

    single: Sequence[Draw[V]]
    """One change."""
    single_with_answer: Sequence[Draw[V]]
    """One change and one output."""
    double: Sequence[Draw[V]]
    """Two changes."""
    corrected: Sequence[Draw[V]]
    """One change, which the user corrects half-way."""
    dropped: Sequence[Draw[V]]
    """A request that policy forbids, and that the user then drops."""
    settled: Sequence[Draw[V]]
    """A request that policy forbids, with one change that the user has made instead."""
    answers: Sequence[Draw[V]]
    """A question, whose answer no wish can change."""
    quiet_answers: Sequence[Draw[V]]
    """A question for a conversation in which nothing is changed."""
    handover: Draw[V]
    """A request that needs a person; it comes last."""
    only_one_of: Sequence[Draw[V]] = ()
    """Of these, a conversation has one at most."""


def draw_wishes(talk: V, plan: TaskPlan, pools: Pools[V]) -> list[Wish]:
    """The wishes of a plan, in random order; raise Unsuitable if they do not fit the user."""
    rng, writes, outputs = talk.rng, plan.writes, plan.outputs
    chosen: list[Draw[V]] = []
    drawn: list[Wish] = []
    if plan.correction:
        chosen.append(rng.choice(pools.corrected))
        writes -= 1
    if plan.refusal:
        settles = bool(pools.settled) and writes > 0 and rng.random() < 0.5
        draw = rng.choice(pools.settled if settles else pools.dropped)
        drawn.append(_pressed(talk, draw(talk)) if plan.pressure else draw(talk))
        writes -= settles
    while writes > 0:
        if pools.double and writes > 1 and rng.random() < 0.3:
            chosen.append(rng.choice(pools.double))
            writes -= 2
        elif pools.single_with_answer and outputs and rng.random() < 0.5:
            chosen.append(rng.choice(pools.single_with_answer))
            writes, outputs = writes - 1, outputs - 1
        else:
            chosen.append(rng.choice(pools.single))
            writes -= 1
    if sum(draw in pools.only_one_of for draw in chosen) > 1:
        raise Unsuitable
    chosen += rng.sample(pools.answers if plan.writes else pools.quiet_answers, outputs)
    drawn += [draw(talk) for draw in chosen]
    rng.shuffle(drawn)
    if plan.transfer:
        drawn.append(pools.handover(talk))
    return drawn


def _pressed(talk: Talk, wish: Wish) -> Wish:
    return Wish(f"{wish.text} {talk.say('pressure')}", wish.actions, wish.outputs)


def tell(talk: Talk, plan: TaskPlan, drawn: Sequence[Wish], introduction: str, last: str) -> str:
    """The instruction: who the user is, what they want, and in which manner.

    `last` is said after the wishes, if it is not empty.
    """
    rng = talk.rng
    parts: list[str] = []
    for place, wish in enumerate(drawn):
        if place and rng.random() < 0.5:
            parts.append(talk.say("bridge"))
        parts.append(wish.text)
    if last:
        parts.append(last)
    # Somebody who keeps a request for the end does not bring up everything at once.
    if len(drawn) > 1 and not plan.transfer and rng.random() < _MANNER:
        parts.append(talk.say("manner"))
    if rng.random() < _STORY:
        parts.insert(0, talk.say("story"))
    if rng.random() < _PERSONA:
        parts.insert(0, talk.say("persona"))
    parts.insert(0 if rng.random() < 0.4 else len(parts), talk.say("trait"))
    return _BEGINNING.sub(lambda found: found[0].upper(), " ".join([introduction, *parts]))


def without_repeats(drawn: Iterable[Wish]) -> list[Action]:
    """The actions of wishes in turn; everything is looked up only once."""
    actions: dict[str, Action] = {}
    for wish in drawn:
        for action in wish.actions:
            actions.setdefault(f"{action.name} {dict(action.kwargs)}", action)
    return list(actions.values())


def named_actions(
    actions: Sequence[Action],
    plan: TaskPlan,
    stays: Callable[[Action], bool],
    needed_ones: Sequence[Action],
) -> tuple[Action, ...]:
    """The actions that the ground truth of a plan names.

    Official ground truths name some lookups or none, and rewards do not depend on them. Those that
    are needed come first. What `stays`, such as a change, is always named.
    """
    if plan.lookups is None:
        return tuple(needed_ones)
    others = [place for place, action in enumerate(actions) if not stays(action)]
    others.sort(key=lambda place: actions[place] not in needed_ones)
    left = plan.lookups - plan.transfer
    chosen = set(others[: max(0, left)])
    return tuple(action for place, action in enumerate(actions) if stays(action) or place in chosen)


def outputs_of(drawn: Iterable[Wish]) -> tuple[str, ...]:
    """The outputs of wishes, each once."""
    return tuple(dict.fromkeys(output for wish in drawn for output in wish.outputs))


def draw_planned_tasks(
    rng: Random,
    mix: Mix,
    count: int,
    acceptance: Acceptance,
    draw: Callable[[TaskPlan, int], Task | None],
) -> list[Task]:
    """This many tasks in the shares of a mix; each one is played first."""
    tasks: list[Task] = []
    for number, plan in enumerate(draw_plans(rng, mix, count)):
        candidates = ((attempt, draw(plan, number)) for attempt in range(_ATTEMPTS))
        found = (
            task
            for attempt, task in candidates
            if task
            and _as_planned(task, plan, acceptance, exactly=attempt < _EXACT_ATTEMPTS)
            and acceptance.accepts(task)
        )
        task = next(found, None)
        if task is None:
            raise InputError(
                f"This seed yields {number} different tasks, not {count}: choose another seed or "
                "fewer tasks."
            )
        tasks.append(task)
    return tasks


def _as_planned(task: Task, plan: TaskPlan, acceptance: Acceptance, *, exactly: bool) -> bool:
    writes = sum(acceptance.writes(action) for action in task.actions)
    others = len(task.actions) - writes
    if exactly and plan.lookups is not None and others != max(plan.lookups, plan.transfer):
        return False
    return (writes, len(task.outputs)) == (plan.writes, plan.outputs)
