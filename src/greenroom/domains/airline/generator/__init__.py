"""Fresh airline data: a timetable, travellers and their tasks, generated from a seed.

The same seed, number of tasks and difficulty give the same pack, byte for byte, on every version of
Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Final

from greenroom.domains.airline.generator.content import POLICY
from greenroom.domains.airline.generator.corrections import CORRECTED, another_spelling
from greenroom.domains.airline.generator.journey import Journey, on
from greenroom.domains.airline.generator.mixes import BUILT_IN, MIXES
from greenroom.domains.airline.generator.questions import ANSWERS
from greenroom.domains.airline.generator.refusals import DROPPED, handover
from greenroom.domains.airline.generator.travellers import Airline, make_airline, stream
from greenroom.domains.airline.generator.wishes import (
    SINGLE,
    book_trip,
    claim_compensation,
    rename_passenger,
)
from greenroom.domains.airline.tools import tools as airline_tools
from greenroom.domains.domain import Domain
from greenroom.domains.editions import Edition
from greenroom.domains.generation import (
    Acceptance,
    Mix,
    Pools,
    TaskPlan,
    Unsuitable,
    Wish,
    draw_planned_tasks,
    draw_wishes,
    named_actions,
    outputs_of,
    tell,
    without_repeats,
)
from greenroom.domains.pack_writer import pack_in_memory
from greenroom.domains.packs import Pack, PackInfo
from greenroom.domains.tasks import Action, Task
from greenroom.errors import InputError

PACK_NAME: Final = "greenroom-airline"
MOST_TASKS: Final = 200_000
_VERSION: Final = "1"
_LICENCE: Final = "MIT"
_BUILTIN_SEED: Final = 2024
_BUILTIN_TASKS: Final = 50
_FEWEST_TRAVELLERS: Final = 60
_TRAVELLERS_PER_TASK: Final = 1.5

_POOLS: Final = Pools[Journey](
    single=SINGLE,
    single_with_answer=(),
    double=(),
    corrected=CORRECTED,
    dropped=DROPPED,
    settled=(),
    answers=ANSWERS,
    quiet_answers=ANSWERS,
    handover=handover,
    # The ids of new reservations and certificates depend on how many there are already.
    only_one_of=(book_trip, claim_compensation, rename_passenger, another_spelling),
)


def generate_airline(seed: int, tasks: int, difficulty: str = "official") -> Pack:
    """An airline with this many tasks in its split "test"; it grows with the number of tasks."""
    info = PackInfo(
        name=f"{PACK_NAME}-{seed}",
        version=f"{_VERSION}+seed.{seed}.tasks.{tasks}.{difficulty}",
        source=f"generated: seed {seed}, {difficulty}",
        licence=_LICENCE,
    )
    return _generated(info, seed, tasks, MIXES[difficulty])


@cache
def builtin_pack() -> Pack:
    """The built-in pack of the airline domain, made once per process."""
    info = PackInfo(
        name=PACK_NAME,
        version=_VERSION,
        source=f"generated: seed {_BUILTIN_SEED}",
        licence=_LICENCE,
    )
    return _generated(info, _BUILTIN_SEED, _BUILTIN_TASKS, BUILT_IN)


def _generated(info: PackInfo, seed: int, tasks: int, mix: Mix) -> Pack:
    if not 1 <= tasks <= MOST_TASKS:
        raise InputError(f"A pack has 1 to {MOST_TASKS:,} tasks, but {tasks:,} were asked for.")
    travellers = max(_FEWEST_TRAVELLERS, math.ceil(tasks * _TRAVELLERS_PER_TASK))
    airline = make_airline(seed, travellers)
    split: dict[str, list[Task]] = {"test": []}
    pack = pack_in_memory(info, "airline", tables=airline.tables, tasks=split, policy=POLICY)
    # Drawing tasks needs the pack's database, so the pack gets its tasks afterwards.
    acceptance = Acceptance(Domain(Edition(airline_tools), pack), "reservation_id")
    rng = stream(seed, "tasks")

    def draw(plan: TaskPlan, number: int) -> Task | None:
        return _draw(rng, airline, plan, number)

    split["test"] = draw_planned_tasks(rng, mix, tasks, acceptance, draw)
    return pack


def _draw(rng: Random, airline: Airline, plan: TaskPlan, number: int) -> Task | None:
    traveller = rng.choice(airline.travellers)
    journey = Journey(rng, airline, traveller, forgetful=rng.random() < 0.3)
    try:
        drawn = draw_wishes(journey, plan, _POOLS)
    except Unsuitable:
        return None
    name = " ".join(traveller.profile["name"].values())
    first = journey.say("introduction", user=traveller.user_id, name=name)
    last = journey.say("no_number") if journey.forgetful and journey.taken else ""
    return Task(
        instruction=tell(journey, plan, drawn, first, last),
        actions=_actions(journey, plan, drawn),
        outputs=outputs_of(drawn),
        user_id=traveller.user_id,
        id=f"composed-{number}",
        tags=plan.tags,
    )


def _actions(journey: Journey, plan: TaskPlan, drawn: Sequence[Wish]) -> tuple[Action, ...]:
    # Some official ground truths look at all that the traveller has.
    trips = (on(one, "get_reservation_details") for one in journey.traveller.reservations)
    everything = Wish("", (journey.profile(), *trips))
    found, needed = without_repeats([everything, *drawn]), without_repeats(drawn)
    return named_actions(found, plan, _stays, needed)


def _stays(action: Action) -> bool:
    tool = airline_tools[action.name]
    return tool.writes or tool.ends_episode


__all__ = ["MOST_TASKS", "PACK_NAME", "builtin_pack", "generate_airline"]
