"""Rules of a policy that a ground truth can be held against, without a model.

A check looks at one call just before it is made, and says in a sentence what the policy has against
it. Rules that tools enforce themselves need no check: such a call fails. Rules about what was said
have none either, as a ground truth has no conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenroom.domains.tasks import RESPOND

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.tasks import Action, Task
    from greenroom.domains.world import Record, World
    from greenroom.domains.worlds import Worlds


@dataclass(frozen=True, slots=True)
class Moment:
    """A call of a ground truth, just before it is made."""

    task: Task
    worlds: Worlds
    action: Action
    earlier: Sequence[Action]
    """The calls that went through before it."""
    policy: str = ""
    """The text of the pack's policy, for rules that differ between packs."""

    def record(self, table: str, key: object) -> Record | None:
        """A record of the agent's world, if there is one."""
        return found_record(self.worlds.agent, table, key)


PolicyCheck = Callable[[Moment], str | None]
"""Says what the policy has against a call; None where it has nothing."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A call of a ground truth that the policy forbids."""

    index: int
    action: Action
    sentence: str


def found_record(world: World, table: str, key: object) -> Record | None:
    """A record, if the table and the record are there."""
    tables = world.base.tables
    if table not in tables or not isinstance(key, str) or key not in world[table]:
        return None
    return world[table].read(key)


def breaches(domain: Domain, task: Task) -> Iterator[Breach]:
    """The calls of a task's ground truth that the domain's policy forbids, played in their order.

    A call that a check cannot read, because its arguments are of another form, is no breach.
    """
    checks = domain.edition.policy_checks
    worlds, earlier, ended = domain.worlds(task), list["Action"](), ""
    for index, action in enumerate(task.actions):
        tool = domain.edition.tool(action.party, action.name)
        if action.name == RESPOND or tool is None:
            continue
        if tool.ends_episode:
            ended = action.name
            continue
        if ended and tool.writes:
            yield Breach(
                index, action, f"comes after {ended}, which ends the conversation: nobody can do it"
            )
        moment = Moment(task, worlds, action, earlier, domain.pack.policy)
        for check in checks:
            said = _said(check, moment)
            if said is not None:
                yield Breach(index, action, said)
        if not domain.call(worlds, action).failed:
            earlier.append(action)


def _said(check: PolicyCheck, moment: Moment) -> str | None:
    try:
        return check(moment)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None  # `tasks validate` says what is wrong with the arguments


__all__ = ["Breach", "Moment", "PolicyCheck", "breaches", "found_record"]
