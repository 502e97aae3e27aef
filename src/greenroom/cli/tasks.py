"""`greenroom tasks`: what there is to play, and whether it is fit to be measured with."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig, check_config
from greenroom.cli.config_options import takes
from greenroom.cli.options import Json, ListOptionsCommand, chosen_tasks
from greenroom.cli.output import console, print_json, print_table
from greenroom.config import DEFAULT_SPLIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from greenroom.domains.domain import Domain
    from greenroom.domains.tasks import Action, Assertion, SetUpCall, Task

app = typer.Typer(help="List, show and check tasks.", no_args_is_help=True)

_ID_WIDTH = 40

WORLD = ("env", "env_options", "data", "task_split")
TASKS = (*WORLD, "task_ids", "start_index", "end_index")


@app.command("list", cls=ListOptionsCommand)
@takes(RunConfig, only=TASKS)
def list_tasks(fields: dict[str, Any], json: Json = False) -> None:
    """List the tasks of a split."""
    from greenroom.domains.tasks import task_name
    from greenroom.reports.texts import plural, wish

    domain, config = _world(fields)
    task_split, indices = config.task_split, chosen_tasks(domain, config)
    tasks = [(index, domain.task(index, task_split)) for index in indices]
    if json:
        print_json([{"task_id": index} | task.to_json() for index, task in tasks])
        return
    out = console()
    # A number that is the place again says nothing more.
    with_ids = any(task_name(index, task) != str(index) for index, task in tasks)
    longest = max((len(task.id or "") for _, task in tasks), default=0) if with_ids else -3
    room = out.width - 43 - min(longest, _ID_WIDTH)
    rows = [
        (
            str(index),
            *([_short(task.id or "")] if with_ids else []),
            str(len(task.actions)),
            str(len(task.outputs)),
            textwrap.shorten(wish(task.instruction), room, placeholder=" ..."),
        )
        for index, task in tasks
    ]
    title = (
        f"{domain.name}, split {domain.pack.split_named(task_split)}: {plural(len(tasks), 'task')}"
    )
    numbers = ("Task", "Actions", "Outputs")
    headings = ("Task", *(["Id"] if with_ids else []), "Actions", "Outputs", "What the user wants")
    print_table(title, headings, rows, right=numbers, title_justify="center")
    info = domain.pack.info
    out.print(f"Pack {info.name} {info.version}; licence: {info.licence}")
    unscored = sum(task.unscored_count for _, task in tasks)
    if unscored:
        out.print(f"{unscored} criteria of these tasks are not scored (see tasks show).")


@app.command()
@takes(RunConfig, only=WORLD)
def show(
    fields: dict[str, Any],
    task_id: Annotated[
        str, typer.Argument(help="The task's place in its split, from 0, or its own id.")
    ],
    json: Json = False,
) -> None:
    """Show a task: its instruction, who has to do what, what counts, and which records change."""
    from greenroom.domains.tasks import task_name, task_places

    domain, config = _world(fields)
    task_split = config.task_split
    (index,) = task_places(
        domain.tasks(task_split), [int(task_id) if task_id.isdecimal() else task_id]
    )
    task = domain.task(index, task_split)
    set_up, truth = domain.worlds(task).changes(), domain.ground_truth(index, task_split).changes
    # What the task begins with is no change.
    changed = [
        f"{place.table}[{place.id}]"
        for place in dict.fromkeys([*truth, *set_up])
        if truth.get(place) != set_up.get(place)
    ]
    if json:
        print_json({"task_id": index} | task.to_json() | {"changes": changed})
        return
    out = console()
    out.print(f"Task {task_name(index, task)}", style="bold", end=" ", markup=False)
    out.print(f"of {domain.name}, split {domain.pack.split_named(task_split)}")
    _print_texts(task)
    if task.initial is not None and task.initial.calls:
        _print_calls("Set-up", task.initial.calls)
    _print_calls("Ground truth", task.actions)
    out.print("\nChanges", style="bold", end=": ")
    out.print(", ".join(changed) or "nothing", markup=False)
    _print_criteria(task)


def _print_texts(task: Task) -> None:
    out = console()
    for line in task.instruction.splitlines():
        out.print(textwrap.fill(line, 100), markup=False)
    if task.ticket is not None:
        out.print("\nTicket, for an agent that works alone", style="bold")
        for line in task.ticket.splitlines():
            out.print(textwrap.fill(line, 100), markup=False)


def _print_criteria(task: Task) -> None:
    out = console()
    if task.outputs:
        out.print("The user must hear", style="bold", end=": ")
        out.print(", ".join(task.outputs), markup=False)
    if task.assertions:
        _print_calls("Assertions", task.assertions)
    if task.judged:
        out.print("\nFor a judge", style="bold")
        for sentence in task.judged:
            out.print(f"  - {sentence}", soft_wrap=True, markup=False)
    out.print("Counts", style="bold", end=": ")
    out.print(", ".join(task.basis) or "nothing: the reward is 1")
    for kind, criteria in task.unscored.items():
        out.print("Not scored", style="bold", end=f" ({kind}):\n")
        for criterion in criteria:
            out.print(f"  - {criterion}", markup=False)


def _print_calls(title: str, calls: Sequence[Action | Assertion | SetUpCall]) -> None:
    from greenroom.domains.tasks import Assertion

    out = console()
    out.print(f"\n{title}", style="bold")
    for call in calls:
        arguments = ", ".join(f"{name}={value!r}" for name, value in call.kwargs.items())
        party = "user: " if call.party == "user" else ""
        expected = f" is {call.expected}" if isinstance(call, Assertion) else ""
        out.print(f"  {party}{call.name}({arguments}){expected}", soft_wrap=True, markup=False)


@app.command(cls=ListOptionsCommand)
@takes(RunConfig, only=TASKS)
def validate(fields: dict[str, Any], json: Json = False) -> None:
    """Check that tasks can be measured with; the exit status is 1 if one cannot."""
    from greenroom.domains.tasks import task_name
    from greenroom.domains.validation import solved_by_nothing, validate_tasks

    domain, config = _world(fields)
    task_split, indices = config.task_split, chosen_tasks(domain, config)
    problems = validate_tasks(domain, task_split, indices)
    faulty = {problem.task_index for problem in problems}
    idle = solved_by_nothing(domain, task_split, indices)
    unscored = sum(domain.task(index, task_split).unscored_count for index in indices)
    if json:
        result: dict[str, Any] = {
            "tasks": len(indices),
            "unscored_criteria": unscored,
            "solved_by_doing_nothing": idle,
            "problems": [{"task_id": p.task_index, "problem": p.problem} for p in problems],
        }
        print_json(result)
    else:
        out = console()
        for problem in problems:
            name = task_name(problem.task_index, domain.task(problem.task_index, task_split))
            out.print(f"task {name}: {problem.problem}", soft_wrap=True, markup=False)
        if unscored:
            out.print(f"{unscored} criteria of these tasks are not scored (see tasks show).")
        if idle:
            named = ", ".join(map(str, idle))
            out.print(f"An agent that does nothing solves {len(idle)}: {named}", soft_wrap=True)
        good = len(indices) - len(faulty)
        out.print(f"{good}/{len(indices)} tasks are sound")
    if problems:
        raise typer.Exit(1)


@app.command(cls=ListOptionsCommand)
@takes(RunConfig, only=(*TASKS, "exclude_tasks"))
def audit(
    fields: dict[str, Any],
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run",
            help="A stored run, or a result file, of these tasks; give those of two agents or "
            "more, and the tasks are listed that none of them solves, or only by doing less.",
            metavar="RUN|FILE",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help="Only findings of this kind. May be given several times."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the findings as JSON; --exclude-tasks of other commands takes the file.",
            metavar="FILE",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Find the tasks that measure something else than the agent, with evidence."""
    from greenroom.cli.task_audit import audit_split

    domain, config = _world(fields)
    audit_split(domain, config, run or [], kind or [], output, json=json)


@app.command()
def diff(
    before: Annotated[str, typer.Argument(help="A pack, a directory or a run.", metavar="A")],
    after: Annotated[str, typer.Argument(help="What it is compared with.", metavar="B")],
    env: Annotated[
        str | None, typer.Option("--env", help="The domain; by default all that both have.")
    ] = None,
    task_split: Annotated[
        str, typer.Option("--task-split", help="The split of packs; by default their main one.")
    ] = DEFAULT_SPLIT,
    lines: Annotated[
        bool, typer.Option("--lines", help="Show the lines that differ, too.")
    ] = False,
    json: Json = False,
) -> None:
    """Say which tasks of two packs, directories or runs differ, and how."""
    from greenroom.cli.task_diff import find_differences, print_difference

    found = find_differences(before, after, env, task_split)
    if json:
        print_json([one.to_json() for one in found])
        return
    for one in found:
        print_difference(one, lines=lines)


def _short(name: str) -> str:
    return name if len(name) <= _ID_WIDTH else f"{name[: _ID_WIDTH - 3]}..."


def _world(fields: dict[str, Any]) -> tuple[Domain, RunConfig]:
    from greenroom.domains.domain import load_domain

    config = check_config(fields)
    return load_domain(config.env, config.data, config.env_options), config
