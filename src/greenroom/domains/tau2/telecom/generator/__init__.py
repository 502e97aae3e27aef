"""Telecom data of our own: a carrier, its customers and tasks about their phones, from a seed.

The same seed, number of tasks and difficulty give the same pack, byte for byte.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING, Final

from greenroom.domains.generation.people import PEOPLE
from greenroom.domains.pack_writer import pack_in_memory
from greenroom.domains.packs import Pack, PackInfo
from greenroom.domains.tau2.telecom.generator.carrier import make_carrier
from greenroom.domains.tau2.telecom.generator.content import POLICY, WORDING
from greenroom.domains.tau2.telecom.generator.scenarios import MIXES, draw_tasks
from greenroom.domains.tau2.telecom.phone_records import read_user_tables
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.domains.tasks import Task

PACK_NAME: Final = "greenroom-telecom"
DIFFICULTIES: Final = tuple(MIXES)
MOST_TASKS: Final = 20_000

_VERSION: Final = "1"
_BUILTIN_SEED: Final = 2025
_BUILTIN_TASKS: Final = 57
_FEWEST_CUSTOMERS: Final = 40


def generate_telecom(seed: int, tasks: int, difficulty: str = "official") -> Pack:
    """A carrier with this many tasks in its split "test"."""
    info = PackInfo(
        name=f"{PACK_NAME}-{seed}",
        version=f"{_VERSION}+seed.{seed}.tasks.{tasks}.{difficulty}",
        source=f"generated: seed {seed}",
        licence="MIT",
    )
    return _generated(info, seed, tasks, difficulty)


@cache
def builtin_pack() -> Pack:
    """The built-in pack of the telecom domain, made once per process."""
    info = PackInfo(
        name=PACK_NAME,
        version=_VERSION,
        source=f"generated: seed {_BUILTIN_SEED}",
        licence="MIT",
    )
    return _generated(info, _BUILTIN_SEED, _BUILTIN_TASKS, "official")


def _generated(info: PackInfo, seed: int, count: int, difficulty: str) -> Pack:
    if not 1 <= count <= MOST_TASKS:
        raise InputError(f"A pack has 1 to {MOST_TASKS:,} tasks, but {count:,} were asked for.")
    rng = Random(f"telecom {seed}")  # noqa: S311
    tables, callers = make_carrier(rng, PEOPLE, max(_FEWEST_CUSTOMERS, count // 3))
    drawn: list[Task] = draw_tasks(rng, WORDING, PEOPLE, callers, count, difficulty)
    return pack_in_memory(
        info,
        "telecom",
        tables=tables,
        user_tables=read_user_tables({}),
        tasks={"test": drawn},
        policy=POLICY,
    )


__all__ = ["DIFFICULTIES", "MOST_TASKS", "PACK_NAME", "builtin_pack", "generate_telecom"]
