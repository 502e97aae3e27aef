"""Jobs of every kind, opened again for a worker that helps with them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.store import JobRecord, Store

Work = Callable[..., Awaitable[None]]
"""Works through a job; takes `helps`, `on_plan` and `on_result`."""


def reopened(store: Store, kind: str, job: JobRecord) -> Work:
    """What works through a job that was kept before."""
    return _OPENERS[kind](store, job)


def _run(store: Store, job: JobRecord) -> Work:
    from greenroom.benchmark import play_run, reopen_run

    record, context = reopen_run(store, job.id)
    _refuse_person(job, interactive=context.interactive)
    return partial(play_run, store, record, context)


def _evaluation(store: Store, job: JobRecord) -> Work:
    import anyio

    from greenroom.evaluation import reopen_evaluation, run_evaluation

    record, context = anyio.run(lambda: reopen_evaluation(store, job.id))
    _refuse_person(job, interactive=context.interactive)
    return partial(run_evaluation, store, record, context)


def _judging(store: Store, job: JobRecord) -> Work:
    from greenroom.judging import reopen_judging, run_judging

    return partial(run_judging, store, *reopen_judging(store, job.id))


def _regrading(store: Store, job: JobRecord) -> Work:
    from greenroom.benchmark.regradings import reopen_regrading, run_regrading

    return partial(run_regrading, store, *reopen_regrading(store, job.id))


def _refuse_person(job: JobRecord, *, interactive: bool) -> None:
    if interactive:
        raise InputError(f"A person plays the user of '{job.name}': no worker can help.")


_OPENERS = {
    "run": _run,
    "evaluation": _evaluation,
    "judging": _judging,
    "regrading": _regrading,
}
