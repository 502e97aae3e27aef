"""Plans for tasks: how many changes, refusals, corrections and answers each one has.

A mix says how these are distributed. Plans keep to it exactly, not only on average, so that a small
pack has the mix of a large one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from greenroom.domains.tasks import REFUSAL

T = TypeVar("T")


@dataclass(frozen=True)
class Mix:
    """How tasks are distributed; the shares are of all tasks."""

    writes: Mapping[int, int]
    """How often a task has so many changes, in relation to each other."""
    outputs: Mapping[int, int]
    """How often a task requires so many outputs, in relation to each other."""
    refusals: float
    """Tasks that ask for something that the policy forbids."""
    pressure: float
    """Refusals that the user does not accept at once; a part of `refusals`."""
    corrections: float
    """Tasks whose user changes their mind half-way."""
    transfers: float
    """Tasks that end with a person, as the policy demands it."""
    idle: float = 0.0
    """Tasks in which refusing is all there is to do: an agent that does nothing solves them."""
    lookups: Mapping[int, Mapping[int, int]] = field(default_factory=dict[int, Mapping[int, int]])
    """For tasks with so many changes: how often the ground truth names so many other calls, in
    relation to each other. Without it, it names all that are needed."""


@dataclass(frozen=True)
class TaskPlan:
    """What one task is to have."""

    writes: int
    outputs: int
    refusal: bool = False
    pressure: bool = False
    correction: bool = False
    transfer: bool = False
    lookups: int | None = None
    """How many calls besides the changes the ground truth names; None for all that are needed."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the task."""
        size = "no change" if not self.writes else "one change"
        given = {
            size if self.writes < 2 else "several changes": True,
            REFUSAL: self.refusal,
            "pressure": self.pressure,
            "correction": self.correction,
            "transfer": self.transfer,
            "answer": self.outputs > 0,
        }
        return tuple(tag for tag, has_it in given.items() if has_it)


def draw_plans(rng: Random, mix: Mix, count: int) -> list[TaskPlan]:
    """Plans for this many tasks, in random order.

    A task without a change requires an output, unless it is one of the idle ones.
    """
    writes = shared_out(rng, mix.writes, count)
    outputs = shared_out(rng, mix.outputs, count)
    # Tasks without changes come first: those that require an output, then the idle ones.
    writes.sort()
    outputs.sort(reverse=True)
    silent, refused = sum(number == 0 for number in writes), round(mix.refusals * count)
    idle = min(round(mix.idle * count), silent, refused)
    asking = silent - idle
    head, rest = outputs[:asking], outputs[asking : count - idle]
    rng.shuffle(rest)
    outputs = [max(1, number) for number in head] + [0] * idle + rest
    changing = range(silent, count)
    refusals = set(range(asking, silent))
    others = [*range(asking), *changing]
    refusals |= _some(rng, others, refused - idle, first=range(asking))
    pressure = _some(rng, sorted(refusals), round(mix.pressure * count))
    corrections = _some(rng, changing, round(mix.corrections * count))
    transfers = _some(rng, changing, round(mix.transfers * count))
    lookups = _lookups(rng, mix, writes)
    plans = [
        TaskPlan(
            writes=writes[place],
            outputs=outputs[place],
            refusal=place in refusals,
            pressure=place in pressure,
            correction=place in corrections,
            transfer=place in transfers,
            lookups=lookups[place] if lookups else None,
        )
        for place in range(count)
    ]
    rng.shuffle(plans)
    return plans


def _lookups(rng: Random, mix: Mix, writes: Sequence[int]) -> list[int]:
    """How many calls besides its changes each task names; empty if the mix says nothing of it."""
    if not mix.lookups:
        return []
    sizes = Counter(writes)
    drawn = {
        number: iter(shared_out(rng, mix.lookups[number], size)) for number, size in sizes.items()
    }
    return [next(drawn[number]) for number in writes]


def shared_out(rng: Random, weights: Mapping[T, int], count: int) -> list[T]:
    """Values in the ratio of their weights, in random order; chance decides on the remainders."""
    total = sum(weights.values())
    drawn: list[T] = []
    for value, weight in weights.items():
        drawn += [value] * (weight * count // total)
    left = {value: weight * count % total for value, weight in weights.items()}
    while len(drawn) < count:
        value = rng.choices(list(left), list(left.values()))[0]
        left[value] = 0
        drawn.append(value)
    rng.shuffle(drawn)
    return drawn


def _some(rng: Random, places: Sequence[int], count: int, first: Sequence[int] = ()) -> set[int]:
    # Two thirds of the places that come first are chosen before all others.
    chosen = set(rng.sample(first, min(count, len(first) * 2 // 3)))
    others = [place for place in places if place not in chosen]
    return chosen | set(rng.sample(others, min(len(others), count - len(chosen))))
