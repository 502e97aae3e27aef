"""A new job that is refused leaves nothing behind."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from greenroom.errors import InputError
from greenroom.store import JobRecord, Jobs, StoreError


@contextmanager
def remove_if_refused(
    jobs: Jobs[Any, Any, Any], begun: JobRecord | Sequence[JobRecord]
) -> Generator[None]:
    """Remove a new job if bad input stops it before it has any result: its name is free again.

    Several jobs that belong together stay or go together; more may be added to them on the way.
    """
    try:
        yield
    except StoreError:
        raise  # what the job has cannot be asked for
    except InputError:
        together = [begun] if isinstance(begun, JobRecord) else begun
        if not any(has_begun(jobs, job) for job in together):
            for job in together:
                jobs.delete(job)
        raise


def has_begun(jobs: Jobs[Any, Any, Any], job: JobRecord) -> bool:
    """Whether a job has a result, or an attempt that gave none."""
    return bool(jobs.attempts(job.id)) or next(iter(jobs.summaries(job.id)), None) is not None
