"""The built-in retail data: a shop and its tasks, generated from a seed.

The same seed and number of tasks give the same pack, byte for byte, on every version of Python.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

from greenroom.domains.domain import Domain
from greenroom.domains.editions import Edition
from greenroom.domains.pack_writer import pack_in_memory
from greenroom.domains.packs import Pack, PackInfo
from greenroom.domains.retail.generator.composed import draw_composed_tasks
from greenroom.domains.retail.generator.content import POLICY, POLICY_WITH_LIMITS
from greenroom.domains.retail.generator.mixes import MIXES
from greenroom.domains.retail.generator.orders import MANY_ORDERS, ORDERS_PER_CUSTOMER
from greenroom.domains.retail.generator.scenarios import draw_tasks
from greenroom.domains.retail.generator.shop import make_shop
from greenroom.domains.retail.tools import tools as retail_tools
from greenroom.domains.tasks import Task
from greenroom.errors import InputError

PACK_NAME: Final = "greenroom-retail"
_VERSION: Final = "1"
_LICENCE: Final = "MIT"
_BUILTIN_SEED: Final = 2024
_BUILTIN_TASKS: Final = 96

MOST_TASKS: Final = 200_000
"""The limit of order numbers with seven digits."""

_FEWEST_CUSTOMERS: Final = 60
_CUSTOMERS_PER_TASK: Final = 1.5625


def generate_retail(
    seed: int, tasks: int, difficulty: str = "easy", *, name: str | None = None
) -> Pack:
    """A shop with this many tasks in its split "test"; the shop grows with the number of tasks.

    The pack's default name is "greenroom-retail-<seed>". "official" tasks have the mix of Tau
    Bench's test tasks, "hard" ones more of everything.
    """
    suffix = "" if difficulty == "easy" else f".{difficulty}"
    info = PackInfo(
        name=name if name is not None else f"{PACK_NAME}-{seed}",
        version=f"{_VERSION}+seed.{seed}.tasks.{tasks}{suffix}",
        source=f"generated: seed {seed}{suffix and f', {difficulty}'}",
        licence=_LICENCE,
    )
    return _generated(info, seed, tasks, difficulty)


@cache
def builtin_pack() -> Pack:
    """The built-in pack of the retail domain, made once per process."""
    info = PackInfo(
        name=PACK_NAME,
        version=_VERSION,
        source=f"generated: seed {_BUILTIN_SEED}",
        licence=_LICENCE,
    )
    return _generated(info, _BUILTIN_SEED, _BUILTIN_TASKS)


def _generated(info: PackInfo, seed: int, count: int, difficulty: str = "easy") -> Pack:
    if not 1 <= count <= MOST_TASKS:
        raise InputError(f"A pack has 1 to {MOST_TASKS:,} tasks, but {count:,} were asked for.")
    mix = MIXES.get(difficulty)
    customers = max(_FEWEST_CUSTOMERS, math.ceil(count * _CUSTOMERS_PER_TASK))
    shop = make_shop(seed, customers, MANY_ORDERS if mix else ORDERS_PER_CUSTOMER)
    tasks: dict[str, list[Task]] = {"test": []}
    policy = POLICY_WITH_LIMITS if mix else POLICY
    pack = pack_in_memory(info, "retail", tables=shop.tables, tasks=tasks, policy=policy)
    # Drawing tasks needs the pack's database, so the pack gets its tasks afterwards.
    domain = Domain(Edition(retail_tools), pack)
    tasks["test"] = (
        draw_composed_tasks(seed, shop, domain, mix, count)
        if mix
        else draw_tasks(seed, shop, domain, count)
    )
    return pack


__all__ = ["MOST_TASKS", "PACK_NAME", "builtin_pack", "generate_retail"]
