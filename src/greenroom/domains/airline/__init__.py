"""The airline domain: travellers, reservations and flights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.domains.airline.figures import OFFICIAL_FIGURES
from greenroom.domains.airline.policy_checks import CHECKS
from greenroom.domains.airline.tools import tools
from greenroom.domains.generation import TaskGenerator
from greenroom.domains.plugins import TAU2, DomainPlugin

if TYPE_CHECKING:
    from greenroom.domains.editions import Edition
    from greenroom.domains.packs import Pack


def _builtin_pack() -> Pack:
    from greenroom.domains.airline.generator import builtin_pack

    return builtin_pack()


def _generate(seed: int, tasks: int, difficulty: str) -> Pack:
    from greenroom.domains.airline.generator import generate_airline

    return generate_airline(seed, tasks, difficulty)


def _tau2() -> Edition:
    from greenroom.domains.tau2.airline import airline_edition

    return airline_edition()


plugin = DomainPlugin(
    "airline",
    tools,
    builtin_pack=_builtin_pack,
    generate=TaskGenerator(_generate, ("official", "hard"), OFFICIAL_FIGURES),
    policy_checks=CHECKS,
    editions={TAU2: lambda settings: _tau2()},
)

__all__ = ["plugin", "tools"]
