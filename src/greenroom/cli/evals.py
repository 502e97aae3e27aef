"""`greenroom evals`: what was evaluated, every result of it, and going on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.evaluating import run_and_report
from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json
from greenroom.cli.reporting import (
    All,
    By,
    Failures,
    Form,
    Gates,
    JUnit,
    Outcome,
    Output,
    Strict,
    Yes,
    delete_job,
    deliver,
    finish,
    print_jobs,
    reported,
    write,
)
from greenroom.errors import InputError
from greenroom.evaluation.config import EvaluationConfig

if TYPE_CHECKING:
    from greenroom.store import EvaluationRecord, Store

app = typer.Typer(help="List, show, resume, export and delete evaluations.", no_args_is_help=True)

Evaluation = Annotated[
    str, typer.Argument(help="The name or id of an evaluation.", metavar="EVALUATION")
]


@app.command("list")
def list_evaluations(json: Json = False) -> None:
    """List all evaluations, the newest first."""
    from greenroom.store import open_store

    store = open_store()
    found = [(one, len(store.evaluations.finished(one.id))) for one in store.evaluations.all()]
    if json:
        print_json(
            [
                one.model_dump(mode="json")
                | {"test_set": _test_set(one), "planned": one.planned, "finished": done}
                for one, done in found
            ]
        )
        return
    if not found:
        console().print("No evaluations yet. Try: greenroom eval WORKFLOW TESTSET -e exact_match")
        return
    print_jobs(
        f"Evaluations in {store.location}",
        ("Name", "Workflow", "Test set", "Evaluators", "Calls", "Status", "Created"),
        [
            (
                one.name,
                one.workflow,
                _test_set(one),
                ", ".join(str(spec["alias"]) for spec in one.evaluators),
                f"{done}/{one.planned}",
                one.status,
                f"{one.created_at.astimezone():%Y-%m-%d %H:%M}",
            )
            for one, done in found
        ],
        right="Calls",
    )


@app.command()
def show(
    evaluation: Evaluation,
    row: Annotated[
        int | None,
        typer.Option("--row", help="Show the results of this row in full, from 1.", min=1),
    ] = None,
    repeat: Annotated[
        int | None, typer.Option("--repeat", help="Only this repeat of the row, from 1.", min=1)
    ] = None,
    by: By = None,
    gate: Gates = None,
    strict: Strict = False,
    failures: Failures = 5,
    all_: All = False,
    junit: JUnit = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Show an evaluation: its figures; or one row: exactly what was compared with what."""
    from greenroom.store import open_store

    store = open_store()
    record = store.evaluations.find(evaluation)
    if row is not None:
        _show_row(store, record, row, repeat, json=json)
        return
    if repeat is not None:
        raise InputError("--repeat goes with --row.")
    outcome = Outcome(gate, strict or None, by or (), junit, output, json, all_, failures)
    deliver(store, record, outcome)


@app.command()
def report(
    evaluation: Evaluation,
    output: Output = Path("report.html"),
    by: By = None,
    gate: Gates = None,
    strict: Strict = False,
    junit: JUnit = None,
) -> None:
    """Write an evaluation's report: by default a page that needs nothing but a browser."""
    from greenroom.store import open_store

    store = open_store()
    outcome = Outcome(gate, strict or None, by or (), junit, output=output)
    deliver(store, store.evaluations.find(evaluation), outcome)


@app.command()
@takes(EvaluationConfig, on_resume=True)
def resume(
    fields: dict[str, Any],
    evaluation: Evaluation,
    junit: JUnit = None,
    json: Json = False,
) -> None:
    """Go on with an evaluation that was interrupted: only calls without a result are made."""
    import anyio

    from greenroom.evaluation import reopen_evaluation
    from greenroom.store import open_store

    store = open_store()
    record, prepared = anyio.run(lambda: reopen_evaluation(store, evaluation, fields))
    run_and_report(store, record, prepared, Outcome(junit=junit, json=json))


@app.command()
def check(
    evaluation: Evaluation,
    gate: Gates = None,
    strict: Strict = False,
    junit: JUnit = None,
    json: Json = False,
) -> None:
    """Hold gates against an evaluation; the exit status is 1 if one fails.

    Without gates those count that it was begun with.
    """
    from greenroom.store import open_store

    store = open_store()
    outcome = Outcome(gates=gate, strict=strict or None, junit=junit, json=json)
    deliver(store, store.evaluations.find(evaluation), outcome)


@app.command()
def export(
    evaluation: Evaluation,
    format: Form = None,  # noqa: A002
    output: Output = None,
    by: By = None,
    gate: Gates = None,
    strict: Strict = False,
    junit: JUnit = None,
) -> None:
    """Export an evaluation: everything as JSON, results as a table, Markdown or JUnit XML."""
    from greenroom.store import open_store

    store = open_store()
    outcome = Outcome(gate, strict or None, by or (), junit)
    found = reported(store, store.evaluations.find(evaluation), outcome)
    write(found, output, format)
    finish(found)


@app.command()
def delete(evaluation: Evaluation, yes: Yes = False) -> None:
    """Delete an evaluation with all its results; its test set stays."""
    from greenroom.store import open_store

    store = open_store()
    delete_job(store.evaluations, store.evaluations.find(evaluation), "results", yes=yes)


def _test_set(evaluation: EvaluationRecord) -> str:
    return f"{evaluation.test_set_name}@{evaluation.test_set_version}"


def _show_row(
    store: Store, evaluation: EvaluationRecord, row: int, repeat: int | None, *, json: bool
) -> None:
    from greenroom.reports.report import EvaluatedRow
    from greenroom.reports.result import print_result

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
