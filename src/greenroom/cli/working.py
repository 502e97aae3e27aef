"""Working through a job at the command line: progress, Ctrl-C, budgets, reports, how to go on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from greenroom.cli.output import echo
from greenroom.cli.reporting import ReportOptions, finish, reported, show, write

if TYPE_CHECKING:
    from greenroom.benchmark import RunContext
    from greenroom.evaluation import EvaluationContext
    from greenroom.reports.sections import Report
    from greenroom.store import CellRecord, EvaluationRecord, JobRecord, Jobs, RunRecord, Store

RecordT = TypeVar("RecordT", bound="CellRecord")

OUT_OF_BUDGET = 3
INTERRUPTED = 130


def work(
    jobs: Jobs[Any, RecordT, Any],
    job: JobRecord,
    run: Callable[..., Awaitable[None]],
    figure: str,
    value: Callable[[RecordT], float | None],
    *,
    before: Iterable[float | None] = (),
    noun: str,
    shown: bool,
    resume: str | None = None,
) -> None:
    """Work through what is left of a job, or say how to go on with it and exit.

    `run` takes `on_plan` and `on_result`; `watch_job` explains `figure`, `value` and `before`.
    `noun` names the cells. `resume` is the command that goes on, if it is not that of the job's
    kind.
    """
    import anyio

    from greenroom.models import BudgetExhausted
    from greenroom.trials import watch_job

    resume = resume or f"{jobs.kind.resume} {job.name}"
    left = job.planned - len(jobs.finished(job.id))
    try:
        with watch_job(job.name, left, figure, value, before=before, shown=shown) as watcher:
            anyio.run(partial(run, on_plan=watcher.on_plan, on_result=watcher.on_result))
    except KeyboardInterrupt:
        _say_how_to_go_on(jobs, job, "Stopped", noun, resume)
        raise typer.Exit(INTERRUPTED) from None
    except BudgetExhausted as spent:
        resume += " --max-cost ... (or --max-tokens-total ...)"
        _say_how_to_go_on(jobs, job, str(spent).rstrip("."), noun, resume)
        raise typer.Exit(OUT_OF_BUDGET) from None


def _say_how_to_go_on(
    jobs: Jobs[Any, Any, Any], job: JobRecord, why: str, noun: str, resume: str
) -> None:
    kept = len(jobs.finished(job.id))
    echo(
        f"\n{why}: {kept} of {job.planned} {noun} are finished and stored. Go on with: {resume}",
        err=True,
    )


def play_and_report(
    store: Store, run: RunRecord, context: RunContext, outcome: ReportOptions, *, json: bool = False
) -> Report:
    """Play what is left of a run, then show its report, or say how to go on."""
    from greenroom.benchmark import play_run

    earlier = store.runs.summaries(run.id)
    work(
        store.runs,
        run,
        partial(play_run, store, run, context),
        "pass^1",
        lambda episode: float(episode.solved),
        before=[float(one.solved) for one in earlier if one.reward is not None],
        noun="episodes",
        # A person who plays the user needs the terminal for themselves.
        shown=not json and not context.interactive,
    )
    run = store.runs.find(run.id)
    hints: list[str] = []
    if run.status != "complete":
        again = f"greenroom resume {run.name}"
        hints.append(f"Some episodes broke without a result. Try them again: {again}")
    if str(run.config.get("model") or "").startswith("local/"):
        hints.append(
            "A model this small only shows that the pipeline works: its score means nothing."
        )
    return _report(store, run, outcome, hints, "runs", json=json)


def run_and_report(
    store: Store,
    evaluation: EvaluationRecord,
    context: EvaluationContext,
    outcome: ReportOptions,
    *,
    json: bool = False,
) -> None:
    """Call what is left of an evaluation, then show its report, or say how to go on."""
    from greenroom.evaluation import run_evaluation
    from greenroom.store.evaluation_records import score_of

    alias = str(evaluation.evaluators[0]["alias"])
    earlier = store.evaluations.summaries(evaluation.id)
    work(
        store.evaluations,
        evaluation,
        partial(run_evaluation, store, evaluation, context),
        alias,
        lambda result: score_of(result, alias),
        before=(score_of(one, alias) for one in earlier),
        noun="calls",
        # A person who plays the user needs the terminal for themselves.
        shown=not json and not context.interactive,
    )
    evaluation = store.evaluations.find(evaluation.id)
    hints: list[str] = []
    if evaluation.status != "complete":
        again = f"greenroom evals resume {evaluation.name}"
        hints.append(f"Some calls gave no answer. Make them again: {again}")
    finish(_report(store, evaluation, outcome, hints, "evals", json=json))


def _report(
    store: Store,
    job: RunRecord | EvaluationRecord,
    outcome: ReportOptions,
    hints: list[str],
    group: str,
    *,
    json: bool,
) -> Report:
    report = reported(store, job, outcome)
    show(report, outcome.model_copy(update={"output": None}), json=json)
    if not json:
        page = f"greenroom {group} report {job.name} -o report.html"
        echo("\n".join([*hints, f"Stored as '{job.name}'. As a page: {page}"]))
    if outcome.output is not None:
        write(report, outcome.output, told_on_stderr=json)
    return report
