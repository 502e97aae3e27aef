"""The oracle: plays the ground truth and says the outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from greenroom.agents.strategies import Agent, AgentContext, AgentStrategy, Script, Stage
from greenroom.domains.tasks import RESPOND, Action, respond

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain


class Oracle:
    """Does what the task's actions say, then tells the user the outputs."""

    def __init__(self, domain: Domain, actions: Sequence[Action], outputs: Sequence[str]) -> None:
        tools = domain.tools
        ending = {name for name in tools if tools[name].ends_episode}
        self._work = [a for a in actions if a.name not in ending and a.name != RESPOND]
        self._farewells = [action for action in actions if action.name in ending]
        self._outputs = outputs

    async def play(self, stage: Stage) -> None:
        closing = respond(closing_words(self._outputs))
        says_first = [closing] if self._outputs or not self._farewells else []
        for action in [*self._work, *says_first, *self._farewells]:
            if stage.over:
                return
            await stage.step(action)
        while not stage.over:
            await stage.step(closing)


def closing_words(outputs: Sequence[str]) -> str:
    """A last message that contains every output."""
    return f"All done. For your records: {'; '.join(outputs)}." if outputs else "All done."


def _create(context: AgentContext) -> Agent:
    script = required_script(context)
    return Oracle(script.domain, script.task.actions, script.task.outputs)


def required_script(context: AgentContext) -> Script:
    """The context's script; strategies with `reads_script` always have one."""
    assert context.script is not None, "a strategy that reads the script was made without one"
    return context.script


strategy = AgentStrategy(
    "oracle", _create, "plays the ground truth and says the outputs", reads_script=True
)
