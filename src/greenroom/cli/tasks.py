"""`greenroom tasks`: what there is to play, and whether it is fit to be measured with."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig, check_config
from greenroom.cli.config_options import takes
from greenroom.cli.options import Json, ListOptionsCommand, chosen_tasks
from greenroom.cli.output import console, print_json, print_table

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain

app = typer.Typer(help="List, show and check tasks.", no_args_is_help=True)

WORLD = ("env", "env_options", "data", "task_split")
TASKS = (*WORLD, "task_ids", "start_index", "end_index")


@app.command("list", cls=ListOptionsCommand)
@takes(RunConfig, only=TASKS)
def list_tasks(fields: dict[str, Any], json: Json = False) -> None:
    """List the tasks of a split."""
    from greenroom.reports.texts import wish

    domain, config = _world(fields)
    task_split, indices = config.task_split, chosen_tasks(domain, config)
    tasks = [(index, domain.task(index, task_split)) for index in indices]
    if json:
        print_json([{"task_id": index} | task.to_json() for index, task in tasks])
        return
    out = console()
    rows = [
        (
            str(index),
            str(len(task.actions)),
            str(len(task.outputs)),
            textwrap.shorten(wish(task.instruction), out.width - 40, placeholder=" ..."),
        )
        for index, task in tasks
    ]
    title = f"{domain.name}, split {task_split}: {len(tasks)} tasks"
    numbers = ("Task", "Actions", "Outputs")
    print_table(
        title, (*numbers, "What the user wants"), rows, right=numbers, title_justify="center"
    )
    info = domain.pack.info
    out.print(f"Pack {info.name} {info.version}; licence: {info.licence}")
    unscored = sum(task.unscored_count for _, task in tasks)
    if unscored:
        out.print(f"{unscored} criteria of these tasks are not scored (see tasks show).")


@app.command()
@takes(RunConfig, only=WORLD)
def show(
    fields: dict[str, Any],
    task_id: Annotated[int, typer.Argument(help="The task's place in its split, from 0.")],
    json: Json = False,
) -> None:
    """Show a task: its instruction, ground truth and outputs, and what they change."""
    domain, config = _world(fields)
    task_split = config.task_split
    task = domain.task(task_id, task_split)
    truth = domain.ground_truth(task_id, task_split)
    changed = [f"{place.table}[{place.id}]" for place in truth.changes]
    if json:
        print_json({"task_id": task_id} | task.to_json() | {"changes": changed})
        return
    out = console()
    out.print(f"Task {task_id}", style="bold", end=" ")
    out.print(f"of {domain.name}, split {task_split}")
    for line in task.instruction.splitlines():
        out.print(textwrap.fill(line, 100))
    out.print("\nGround truth", style="bold")
    for action in task.actions:
        arguments = ", ".join(f"{name}={value!r}" for name, value in action.kwargs.items())
        out.print(f"  {action.name}({arguments})", soft_wrap=True)
    out.print("\nChanges", style="bold", end=": ")
    out.print(", ".join(changed) or "nothing")
    if task.outputs:
        out.print("The user must hear", style="bold", end=": ")
        out.print(", ".join(task.outputs))
    for kind, criteria in task.unscored.items():
        out.print("Not scored", style="bold", end=f" ({kind}):\n")
        for criterion in criteria:
            out.print(f"  - {criterion}")


@app.command(cls=ListOptionsCommand)
@takes(RunConfig, only=TASKS)
def validate(fields: dict[str, Any], json: Json = False) -> None:
    """Check that tasks can be measured with; the exit status is 1 if one cannot."""
    from greenroom.domains.validation import validate_tasks

    domain, config = _world(fields)
    task_split, indices = config.task_split, chosen_tasks(domain, config)
    problems = validate_tasks(domain, task_split, indices)
    faulty = {problem.task_index for problem in problems}
    unscored = sum(domain.task(index, task_split).unscored_count for index in indices)
    if json:
        result: dict[str, Any] = {
            "tasks": len(indices),
            "unscored_criteria": unscored,
            "problems": [{"task_id": p.task_index, "problem": p.problem} for p in problems],
        }
        print_json(result)
    else:
        out = console()
        for problem in problems:
            out.print(f"task {problem.task_index}: {problem.problem}", soft_wrap=True)
        if unscored:
            out.print(f"{unscored} criteria of these tasks are not scored (see tasks show).")
        good = len(indices) - len(faulty)
        out.print(f"{good}/{len(indices)} tasks are sound")
    if problems:
        raise typer.Exit(1)


def _world(fields: dict[str, Any]) -> tuple[Domain, RunConfig]:
    from greenroom.domains.domain import load_domain

    config = check_config(fields)
    return load_domain(config.env, config.data, config.env_options), config
