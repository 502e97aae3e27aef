"""Working through a job at the command line: progress, signals, budgets, reports, how to go on."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from greenroom.cli.output import echo
from greenroom.cli.reporting import FAILED, ReportOptions, finish, reported, show, write
from greenroom.cli.worker_options import ALONE, WorkerOptions
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.benchmark import RunContext
    from greenroom.cli.supervising import Executor
    from greenroom.evaluation import EvaluationContext
    from greenroom.reports.sections import Report
    from greenroom.store import CellRecord, EvaluationRecord, JobRecord, Jobs, RunRecord, Store

RecordT = TypeVar("RecordT", bound="CellRecord")

OUT_OF_BUDGET = 3
STOPPED = 128
"""The exit status after a signal is this and the signal's number: 130 for Ctrl-C."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, *filter(None, [getattr(signal, "SIGHUP", None)]))
_ONE_MOMENT = 1.0


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
    kept: bool = True,
    workers: WorkerOptions = ALONE,
) -> None:
    """Work through what is left of a job, or say how to go on with it and exit.

    `workers` says whether others do it, and this process looks after them.
    `run` takes `on_plan` and `on_result`; `watch_job` explains `figure`, `value` and `before`.
    `noun` names the cells. `resume` is the command that goes on, if it is not that of the job's
    kind. A job that is not `kept` is in a passing store: it can only begin anew.
    """
    from greenroom.cli.long_cells import telling_of_long_cells
    from greenroom.cli.operating import OPERATED
    from greenroom.cli.ray_connection import StoppedBySignal
    from greenroom.cli.supervising import BudgetSpent
    from greenroom.models import BudgetExhausted
    from greenroom.store import StoreError
    from greenroom.trials import has_begun, watch_job

    resume = resume or f"{jobs.kind.resume} {job.name}"
    left = job.planned - len(jobs.finished(job.id))
    try:
        if workers.shared:
            stopped = _look_after(jobs, job, workers, figure, shown=shown)
        else:
            with (
                watch_job(job.name, left, figure, value, before=before, shown=shown) as watcher,
                telling_of_long_cells(jobs, job, OPERATED[jobs.kind.name], shown=shown),
            ):
                watched = partial(run, on_plan=watcher.on_plan, on_result=watcher.on_result)
                stopped = run_until_stopped(watched)
    except KeyboardInterrupt:
        stopped = signal.SIGINT
    except StoppedBySignal as early:
        stopped = early.number
    except (BudgetExhausted, BudgetSpent) as spent:
        resume += " --max-cost ... (or --max-tokens-total ...)"
        why = str(spent).rstrip(".")
        if isinstance(spent, BudgetSpent):
            why += f" ({_used(jobs, job, tokens='tokens' in why)})"
        _say_how_to_go_on(jobs, job, why, noun, resume, kept=kept)
        raise typer.Exit(OUT_OF_BUDGET) from None
    except StoreError:
        raise  # it says itself how to go on
    except InputError:
        if has_begun(jobs, job):
            _say_how_to_go_on(jobs, job, "Stopped by an error", noun, resume, kept=kept)
        raise
    if stopped is not None:
        _say_how_to_go_on(jobs, job, "Stopped", noun, resume, kept=kept)
        raise typer.Exit(STOPPED + stopped)


def _look_after(
    jobs: Jobs[Any, Any, Any], job: JobRecord, workers: WorkerOptions, figure: str, *, shown: bool
) -> int | None:
    """Have workers do what is left: the signal that stopped them, if one did."""
    from greenroom.cli.following import Follower, Standing
    from greenroom.cli.long_cells import OTHERS_PLAY, LongCellsTeller
    from greenroom.cli.operating import OPERATED
    from greenroom.cli.supervising import Supervisor
    from greenroom.trials import progress_bar

    before = Follower(jobs, job).look().finished
    left = job.planned - len(jobs.finished(job.id))
    long = LongCellsTeller(OPERATED[jobs.kind.name], OTHERS_PLAY)
    with (
        _executor(jobs, job, workers, left) as executor,
        progress_bar(job.name, job.planned - before, shown=shown) as display,
    ):

        def tell(standing: Standing) -> None:
            display.stand(max(standing.finished - before, 0), standing.note(figure))
            if shown:
                long.tell(standing.long)

        return run_until_stopped(partial(Supervisor(jobs, job, executor).work, tell))


