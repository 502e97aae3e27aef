"""The retail domain: an online shop's customers, orders and products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from greenroom.domains.generation import TaskGenerator
from greenroom.domains.plugins import TAU2, DomainPlugin
from greenroom.domains.retail.figures import OFFICIAL_FIGURES
from greenroom.domains.retail.policy_checks import CHECKS
from greenroom.domains.retail.tools import tools
from greenroom.options import Count, Settings

if TYPE_CHECKING:
    from greenroom.domains.editions import Edition
    from greenroom.domains.packs import Pack


class RetailSettings(Settings):
    """The settings of the built-in shop."""

    seed: int | None = Field(default=None, description="Make another shop, from this seed.")
    tasks: Count = Field(default=96, description="How many tasks the shop of that seed has.")
    difficulty: Literal["easy", "official", "hard"] = Field(
        default="easy", description="How much the tasks of that seed ask of an agent."
    )


def _builtin_pack(settings: RetailSettings) -> Pack:
    from greenroom.domains.retail.generator import builtin_pack

    if settings.seed is None:
        return builtin_pack()
    return _generate(settings.seed, settings.tasks, settings.difficulty)


def _generate(seed: int, tasks: int, difficulty: str) -> Pack:
    from greenroom.domains.retail.generator import generate_retail

    return generate_retail(seed, tasks, difficulty)


def _tau2() -> Edition:
    from greenroom.domains.tau2.retail import retail_edition

    return retail_edition()


plugin = DomainPlugin(
    "retail",
    tools,
    builtin_pack=_builtin_pack,
    settings=RetailSettings,
    generate=TaskGenerator(_generate, ("official", "hard", "easy"), OFFICIAL_FIGURES),
    policy_checks=CHECKS,
    editions={TAU2: lambda settings: _tau2()},
)

__all__ = ["plugin", "tools"]
