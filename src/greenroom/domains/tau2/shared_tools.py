"""Tools that several of tau2's domains have, alike in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.domains.common_tools import is_arithmetic, rounded_result
from greenroom.domains.tools import Refused

if TYPE_CHECKING:
    from greenroom.domains.world import World


def calculate(world: World, expression: Any) -> str:
    """Work out an arithmetic expression; the answer is rounded to two decimal places."""
    if not is_arithmetic(expression):
        raise Refused("Invalid characters in expression")
    return rounded_result(expression)


def transfer_to_human_agents(world: World, summary: Any) -> str:
    """Hand the customer over to a person. The conversation goes on until the user ends it."""
    return "Transfer successful"