def _executor(
    jobs: Jobs[Any, Any, Any], job: JobRecord, workers: WorkerOptions, left: int
) -> AbstractContextManager[Executor]:
    if workers.executor == "ray":
        from greenroom.cli.ray_cluster import joined_cluster

        return joined_cluster(jobs, job, workers)
    from greenroom.cli.processes import Processes, worker_arguments

    # One without anything to do would only take its time to start.
    count = max(min(workers.processes or 0, left), 1)
    return nullcontext(Processes(worker_arguments(jobs, job), count))


def run_until_stopped(run: Callable[[], Awaitable[None]]) -> int | None:
    """Run until the end, or until a signal cancels it: return the signal's number."""
    import anyio

    stopped: int | None = None

    async def main() -> bool:
        loop = asyncio.get_running_loop()
        with anyio.CancelScope() as scope:

            def stop(number: int) -> None:
                nonlocal stopped
                stopped = number
                loop.call_soon_threadsafe(scope.cancel)

            _handle_signals(stop)
            await run()
        return scope.cancelled_caught

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    cancelled = False
    try:
        cancelled = anyio.run(main)
    except SystemExit as error:
        raise InputError(
            f"A task that an agent or a workflow had started called sys.exit({error.code!r})."
        ) from error
    finally:
        if not cancelled and threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler or signal.SIG_DFL)
    return stopped if cancelled else None


def _handle_signals(stop: Callable[[int], None]) -> None:
    """Call `stop` at the first signal. Signals in the same moment count as one with it.

    A later one ends the process at once.
    """
    first: float | None = None

    def handle(number: int, _: object) -> None:
        nonlocal first
        if first is None:
            first = time.monotonic()
            # Signals that come late must not break the end of the process.
            for one in _SIGNALS:
                atexit.register(signal.signal, one, signal.SIG_IGN)
            stop(number)
        elif time.monotonic() - first > _ONE_MOMENT:
            os.write(2, b"\nStopped at once: what was under way is lost.\n")
            os._exit(STOPPED + number)

    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handle)


def _used(jobs: Jobs[Any, Any, Any], job: JobRecord, *, tokens: bool) -> str:
    used = jobs.usages(job.id)
    if tokens:
        return f"{sum(one.tokens for one in used):,}"
    return f"${sum(one.cost or 0.0 for one in used):.4f}"


def _say_how_to_go_on(
    jobs: Jobs[Any, Any, Any], job: JobRecord, why: str, noun: str, resume: str, *, kept: bool
) -> None:
    done = f"{len(jobs.finished(job.id))} of {job.planned} {noun} are finished"
    how = f" and stored. Go on with: {resume}" if kept else f", and not kept. Once more: {resume}"
    echo(f"\n{why}: {done}{how}", err=True)


def play_and_report(
    store: Store,
    run: RunRecord,
    context: RunContext,
    outcome: ReportOptions,
    *,
    workers: WorkerOptions = ALONE,
    json: bool = False,
) -> Report:
    """Play what is left of a run, then show its report, or say how to go on.

    `workers` says who plays it.
    """
    # A person who plays the user needs the terminal for themselves.
    shown = not json and not context.interactive
    run = play(store, run, context, workers=workers, shown=shown)
    hints: list[str] = []
    if run.status != "complete":
        again = f"greenroom resume {run.name}"
        hints.append(f"Some episodes broke without a result. Try them again: {again}")
    if str(run.config.get("model") or "").startswith("local/"):
        hints.append(
            "A model this small only shows that the pipeline works: its score means nothing."
        )
    report = _report(store, run, outcome, hints, "runs", json=json)
    check_any(store.runs, run, "episode")
    return report


