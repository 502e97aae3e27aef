"""The oracle: plays the ground truth and says the outputs.

Where the user has to act, it asks them to, in words that scripted users understand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from greenroom.agents.strategies import Agent, AgentContext, AgentStrategy, Script, Stage
from greenroom.domains.editions import DONE
from greenroom.domains.tasks import RESPOND, Action, respond
from greenroom.users.requests import request_for

if TYPE_CHECKING:
    from greenroom.agents.history import History
    from greenroom.domains.domain import Domain


class Oracle:
    """Does what the task's actions say, then tells the user the outputs.

    With a history it does what is left of that.
    """

    def __init__(
        self,
        domain: Domain,
        actions: Sequence[Action],
        outputs: Sequence[str],
        history: History | None = None,
    ) -> None:
        tools = domain.tools
        ending = {name for name in tools if tools[name].ends_episode}
        done = [] if history is None else list(_done(history))
        left = [a for a in actions if a.name != RESPOND and not _was_done(a, done)]
        work = [a for a in left if a.name not in ending]
        self._farewells = [action for action in left if action.name in ending]
        if domain.edition.solo:  # it has the user's tools, and nobody to talk to
            self._work = [replace(action, party="agent") for action in work]
            self._farewells.append(Action(DONE))
            if self._work and outputs:  # what is written along with a call counts as said
                self._work[-1] = replace(self._work[-1], aside=closing_words(outputs))
            outputs = ()
        else:
            self._work = list(_asking(work))
        self._outputs = outputs
        self._said = [action for action in done if action.name == RESPOND]

    async def play(self, stage: Stage) -> None:
        closing = respond(closing_words(self._outputs))
        says_first = [closing] if self._outputs or not self._farewells else []
        if closing in self._said:
            says_first = []
        for action in [*self._work, *says_first, *self._farewells]:
            if stage.over:
                return
            await stage.step(action)
        while not stage.over:
            await stage.step(closing)


def _done(history: History) -> Iterable[Action]:
    """What both parties did."""
    yield from (call.action for call in history.opening_calls)
    for step in history.steps:
        yield step.action
        yield from (call.action for call in step.user_calls)


def _was_done(wanted: Action, done: list[Action]) -> bool:
    """Whether an action is among those that were done; each counts once."""
    for place, action in enumerate(done):
        same = (action.party, action.name) == (wanted.party, wanted.name)
        if same and action.kwargs == wanted.kwargs:
            del done[place]
            return True
    return False


def _asking(actions: Iterable[Action]) -> Iterable[Action]:
    """The agent's part of both parties' actions: it asks for what the user has to do."""
    for party, some in groupby(actions, key=lambda action: action.party):
        if party == "user":
            yield respond(request_for(some))
        else:
            yield from some


def closing_words(outputs: Sequence[str]) -> str:
    """A last message that contains every output."""
    return f"All done. For your records: {'; '.join(outputs)}." if outputs else "All done."


def _create(context: AgentContext) -> Agent:
    script = required_script(context)
    return Oracle(script.domain, script.task.actions, script.task.outputs, context.history)


def required_script(context: AgentContext) -> Script:
    """The context's script; strategies with `reads_script` always have one."""
    assert context.script is not None, "a strategy that reads the script was made without one"
    return context.script


strategy = AgentStrategy(
    "oracle",
    _create,
    "plays the ground truth and says the outputs",
    reads_script=True,
    takes_over="history",
)
