"""An agent that asks: which order, why, and whether it may cancel it.

greenroom run --agent-strategy examples/by_path/desk.py --user-option script=...
"""

from __future__ import annotations

import re

from greenroom.agents import Stage
from greenroom.domains import Action, respond


class Desk:
    """Cancels the order that the user names, if they agree."""

    async def play(self, stage: Stage) -> None:
        order = re.search(r"#W\d{7}", await stage.step(respond("What is your order number?")))
        if order is not None and not stage.over:
            why = await stage.step(respond("Why would you like to cancel it?"))
            reason = "ordered by mistake" if "mistake" in why else "no longer needed"
            said = await stage.step(respond(f"Shall I cancel {order[0]}, as {reason}?"))
            if "yes" in said.lower():
                call = Action("cancel_pending_order", {"order_id": order[0], "reason": reason})
                await stage.step(call)
        while not stage.over:
            await stage.step(respond("Is there anything else?"))
