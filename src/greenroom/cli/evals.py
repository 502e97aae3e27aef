"""`greenroom evals`: what was evaluated, every result of it, and going on."""

from __future__ import annotations

import sys
from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.eval import JUnit
from greenroom.cli.evaluating import Outcome, report_outcome, run_and_report
from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json
from greenroom.errors import InputError
from greenroom.evaluation.config import EvaluationConfig

if TYPE_CHECKING:
    from greenroom.store import EvaluationRecord, Store

app = typer.Typer(help="List, show, resume, export and delete evaluations.", no_args_is_help=True)

Evaluation = Annotated[
    str, typer.Argument(help="The name or id of an evaluation.", metavar="EVALUATION")
]


class Format(StrEnum):
    """The forms that an evaluation can be exported in."""

    json = "json"
    jsonl = "jsonl"
    markdown = "markdown"
    junit = "junit"


@app.command("list")
def list_evaluations(json: Json = False) -> None:
    """List all evaluations, the newest first."""
    from rich.markup import escape
    from rich.table import Table

    from greenroom.evaluation.report import evaluation_facts
    from greenroom.store import open_store

    store = open_store()
    found = [(one, len(store.evaluations.finished(one.id))) for one in store.evaluations.all()]
    if json:
        print_json([evaluation_facts(one) | {"finished": done} for one, done in found])
        return
    if not found:
        console().print("No evaluations yet. Try: greenroom eval WORKFLOW TESTSET -e exact_match")
        return
    table = Table(title=f"Evaluations in {store.location}", title_justify="left")
    for heading in ("Name", "Workflow", "Test set", "Evaluators", "Calls", "Status", "Created"):
        table.add_column(heading, justify="right" if heading == "Calls" else "left")
    for one, done in found:
        table.add_row(
            escape(one.name),
            escape(one.workflow),
            escape(f"{one.test_set_name}@{one.test_set_version}"),
            escape(", ".join(str(spec["alias"]) for spec in one.evaluators)),
            f"{done}/{one.planned}",
            one.status,
            f"{one.created_at.astimezone():%Y-%m-%d %H:%M}",
        )
    console().print(table)


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
    failures: Annotated[
        int, typer.Option("--failures", help="How many results that did not pass to show.", min=0)
    ] = 5,
    json: Json = False,
) -> None:
    """Show an evaluation: its figures; or one row: exactly what was compared with what."""
    from greenroom.evaluation.console import print_evaluation
    from greenroom.evaluation.report import report_evaluation, report_facts
    from greenroom.store import open_store

    store = open_store()
    record = store.evaluations.find(evaluation)
    if row is not None:
        _show_row(store, record, row, repeat, json=json)
        return
    if repeat is not None:
        raise InputError("--repeat goes with --row.")
    report = report_evaluation(store, record, failures=failures)
    if json:
        print_json(report_facts(report))
    else:
        print_evaluation(report, console())


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
@takes(EvaluationConfig, only=("gates", "strict"))
def check(
    fields: dict[str, Any],
    evaluation: Evaluation,
    junit: JUnit = None,
    json: Json = False,
) -> None:
    """Hold gates against an evaluation; the exit status is 1 if one fails.

    Without gates those count that it was begun with.
    """
    from greenroom.store import open_store

    strict = fields.get("strict") or None
    outcome = Outcome(gates=fields.get("gates"), strict=strict, junit=junit, json=json)
    report_outcome(open_store(), evaluation, outcome)


@app.command()
def export(
    evaluation: Evaluation,
    format: Annotated[  # noqa: A002
        Format, typer.Option("--format", help="The form to write.")
    ] = Format.json,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; else it is printed.")
    ] = None,
) -> None:
    """Export an evaluation: JSON with all results, a result per line, Markdown or JUnit XML."""
    from greenroom.store import open_store
    from greenroom.util.files import write_whole

    store = open_store()
    text = _rendered(store, store.evaluations.find(evaluation), format)
    if output is None:
        sys.stdout.write(text)
    else:
        write_whole(output, text)
        typer.echo(f"Wrote {output}")


@app.command()
def delete(
    evaluation: Evaluation,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete an evaluation with all its results; its test set stays."""
    from greenroom.store import open_store

    store = open_store()
    record = store.evaluations.find(evaluation)
    if not yes:
        done = len(store.evaluations.finished(record.id))
        typer.confirm(f"Delete '{record.name}' with {done} results?", abort=True)
    store.evaluations.delete(record)
    typer.echo(f"Deleted {record.name}")


def _show_row(
    store: Store, evaluation: EvaluationRecord, row: int, repeat: int | None, *, json: bool
) -> None:
    from greenroom.evaluation.console import print_result
    from greenroom.evaluation.report import result_facts

    if row > evaluation.row_count:
        raise InputError(f"There is no row {row}: '{evaluation.name}' has {evaluation.row_count}.")
    if repeat is not None and repeat > evaluation.repeats:
        raise InputError(f"Each row of '{evaluation.name}' was given {evaluation.repeats} times.")
    wanted = range(evaluation.repeats) if repeat is None else [repeat - 1]
    found = [store.evaluations.result(evaluation.id, (row - 1, one)) for one in wanted]
    results = [result for result in found if result is not None]
    if not results:
        raise InputError(f"Row {row} of '{evaluation.name}' has no result yet.")
    version = store.test_sets.find(evaluation.test_set_id, evaluation.test_set_version)
    content = next(store.test_sets.rows(version, start=row - 1, limit=1))
    if json:
        print_json({"row": content, "results": [result_facts(result) for result in results]})
        return
    for result in results:
        print_result(evaluation, content, result, console())


def _rendered(store: Store, evaluation: EvaluationRecord, form: Format) -> str:
    from greenroom.evaluation.junit import render_junit
    from greenroom.evaluation.markdown import render_evaluation_markdown
    from greenroom.evaluation.report import exported_results, report_evaluation, report_facts
    from greenroom.reports.plain import plain
    from greenroom.util.raw_json import raw_text

    if form is Format.jsonl:
        return "".join(f"{raw_text(one)}\n" for one in exported_results(store, evaluation))
    report = report_evaluation(store, evaluation, failures=50)
    if form is Format.markdown:
        return render_evaluation_markdown(report)
    if form is Format.junit:
        return render_junit(evaluation, store.evaluations.results(evaluation.id), report.gates)
    facts = report_facts(report) | {"results": list(exported_results(store, evaluation))}
    return f"{dumps(plain(facts), indent=2, ensure_ascii=False)}\n"
