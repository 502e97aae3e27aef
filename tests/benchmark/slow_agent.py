"""An agent that takes its time and notes when it begins: what workers play that are killed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import anyio

from greenroom.agents import AgentContext, Stage
from greenroom.agents.synthetic import strategy as synthetic

LOG_VARIABLE = "SLOW_AGENT_LOG"
SECONDS_VARIABLE = "SLOW_AGENT_SECONDS"
HOLD_VARIABLE = "SLOW_AGENT_HOLD"
"""While there is a file of this name, episodes that have begun go no further."""


class SlowAgent:
    """A synthetic agent that takes its time."""

    def __init__(self, context: AgentContext) -> None:
        self._agent = synthetic.create(context)
        self._line = f"{os.getpid()} {context.task_index} {context.trial}\n"

    async def play(self, stage: Stage) -> None:
        self._note()
        await anyio.sleep(float(os.environ[SECONDS_VARIABLE]))
        hold = os.environ.get(HOLD_VARIABLE)
        while hold and Path(hold).exists():  # noqa: ASYNC110, ASYNC240
            await anyio.sleep(0.05)
        await self._agent.play(stage)

    def _note(self) -> None:
        # Several processes write to it: whole lines, one after the other.
        with Path(os.environ[LOG_VARIABLE]).open("a") as log:
            log.write(self._line)


strategy = replace(synthetic, create=SlowAgent)
