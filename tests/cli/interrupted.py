"""A slow run at the command line, for the test that presses Ctrl-C."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import anyio

from greenroom.agents import Agent, AgentContext, Stage, oracle
from greenroom.cli.app import main


def slow_down(ready: Path) -> None:
    """Make every episode of the oracle take a while, and say when the first has ended."""
    create = oracle.strategy.create

    def slowly(context: AgentContext) -> Agent:
        agent = create(context)

        class Slow:
            async def play(self, stage: Stage) -> None:
                if context.task_index > 30:
                    await anyio.Path(ready).touch()
                    await anyio.sleep(0.1)
                await agent.play(stage)

        return Slow()

    oracle.strategy = replace(oracle.strategy, create=slowly)


if __name__ == "__main__":
    slow_down(Path(sys.argv[1]))
    main(["run", "--num-trials", "3", "--name", "long"])
