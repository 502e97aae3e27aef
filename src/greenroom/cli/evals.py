"""`greenroom evals`: what was evaluated, every result of it, and going on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.operating import EVALUATIONS, operating_commands
from greenroom.cli.options import Json, JUnit, Output
from greenroom.cli.output import console, echo, print_json
from greenroom.cli.reporting import (
    ReportOptions,
    deliver,
    list_jobs,
    report_commands,
    report_options,
)
from greenroom.cli.worker_options import WorkerOptions
from greenroom.cli.working import run_and_report, tell_workers
from greenroom.errors import InputError
from greenroom.evaluation.config import EvaluationConfig
from greenroom.options import checked

if TYPE_CHECKING:
    from greenroom.store import EvaluationRecord, Evaluations, Store

app = typer.Typer(help="List, show, resume, export and delete evaluations.", no_args_is_help=True)

Evaluation = Annotated[
    str, typer.Argument(help="The name or id of an evaluation.", metavar="EVALUATION")
]


def _find(name: str) -> tuple[Store, Evaluations, EvaluationRecord]:
    from greenroom.store import open_store

    store = open_store()
    return store, store.evaluations, store.evaluations.find(name)


report_commands(app, _find, "an evaluation", "results")
operating_commands(app, EVALUATIONS)


@app.command("list")
def list_evaluations(json: Json = False) -> None:
    """List all evaluations, the newest first."""
    from greenroom.store import open_store

    store = open_store()
    list_jobs(
        store.evaluations,
        {
            "Workflow": lambda one: one.workflow,
            "Test set": _test_set,
            "Evaluators": lambda one: ", ".join(str(spec["alias"]) for spec in one.evaluators),
        },
        lambda one: one.model_dump(mode="json") | {"test_set": _test_set(one)},
        title=f"Evaluations in {store.location}",
        cells="Calls",
        figure="score",
        first="No evaluations yet. Try: greenroom eval WORKFLOW TESTSET -e exact_match",
        json=json,
    )


@app.command()
@takes(ReportOptions, without=("exclude_tasks",))
def show(
    fields: dict[str, Any],
    evaluation: Evaluation,
    row: Annotated[
        int | None,
        typer.Option("--row", help="Show the results of this row in full, from 1.", min=1),
    ] = None,
    repeat: Annotated[
        int | None, typer.Option("--repeat", help="Only this repeat of the row, from 1.", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Show an evaluation: its figures; or one row: exactly what was compared with what."""
    store, _, found = _find(evaluation)
    if row is not None:
        _show_row(store, found, row, repeat, json=json)
    elif repeat is not None:
        raise InputError("--repeat goes with --row.")
    else:
        deliver(store, found, checked(ReportOptions, fields), json=json)


@app.command()
@takes(EvaluationConfig, on_resume=True)
def resume(
    fields: dict[str, Any],
    evaluation: Evaluation,
    junit: JUnit = None,
    output: Output = None,
    *,
    workers: WorkerOptions,
    json: Json = False,
) -> None:
    """Go on with an evaluation that was interrupted: only calls without a result are made."""
    import anyio

    from greenroom.evaluation import reopen_evaluation
    from greenroom.judges import finish_check
    from greenroom.reports.judge_checks import is_check
    from greenroom.store import open_store

    wanted = report_options(junit, output)
    store = open_store()
    record, context = anyio.run(lambda: reopen_evaluation(store, evaluation, fields))
    tell_workers(store.evaluations, record, fields)
    run_and_report(store, record, context, wanted, workers=workers, json=json)
    if is_check(record):
        finish_check(store, record)
        if not json:
            echo(f"It checks a judge: 'greenroom judges show {record.name}' says what it found.")


def _test_set(evaluation: EvaluationRecord) -> str:
    return f"{evaluation.test_set_name}@{evaluation.test_set_version}"


def _show_row(
    store: Store, evaluation: EvaluationRecord, row: int, repeat: int | None, *, json: bool
) -> None:
    from greenroom.reports.console import print_result
    from greenroom.reports.report import EvaluatedRow

    if row > evaluation.row_count:
        raise InputError(f"There is no row {row}: '{evaluation.name}' has {evaluation.row_count}.")
    if repeat is not None and repeat > evaluation.repeats:
        raise InputError(f"Each row of '{evaluation.name}' was given {evaluation.repeats} times.")
    wanted = range(evaluation.repeats) if repeat is None else [repeat - 1]
    kept = [store.evaluations.result(evaluation.id, (row - 1, one)) for one in wanted]
    results = [result for result in kept if result is not None]
    if not results:
        raise InputError(f"Row {row} of '{evaluation.name}' has no result yet.")
    version = store.test_sets.find(evaluation.test_set_id, evaluation.test_set_version)
    content = next(store.test_sets.rows(version, start=row - 1, limit=1))
    found = [EvaluatedRow.of(result, content) for result in results]
    if json:
        print_json({"row": content, "results": [one.model_dump(mode="json") for one in found]})
        return
    for one in found:
        print_result(evaluation, one, console())