def play(
    store: Store,
    run: RunRecord,
    context: RunContext,
    *,
    workers: WorkerOptions,
    shown: bool,
    resume: str | None = None,
) -> RunRecord:
    """Play what is left of a run and return it as it is then, or say how to go on.

    `resume` is the command that goes on, if it is not that for this run alone.
    """
    from greenroom.benchmark import play_run

    if workers.shared:
        queue_run(store, run, context)
        leave_to_workers([(store.runs, run)], workers)

    for caveat in run.pack.get("caveats", ()):
        typer.echo(f"note: {caveat}", err=True)
    earlier = store.runs.summaries(run.id)
    work(
        store.runs,
        run,
        partial(play_run, store, run, context),
        "pass^1",
        lambda episode: float(episode.solved),
        before=[float(one.solved) for one in earlier if one.reward is not None],
        noun="episodes",
        shown=shown,
        resume=resume,
        workers=workers,
    )
    return store.runs.find(run.id)


def queue_run(store: Store, run: RunRecord, context: RunContext) -> None:
    """Put what is left of a run into the queue for workers."""
    from greenroom.benchmark import enqueue_run

    _refuse_person(context)
    enqueue_run(store, run, context)


def run_and_report(
    store: Store,
    evaluation: EvaluationRecord,
    context: EvaluationContext,
    outcome: ReportOptions,
    *,
    workers: WorkerOptions = ALONE,
    json: bool = False,
) -> None:
    """Call what is left of an evaluation, then show its report, or say how to go on.

    `workers` says who makes the calls.
    """
    from greenroom.evaluation import enqueue_evaluation, run_evaluation
    from greenroom.store.evaluation_records import score_of

    if workers.shared:
        _refuse_person(context)
        enqueue = partial(enqueue_evaluation, store, evaluation)
        hand_over(store.evaluations, evaluation, enqueue, workers)
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
        workers=workers,
    )
    evaluation = store.evaluations.find(evaluation.id)
    hints: list[str] = []
    if evaluation.status != "complete":
        again = f"greenroom evals resume {evaluation.name}"
        hints.append(f"Some calls gave no answer. Make them again: {again}")
    report = _report(store, evaluation, outcome, hints, "evals", json=json)
    check_any(store.evaluations, evaluation, "call")
    finish(report)


def _refuse_person(context: RunContext | EvaluationContext) -> None:
    if context.interactive:
        raise InputError(
            "A person who plays the user has one terminal: leave --processes and --executor out."
        )


def hand_over(
    jobs: Jobs[Any, Any, Any],
    job: JobRecord,
    enqueue: Callable[[], None],
    workers: WorkerOptions,
) -> None:
    """Put what is left of a job into the queue for workers; with 0 of our own, say so and exit."""
    enqueue()
    leave_to_workers([(jobs, job)], workers)


def leave_to_workers(
    queued: Iterable[tuple[Jobs[Any, Any, Any], JobRecord]], workers: WorkerOptions
) -> None:
    """With 0 workers of our own, say which jobs wait for others and exit."""
    if workers.processes == 0:
        for jobs, job in queued:
            echo(
                f"'{job.name}' waits for workers. Start them anywhere, as many as you like: "
                f"greenroom worker --{jobs.kind.name} {job.name}"
            )
        raise typer.Exit


def check_any(jobs: Jobs[Any, Any, Any], job: JobRecord, noun: str) -> None:
    """Exit with an error if nothing has a result: that is no success."""
    if job.planned and not jobs.finished(job.id):
        typer.echo(f"error: No {noun} of '{job.name}' has a result.", err=True)
        raise typer.Exit(FAILED)


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


def tell_workers(jobs: Jobs[Any, Any, Any], job: JobRecord, changes: Mapping[str, Any]) -> None:
    """Let a job go on with changes to its configuration, for this process and all that help."""
    if not jobs.workers.standings(job.id):  # else it is refused
        jobs.controls.change(job.id, paused=False, config=changes)
