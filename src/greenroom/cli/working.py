"""Working through a job at the command line: progress, Ctrl-C, budgets, reports, how to go on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from greenroom.cli.reporting import ReportOptions, finish, reported, show
from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from greenroom.benchmark import RunContext
    from greenroom.evaluation import EvaluationContext
    from greenroom.reports.sections import Report
    from greenroom.store import (
        CellRecord,
        EvaluationRecord,
        JobRecord,
        Jobs,
        ResultRecord,
        ResultSummary,
        RunRecord,
        Store,
    )
    from greenroom.trials import Plan, Progress

RecordT = TypeVar("RecordT", bound="CellRecord")

OUT_OF_BUDGET = 3
INTERRUPTED = 130


@dataclass(frozen=True)
class Watcher:
    """What a job calls while it is under way."""

    on_plan: Callable[[Plan[Any, Any]], None]
    on_result: Callable[[Any], None]


def work(
    jobs: Jobs[Any, RecordT, Any],
    job: JobRecord,
    run: Callable[[Watcher], Awaitable[None]],
    standing: Progress,
    value: Callable[[RecordT], float | None],
    *,
    noun: str,
    shown: bool,
    resume: str | None = None,
) -> None:
    """Work through what is left of a job, or say how to go on with it and exit.

    `value` is what a result adds to the figure that `standing` shows; `noun` names the cells.
    `resume` is the command that goes on, where it is not that of the job's kind.
    """
    import anyio

    from greenroom.models import BudgetExhausted

    resume = resume or f"{jobs.kind.resume} {job.name}"
    left = job.planned - len(jobs.finished(job.id))
    try:
        with progress_bar(job.name, left, shown=shown) as advance:

            def note(record: RecordT) -> None:
                standing.add(record, value(record))
                advance(str(standing))

            anyio.run(run, Watcher(on_plan=standing.watch, on_result=note))
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
    typer.echo(
        f"\n{why}: {kept} of {job.planned} {noun} are finished and stored. Go on with: {resume}",
        err=True,
    )


def play_and_report(
    store: Store, run: RunRecord, context: RunContext, outcome: ReportOptions, *, json: bool = False
) -> Report:
    """Play what is left of a run, then show its report, or say how to go on."""
    from greenroom.benchmark import play_run
    from greenroom.trials import Progress

    async def play(watcher: Watcher) -> None:
        await play_run(store, run, context, on_plan=watcher.on_plan, on_episode=watcher.on_result)

    before = [float(one.solved) for one in store.runs.summaries(run.id) if one.reward is not None]
    work(
        store.runs,
        run,
        play,
        Progress("pass^1", before),
        lambda episode: float(episode.solved),
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
    from greenroom.trials import Progress

    alias = str(evaluation.evaluators[0]["alias"])

    async def run(watcher: Watcher) -> None:
        await run_evaluation(
            store, evaluation, context, on_plan=watcher.on_plan, on_result=watcher.on_result
        )

    work(
        store.evaluations,
        evaluation,
        run,
        Progress(alias, (_score(one, alias) for one in store.evaluations.summaries(evaluation.id))),
        lambda result: _score(result, alias),
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


def _score(result: ResultRecord | ResultSummary, alias: str) -> float | None:
    score = result.scores.get(alias)
    return None if score is None else score.score


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
    show(report, outcome, json=json)
    if not json:
        page = f"greenroom {group} report {job.name} -o report.html"
        typer.echo("\n".join([*hints, f"Stored as '{job.name}'. As a page: {page}"]))
    return report
