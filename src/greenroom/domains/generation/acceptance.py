"""Accepting drawn tasks: each is played first, and none is a repetition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from greenroom.domains.tasks import REFUSAL

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.tasks import Action, Task


class Acceptance:
    """Accepts tasks that are new and can be solved."""

    def __init__(self, domain: Domain, subject: str) -> None:
        self._domain = domain
        self._subject = subject
        """The argument that names what a change is about: "order_id"."""
        self._instructions: set[str] = set()
        self._changes: set[tuple[str, bytes]] = set()

    def accepts(self, task: Task) -> bool:
        """Whether a task is new and sound; remember it if so."""
        writes = [action for action in task.actions if self.writes(action)]
        changes = (task.user_id, orjson.dumps([(a.name, dict(a.kwargs)) for a in writes]))
        if task.instruction in self._instructions or changes in self._changes:
            return False
        if not self._sound(task, writes):
            return False
        self._instructions.add(task.instruction)
        self._changes.add(changes)
        return True

    def writes(self, action: Action) -> bool:
        """Whether an action may change the database."""
        tool = self._domain.tools.get(action.name)
        return tool is not None and tool.writes

    def _sound(self, task: Task, writes: list[Action]) -> bool:
        truth = self._domain.play_out(task.actions)
        if truth.failures or not (truth.changes or task.outputs or REFUSAL in task.tags):
            return False
        subjects = [write.kwargs.get(self._subject) for write in writes]
        if len(writes) < 2 or len(set(subjects)) < len(subjects):
            return True
        # Changes to different records must have the same result in any order.
        turned = self._domain.play_out(reversed(writes))
        return not turned.failures and turned.changes == truth.changes
