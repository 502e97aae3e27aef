"""`greenroom audit`: what simulated users did wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json
from greenroom.cli.result_files import Env, opened_jobs

if TYPE_CHECKING:
    from greenroom.audit import UserAudit
    from greenroom.store import EvaluationRecord, RunRecord, Store


app = typer.Typer()


@app.command()
def audit(
    name: Annotated[
        str,
        typer.Argument(
            help="The name or id of a run or an evaluation, or a result file of Tau Bench or tau2.",
            metavar="NAME|FILE",
        ),
    ],
    env: Env = "retail",
    limit: Annotated[
        int, typer.Option("--limit", help="How many findings to show of each list.", min=0)
    ] = 20,
    json: Json = False,
) -> None:
    """Find what simulated users did wrong, without a model: which failures may be theirs.

    Every conversation is read. The official figures stay what they are.
    """
    from greenroom.store import RunRecord

    with opened_jobs([name], env) as (store, (job,)):
        found = _audited(store, job)
        item, label = ("task" if isinstance(job, RunRecord) else "row"), job.name
    if json:
        print_json({"source": label, **found.model_dump(mode="json")})
        return
    _print(label, found, item, limit)


def _audited(store: Store, job: RunRecord | EvaluationRecord) -> UserAudit:
    from greenroom.reports.build import evaluated_rows
    from greenroom.reports.user_audit import audit_rows, audit_run
    from greenroom.store import RunRecord

    if isinstance(job, RunRecord):
        return audit_run(store, job)
    return audit_rows(evaluated_rows(store, job), job.config.get("user_persona"))


def _print(label: str, found: UserAudit, item: str, limit: int) -> None:
    from greenroom.reports.console import Printer
    from greenroom.reports.sections import Table
    from greenroom.reports.user_audit import audit_sections

    if not found.talks:
        console().print(f"No conversations of simulated users to read in {label}.")
        return
    console().print(f"{label}: {found.talks:,} conversations of simulated users were read")
    printer = Printer(console(), more="--limit or --json")
    for section in audit_sections(found, item):
        if isinstance(section, Table) and len(section.rows) > limit:
            more = f"{len(section.rows) - limit:,} more: --limit or --json shows them."
            update = {"rows": section.rows[:limit], "notes": [*section.notes, more]}
            section = section.model_copy(update=update)
        printer.section(section)
