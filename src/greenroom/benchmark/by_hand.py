"""A task for people to play with an MCP client of theirs: they are the user, and talk elsewhere."""

from __future__ import annotations

from greenroom.agents import Stage
from greenroom.agents.mcp_environment import McpEnvironment
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import RESPOND, Action


class PlayByHand:
    """One task's environment behind MCP, without a simulated user."""

    def __init__(
        self, domain: Domain, task_index: int, *, split: str, max_steps: int | None = None
    ) -> None:
        user = _Person(domain.edition.stop_words[0])
        self.environment = Environment(domain, user, split=split, max_steps=max_steps)
        self.task_index = task_index

    async def begin(self) -> McpEnvironment:
        """A fresh world, as an MCP server."""
        await self.environment.reset(self.task_index)
        return McpEnvironment(Stage(self.environment))

    async def end(self) -> str:
        """End the conversation: what came of it, in words."""
        environment = self.environment
        calls = len(environment.steps)
        failed = sum(step.failed for step in environment.steps)
        told = f"{calls} calls, {failed} of them failed."
        if not environment.over:
            await environment.step(Action(RESPOND, {"content": ""}))
        if environment.reward is None:
            return f"{told} The steps were used up."
        right = environment.reward.database
        verdict = "is what" if right else "differs from what"
        return f"{told} The database {verdict} task {self.task_index} wants."


class _Person:
    """The user whom nobody simulates: they end the conversation when they are asked."""

    def __init__(self, stop: str) -> None:
        self._stop = stop

    async def open(self, instruction: str) -> str:
        return ""

    async def reply(self, content: str) -> str:
        return self._stop
