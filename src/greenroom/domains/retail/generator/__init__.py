"""The built-in retail data: a shop and its tasks, generated from a seed.

The same seed and number of tasks give the same pack, byte for byte, on every version of Python.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

from greenroom.domains.domain import Domain
from greenroom.domains.pack_writer import pack_in_memory
from greenroom.domains.packs import DEFAULT_SPLIT, Pack, PackInfo
from greenroom.domains.retail.generator.content import POLICY
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


def generate_retail(seed: int, tasks: int, *, name: str | None = None) -> Pack:
    """A shop with this many tasks in its split "test"; the shop grows with the number of tasks.

    The pack's default name is "greenroom-retail-<seed>".
    """
    info = PackInfo(
        name=name if name is not None else f"{PACK_NAME}-{seed}",
        version=f"{_VERSION}+seed.{seed}.tasks.{tasks}",
        source=f"generated: seed {seed}",
        licence=_LICENCE,
    )
    return _generated(info, seed, tasks)


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


def _generated(info: PackInfo, seed: int, count: int) -> Pack:
    if not 1 <= count <= MOST_TASKS:
        raise InputError(f"A pack has 1 to {MOST_TASKS:,} tasks, but {count:,} were asked for.")
    shop = make_shop(seed, max(_FEWEST_CUSTOMERS, math.ceil(count * _CUSTOMERS_PER_TASK)))
    tasks: dict[str, list[Task]] = {DEFAULT_SPLIT: []}
    pack = pack_in_memory(info, "retail", tables=shop.tables, tasks=tasks, policy=POLICY)
    # Drawing tasks needs the pack's database, so the pack gets its tasks afterwards.
    tasks[DEFAULT_SPLIT] = draw_tasks(seed, shop, Domain(retail_tools, pack), count)
    return pack


__all__ = ["MOST_TASKS", "PACK_NAME", "builtin_pack", "generate_retail"]
