"""An agent in one file: it cancels the order that the user names, and can do nothing else.

greenroom run --agent-strategy examples/by_path/agent.py --reason "ordered by mistake"
"""

from __future__ import annotations

import re

from pydantic import Field

from greenroom.agents import AgentContext, Stage
from greenroom.domains import Action, respond
from greenroom.options import Settings


class CancellerSettings(Settings):
    """What the agent can be told: each field is a flag."""

    reason: str = Field(default="no longer needed", description="Why orders are cancelled.")


class Canceller:
    """Cancels the order that the user names first."""

    settings = CancellerSettings

    def __init__(self, context: AgentContext) -> None:
        self._reason = context.settings.reason

    async def play(self, stage: Stage) -> None:
        order = re.search(r"#W\d{7}", stage.opening)
        if order and "cancelled" in stage.opening:
            arguments = {"order_id": order[0], "reason": self._reason}
            await stage.step(Action("cancel_pending_order", arguments))
        while not stage.over:
            await stage.step(respond("Is there anything else?"))
