"""Tools that every domain shares."""

from __future__ import annotations

from typing import Annotated

from greenroom.domains.arithmetic import calculate_text
from greenroom.domains.tools import Toolset
from greenroom.domains.world import World

tools = Toolset()


@tools.add()
def calculate(
    world: World,
    expression: Annotated[
        str, "Numbers, + - * /, parentheses and spaces; for example '3 * (4.5 - 1)'."
    ],
) -> str:
    """Work out an arithmetic expression; the answer is rounded to two decimal places."""
    return calculate_text(expression)


@tools.add()
def think(world: World, thought: Annotated[str, "What to think through."]) -> str:
    """Write a thought down before going on. Nothing is looked up and nothing is changed."""
    return ""


@tools.add(ends_episode=True)
def transfer_to_human_agents(
    world: World, summary: Annotated[str, "What the customer needs, in a sentence or two."]
) -> str:
    """Hand the customer over to a person, which ends the conversation.

    Only for customers who ask for a person, or whose request no tool can serve.
    """
    return "Transfer successful"
