"""Check tasks and list every problem."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import DataError

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.tasks import Task


@dataclass(frozen=True)
class TaskProblem:
    """A problem of a task."""

    task_index: int
    problem: str


def validate_tasks(
    domain: Domain, split: str = DEFAULT_SPLIT, indices: Sequence[int] | None = None
) -> list[TaskProblem]:
    """Check the tasks of a split.

    A task needs an instruction, actions that name known tools with fitting arguments, and a ground
    truth that runs without an error. If its actions write, the database or an output has to show
    it. No two tasks may be the same.
    """
    tasks = domain.tasks(split)
    chosen = range(len(tasks)) if indices is None else indices
    check = _ArgumentCheck(domain)
    problems = [
        TaskProblem(index, problem)
        for index in chosen
        for problem in _task_problems(domain, split, index, check)
    ]
    problems.extend(_duplicates(tasks, chosen))
    return sorted(problems, key=lambda problem: problem.task_index)


def _task_problems(domain: Domain, split: str, index: int, check: _ArgumentCheck) -> Iterator[str]:
    task = domain.task(index, split)
    if not task.instruction.strip():
        yield "has no instruction"
    for number, action in enumerate(task.actions):
        yield from (f"action {number} ({action.name}): {text}" for text in check(action))
    truth = domain.ground_truth(index, split)
    for failure in truth.failures:
        action = task.actions[failure.index]
        yield f"action {failure.index} ({action.name}) fails: {failure.observation}"
    if not truth.changes and not task.outputs:
        yield "an agent that does nothing would solve it: no record changes and no output is needed"


def _duplicates(tasks: Sequence[Task], chosen: Sequence[int]) -> Iterator[TaskProblem]:
    first: dict[tuple[str, str], int] = {}
    for index, task in enumerate(tasks):
        content = (task.instruction, repr([(a.name, dict(a.kwargs)) for a in task.actions]))
        earlier = first.setdefault(content, index)
        if earlier != index and index in chosen:
            yield TaskProblem(index, f"is the same as task {earlier}")


class _ArgumentCheck:
    """Checks the arguments of actions against the schemas of their tools."""

    def __init__(self, domain: Domain) -> None:
        from jsonschema import Draft202012Validator, SchemaError
        from referencing import Registry

        self._tools = domain.tools
        self._validators: dict[str, Any] = {}
        for info in domain.tool_infos:
            name, schema = info["function"]["name"], info["function"]["parameters"]
            try:
                Draft202012Validator.check_schema(schema)
            except (SchemaError, RecursionError) as error:
                raise _unusable(name, error) from error
            # An empty registry: nothing is fetched, whatever a reference names.
            self._validators[name] = Draft202012Validator(
                schema | {"additionalProperties": False}, registry=Registry()
            )

    def __call__(self, action: Action) -> Iterator[str]:
        if action.name == RESPOND:
            return
        if action.name not in self._tools or action.name not in self._validators:
            yield "is not a tool of this domain"
            return
        from referencing.exceptions import Unresolvable

        try:
            errors = list(self._validators[action.name].iter_errors(dict(action.kwargs)))
        except (Unresolvable, RecursionError, re.error) as error:
            raise _unusable(action.name, error) from error
        for error in errors:
            place = ".".join(str(part) for part in error.absolute_path)
            yield f"{place}: {error.message}" if place else error.message


def _unusable(name: str, error: Exception) -> DataError:
    reason = getattr(error, "message", None) or type(error).__name__
    return DataError(f"The schema of the tool '{name}' cannot be used: {reason:.200}.")
