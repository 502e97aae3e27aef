"""What a run says of tasks that are not fit to be measured with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from greenroom.domains.tasks import RESPOND
from greenroom.domains.validation import failing_truths, solved_by_nothing

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain

_MOST_NAMED: Final = 12
_LOOK_CLOSER: Final = "see 'greenroom tasks validate'"


def task_warnings(domain: Domain, split: str, indices: Sequence[int]) -> Iterator[str]:
    """What is plainly wrong with tasks; `tasks validate` looks closer."""
    tasks = {index: domain.task(index, split) for index in indices}
    silent = [index for index, task in tasks.items() if not task.instruction.strip()]
    if silent:
        yield f"No instruction for the user in {_tasks(silent)}: {_LOOK_CLOSER}."
    unknown = {
        action.name: index
        for index, task in tasks.items()
        for action in task.actions
        if action.name != RESPOND and domain.edition.tool(action.party, action.name) is None
    }
    for name, index in unknown.items():
        yield f"The ground truth of task {index} calls {name}, which is no tool of {domain.name}."
    failing = failing_truths(domain, split, indices)
    if failing and not unknown:
        yield f"The ground truth of {_tasks(failing)} runs into an error: {_LOOK_CLOSER}."
    idle = solved_by_nothing(domain, split, indices)
    if idle:
        share = f"{len(idle)} of the {len(indices)} tasks" if len(indices) > 1 else "the task"
        yield f"An agent that does nothing solves {share}: {_tasks(idle)}."


def _tasks(indices: Sequence[int]) -> str:
    named = ", ".join(str(index) for index in indices[:_MOST_NAMED])
    more = f" and {len(indices) - _MOST_NAMED:,} more" if len(indices) > _MOST_NAMED else ""
    return f"task{'s' * (len(indices) > 1)} {named}{more}"
