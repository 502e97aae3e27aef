"""A process that plays a run until somebody ends it: what the kill test starts, and kills."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import anyio

from greenroom.agents import AgentContext, Stage
from greenroom.agents.synthetic import strategy as synthetic
from greenroom.benchmark import check_config, play_run, reopen_run, start_run
from greenroom.errors import UnknownName
from greenroom.store import open_store

NAME = "victim"
CONFIG = {"agent_strategy": "synthetic", "num_trials": 12, "max_concurrency": 4, "seed": 3}


class Slow:
    """A synthetic agent that takes its time, and notes that it has begun."""

    def __init__(self, context: AgentContext, log: Path) -> None:
        self._agent = synthetic.create(context)
        self._line = f"{context.task_index} {context.trial}\n"
        self._log = log

    async def play(self, stage: Stage) -> None:
        with self._log.open("a") as log:
            log.write(self._line)
        await anyio.sleep(0.008)
        await self._agent.play(stage)


def main(log: Path) -> None:
    store = open_store()
    try:
        run, prepared = reopen_run(store, NAME)
    except UnknownName:
        run, prepared = start_run(store, check_config(CONFIG), name=NAME)

    def create(context: AgentContext) -> Slow:
        return Slow(context, log)

    slow = replace(prepared.strategy, create=create)
    anyio.run(lambda: play_run(store, run, replace(prepared, strategy=slow)))
    store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
