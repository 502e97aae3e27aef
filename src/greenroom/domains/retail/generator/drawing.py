"""Drawing tasks until there are enough: each is played out before it is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import orjson

from greenroom.domains.actions import Action
from greenroom.domains.domain import Domain
from greenroom.domains.retail.generator.scenarios import KINDS, Kind, draw_task
from greenroom.domains.retail.generator.shop import Shop, stream
from greenroom.domains.tasks import Task
from greenroom.errors import InputError

_ATTEMPTS_PER_KIND: Final = 300


def draw_tasks(seed: int, shop: Shop, domain: Domain, count: int) -> list[Task]:
    """So many tasks, of all kinds in turn, in random order."""
    rng = stream(seed, "tasks")
    acceptance = _Acceptance(domain)
    kinds = list(KINDS)
    rng.shuffle(kinds)
    tasks: list[Task] = []
    for number in range(count):
        candidates = (
            draw_task(rng, shop, kind, number)
            for kind in _from(kinds, number)
            for _ in range(_ATTEMPTS_PER_KIND)
        )
        task = next((each for each in candidates if each and acceptance.accepts(each)), None)
        if task is None:
            raise InputError(
                f"Seed {seed} yields {number} different tasks, not {count}: choose another seed "
                "or fewer tasks."
            )
        tasks.append(task)
    rng.shuffle(tasks)
    return tasks


def _from(kinds: Sequence[Kind], number: int) -> Sequence[Kind]:
    # The kind whose turn it is, then the others in case that no customer is left for it.
    turn = number % len(kinds)
    return [*kinds[turn:], *kinds[:turn]]


class _Acceptance:
    """Decides whether a task may join those accepted before it."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._instructions: set[str] = set()
        self._deeds: set[tuple[str, bytes]] = set()

    def accepts(self, task: Task) -> bool:
        """Whether a task is new and sound; if so, it counts as accepted from now on."""
        writes = [action for action in task.actions if self._writes(action)]
        deed = (task.user_id, orjson.dumps([(a.name, dict(a.kwargs)) for a in writes]))
        if task.instruction in self._instructions or deed in self._deeds:
            return False
        if not self._sound(task, writes):
            return False
        self._instructions.add(task.instruction)
        self._deeds.add(deed)
        return True

    def _sound(self, task: Task, writes: list[Action]) -> bool:
        truth = self._domain.play_out(task.actions)
        if truth.failures or not (truth.changes or task.outputs):
            return False
        orders = [write.kwargs.get("order_id") for write in writes]
        if len(writes) < 2 or len(set(orders)) < len(orders):
            return True
        # Changes to different records may come in any order, and must lead to the same end.
        turned = self._domain.play_out(reversed(writes))
        return not turned.failures and turned.changes == truth.changes

    def _writes(self, action: Action) -> bool:
        tool = self._domain.tools.get(action.name)
        return tool is not None and tool.writes
