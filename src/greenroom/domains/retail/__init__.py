"""The retail domain: an online shop's customers, orders and products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.domains.plugins import DomainPlugin
from greenroom.domains.retail.tools import tools

if TYPE_CHECKING:
    from greenroom.domains.packs import Pack


def _builtin_pack() -> Pack:
    from greenroom.domains.retail.generator import builtin_pack

    return builtin_pack()


plugin = DomainPlugin("retail", tools, builtin_pack=_builtin_pack)

__all__ = ["plugin", "tools"]
