"""A domain small enough to read at a glance: lamps that can be lit."""

from __future__ import annotations

from typing import Annotated

from greenroom.domains.common_tools import transfer_to_human_agents
from greenroom.domains.domain import Domain
from greenroom.domains.editions import Edition
from greenroom.domains.pack_writer import pack_in_memory
from greenroom.domains.packs import Pack, PackInfo
from greenroom.domains.tasks import Action, Task
from greenroom.domains.tools import Toolset
from greenroom.domains.world import World

tools = Toolset()
tools.add(ends_episode=True)(transfer_to_human_agents)


@tools.add(writes=True)
def light(world: World, lamp: Annotated[str, "Which lamp."]) -> str:
    """Light a lamp."""
    lamps = world["lamps"]
    if lamp not in lamps:
        return "Error: lamp not found"
    lamps[lamp]["lit"] = True
    return lamps.text(lamp)


TASKS = (
    Task("Light the hall.", (Action("light", {"lamp": "hall"}),)),
    Task("Light the hall; how many lamps?", (Action("light", {"lamp": "hall"}),), ("10",)),
    Task("Get a person.", (Action("transfer_to_human_agents", {"summary": "s"}),)),
)


def small_pack(*tasks: Task) -> Pack:
    """The pack of the lamps, with these tasks or the usual ones."""
    return pack_in_memory(
        PackInfo(name="lamps", version="1", source="tests", licence="MIT"),
        "lamps",
        tables={"lamps": {"hall": {"lit": False, "watts": 5}, "attic": {"lit": False}}},
        tasks={"test": tasks or TASKS},
        policy="Ask first.",
        rules=["Be brief."],
    )


def small_domain(*tasks: Task) -> Domain:
    """The domain of the lamps."""
    return Domain(Edition(tools), small_pack(*tasks))
