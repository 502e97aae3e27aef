"""Check tasks and list every problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.domains.reward import check_assertion
from greenroom.domains.steps import Trajectory
from greenroom.domains.tasks import REFUSAL, RESPOND, Action
from greenroom.domains.tools import Toolset
from greenroom.errors import DataError

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.tasks import Assertion, Party, Task
    from greenroom.domains.tools import ToolInfo
    from greenroom.domains.worlds import Worlds


ProblemKind = Literal[
    "no-instruction",
    "bad-call",
    "set-up-fails",
    "ground-truth-fails",
    "assertion-unmet",
    "solved-by-nothing",
    "duplicate",
]
"""What is wrong with a task on its own."""


@dataclass(frozen=True)
class TaskProblem:
    """A problem of a task."""

    task_index: int
    problem: str
    kind: ProblemKind
    evidence: Mapping[str, Any] = field(default_factory=dict[str, Any], compare=False)
    """What shows it, as plain JSON."""


def validate_tasks(
    domain: Domain,
    split: str = DEFAULT_SPLIT,
    indices: Sequence[int] | None = None,
    on_task: Callable[[], None] = lambda: None,
) -> list[TaskProblem]:
    """Check the tasks of a split.

    A task needs an instruction, actions that name known tools with fitting arguments, and a ground
    truth that runs without an error and fulfils the task's assertions. An agent that does nothing
    must not solve it, unless its tags say that a request has to be refused. No two tasks may be the
    same. `on_task` is called after each task.
    """
    tasks = domain.tasks(split)
    chosen = range(len(tasks)) if indices is None else indices
    check = _ArgumentCheck(domain)
    problems: list[TaskProblem] = []
    for index in chosen:
        problems.extend(_task_problems(domain, split, index, check))
        on_task()
    problems.extend(_duplicates(tasks, chosen))
    return sorted(problems, key=lambda problem: problem.task_index)


def solved_by_nothing(
    domain: Domain, split: str = DEFAULT_SPLIT, indices: Sequence[int] | None = None
) -> list[int]:
    """The tasks that an agent solves that says and does nothing.

    Where sentences need a judge or a task cannot be played, nobody knows, and it is left out.
    """
    chosen = range(len(domain.tasks(split))) if indices is None else indices
    return [
        index
        for index in chosen
        if not _set_up_problem(domain, domain.task(index, split))
        and _nothing_to_do(domain, split, index)
    ]


def failing_truths(
    domain: Domain, split: str = DEFAULT_SPLIT, indices: Sequence[int] | None = None
) -> list[int]:
    """The tasks whose set-up or ground truth runs into an error."""
    chosen = range(len(domain.tasks(split))) if indices is None else indices
    return [
        index
        for index in chosen
        if _set_up_problem(domain, domain.task(index, split))
        or domain.ground_truth(index, split).failures
    ]


def check_generated(domain: Domain) -> None:
    """Raise DataError if a task that a generator made is not sound."""
    problems = validate_tasks(domain)
    if problems:
        first = problems[0]
        more = f" ({len(problems) - 1:,} more)" if len(problems) > 1 else ""
        raise DataError(
            f"The generator of {domain.name} made a task that is not sound, so nothing was "
            f"written: task {first.task_index}: {first.problem}{more}."
        )


def _task_problems(
    domain: Domain, split: str, index: int, check: _ArgumentCheck
) -> Iterator[TaskProblem]:
    task = domain.task(index, split)

    def problem(kind: ProblemKind, text: str, **evidence: Any) -> TaskProblem:
        return TaskProblem(index, text, kind, evidence)

    yield from _text_problems(domain, index, task, check)
    broken = _set_up_problem(domain, task)
    if broken:
        yield problem("set-up-fails", broken)
        return
    try:
        truth = domain.ground_truth(index, split)
        unmet = _unmet_assertions(domain, task)
    except DataError as error:
        yield problem("ground-truth-fails", str(error))
        return
    for failure in truth.failures:
        action = task.actions[failure.index]
        yield problem(
            "ground-truth-fails",
            f"action {failure.index} ({action.name}) fails: {failure.observation}",
            action=failure.index,
            call=action.to_json(),
            observation=failure.observation,
            writes=_writes(domain, action),
        )
    for name in unmet:
        text = f"its ground truth does not fulfil the assertion {name}"
        yield problem("assertion-unmet", text, assertion=name)
    # Where a request has to be refused, nothing may happen: such a task is meant to be so.
    if REFUSAL not in task.tags and _nothing_to_do(domain, split, index):
        text = f"an agent that does nothing would solve it: {_no_demand(task)}"
        yield problem("solved-by-nothing", text)


def _text_problems(
    domain: Domain, index: int, task: Task, check: _ArgumentCheck
) -> Iterator[TaskProblem]:
    """What is wrong with a task as it is written, before anything of it is played."""
    if not task.instruction.strip():
        yield TaskProblem(index, "has no instruction", "no-instruction")
    for text in _unknown_user_tools(domain, task):
        yield TaskProblem(index, text, "bad-call")
    for number, action in enumerate(task.actions):
        call = {"action": number, "call": action.to_json()}
        for text in check(action):
            yield TaskProblem(index, f"action {number} ({action.name}): {text}", "bad-call", call)


def _writes(domain: Domain, action: Action) -> bool:
    tool = domain.edition.tool(action.party, action.name)
    return tool is not None and tool.writes


def _unknown_user_tools(domain: Domain, task: Task) -> Iterator[str]:
    known = domain.edition.user_tools or ()
    for name in task.user_tools or ():
        if name not in known:
            yield f"'{name}' in user_tools is not a tool of the user"


def _set_up_problem(domain: Domain, task: Task) -> str | None:
    if task.initial is None:
        return None
    try:
        domain.worlds(task)
    except DataError as error:
        return str(error)
    return None


def _unmet_assertions(domain: Domain, task: Task) -> list[str]:
    if not task.assertions:
        return []
    worlds = domain.worlds(task)
    for action in task.actions:
        tool = domain.edition.tool(action.party, action.name)
        if action.name != RESPOND and not (tool is not None and tool.ends_episode):
            domain.call(worlds, action)
    return [one.name for one in task.assertions if not _holds(domain, worlds, one)]


def _holds(domain: Domain, worlds: Worlds, assertion: Assertion) -> bool:
    return check_assertion(domain, worlds, assertion).met


def _nothing_to_do(domain: Domain, split: str, index: int) -> bool:
    # The quick answers come first: thousands of tasks are looked at when a run begins.
    task = domain.task(index, split)
    if (task.outputs and "outputs" in task.basis) or (task.actions and "actions" in task.basis):
        return False
    if task.judged and "judged" in task.basis:
        return False
    worlds = domain.worlds(task)
    try:
        unmet = "assertions" in task.basis and not all(
            _holds(domain, worlds, assertion) for assertion in task.assertions
        )
    except DataError:  # the domain has no such function
        return False
    if unmet:
        return False
    grade = domain.edition.grade
    if grade is not None:
        return grade(domain, index, split, Trajectory(), worlds).value == 1
    return "database" not in task.basis or domain.ground_truth(index, split).matches(worlds)


def _no_demand(task: Task) -> str:
    if task.assertions:
        return "its assertions hold from the start"
    return "no record changes and no output is needed"


def _duplicates(tasks: Sequence[Task], chosen: Sequence[int]) -> Iterator[TaskProblem]:
    first: dict[tuple[Any, ...], int] = {}
    for index, task in enumerate(tasks):
        actions = [(a.name, dict(a.kwargs)) for a in task.actions]
        content = (task.instruction, repr((actions, task.initial, task.assertions)))
        earlier = first.setdefault(content, index)
        if earlier != index and index in chosen:
            text = f"is the same as task {earlier}"
            yield TaskProblem(index, text, "duplicate", {"same_as": earlier})


class _ArgumentCheck:
    """Checks the arguments of actions against the schemas of their tools."""

    def __init__(self, domain: Domain) -> None:
        self._edition = domain.edition
        user_tools = domain.edition.user_tools or Toolset()
        self._validators: dict[Party, dict[str, Any]] = {
            "agent": _validators(domain.tool_infos),
            "user": _validators(list(domain.pack.user_tool_infos) or user_tools.infos),
        }

    def __call__(self, action: Action) -> Iterator[str]:
        if action.name == RESPOND:
            return
        tool = self._edition.tool(action.party, action.name)
        validator = self._validators[action.party].get(action.name)
        # A tool without a schema is one that an agent has to discover first.
        if tool is None or (validator is None and tool.listed):
            owner = "" if action.party == "agent" else " of the user"
            yield f"is not a tool{owner} of this domain"
            return
        if validator is None:
            return
        from referencing.exceptions import Unresolvable

        try:
            errors = list(validator.iter_errors(dict(action.kwargs)))
        except (Unresolvable, RecursionError, re.error) as error:
            raise _unusable(action.name, error) from error
        for error in errors:
            place = ".".join(str(part) for part in error.absolute_path)
            yield f"{place}: {error.message}" if place else error.message


def _validators(infos: Sequence[ToolInfo]) -> dict[str, Any]:
    from jsonschema import Draft202012Validator, SchemaError
    from referencing import Registry

    validators: dict[str, Any] = {}
    for info in infos:
        name, schema = info["function"]["name"], info["function"]["parameters"]
        try:
            Draft202012Validator.check_schema(schema)
        except (SchemaError, RecursionError) as error:
            raise _unusable(name, error) from error
        # An empty registry: nothing is fetched, whatever a reference names.
        validators[name] = Draft202012Validator(
            schema | {"additionalProperties": False}, registry=Registry()
        )
    return validators


def _unusable(name: str, error: Exception) -> DataError:
    reason = getattr(error, "message", None) or type(error).__name__
    return DataError(f"The schema of the tool '{name}' cannot be used: {reason:.200}.")
