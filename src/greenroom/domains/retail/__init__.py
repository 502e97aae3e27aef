"""The retail domain: an online shop's customers, orders and products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from greenroom.domains.plugins import DomainPlugin
from greenroom.domains.retail.tools import tools
from greenroom.options import Count, Settings

if TYPE_CHECKING:
    from greenroom.domains.packs import Pack


class RetailSettings(Settings):
    """The settings of the built-in shop."""

    seed: int | None = Field(default=None, description="Make another shop, from this seed.")
    tasks: Count = Field(default=96, description="How many tasks the shop of that seed has.")


def _builtin_pack(settings: RetailSettings) -> Pack:
    from greenroom.domains.retail.generator import builtin_pack

    return builtin_pack() if settings.seed is None else _generate(settings.seed, settings.tasks)


def _generate(seed: int, tasks: int) -> Pack:
    from greenroom.domains.retail.generator import generate_retail

    return generate_retail(seed, tasks)


plugin = DomainPlugin(
    "retail", tools, builtin_pack=_builtin_pack, settings=RetailSettings, generate=_generate
)

__all__ = ["plugin", "tools"]
