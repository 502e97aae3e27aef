"""`greenroom errors`: why episodes failed, or results did not pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json
from greenroom.cli.result_files import Env, opened_jobs

if TYPE_CHECKING:
    from greenroom.analysis.figures import Diagnosis
    from greenroom.reports.sections import Failures
    from greenroom.store import EvaluationRecord, RunRecord, Store


app = typer.Typer()


@app.command()
def errors(
    name: Annotated[
        str,
        typer.Argument(
            help="The name or id of a run or an evaluation, or a Tau Bench result file.",
            metavar="NAME|FILE",
        ),
    ],
    env: Env = "retail",
    limit: Annotated[int, typer.Option("--limit", help="How many failures to explain.")] = 20,
    json: Json = False,
) -> None:
    """Break failures down by kind, and explain each with its evidence."""
    from greenroom.analysis.counts import counted_episodes
    from greenroom.analysis.errors import explained
    from greenroom.store import RunRecord

    with opened_jobs([name], env) as (store, (job,)):
        if json and isinstance(job, RunRecord):
            found = explained(one.diagnosis for one in counted_episodes(store, job.id))
            print_json(found.model_dump())
            return
        section = _failures(store, job, None if json else limit)
    if json:
        print_json(section.model_dump())
    elif not section.total:
        console().print(f"No failures in {job.name}.")
    else:
        from greenroom.reports.console import Printer

        title = f"{job.name}: {section.total} failures"
        shown = section.model_copy(update={"title": title, "shown": limit})
        Printer(console(), more="--limit or --json").section(shown)


def _failures(store: Store, job: RunRecord | EvaluationRecord, limit: int | None) -> Failures:
    from greenroom.analysis.counts import counted_episodes
    from greenroom.analysis.errors import explained
    from greenroom.reports.build import evaluated_rows
    from greenroom.reports.build_evaluation import failure_section as evaluation_failures
    from greenroom.reports.build_run import failure_section as run_failures
    from greenroom.store import RunRecord

    if isinstance(job, RunRecord):
        instructions: dict[int, str] = {}

        def noting() -> Iterator[Diagnosis | None]:
            for one in counted_episodes(store, job.id):
                instructions.setdefault(one.summary.task_index, one.summary.instruction)
                yield one.diagnosis

        return run_failures(explained(noting(), limit), instructions)
    return evaluation_failures(evaluated_rows(store, job), job, limit)
