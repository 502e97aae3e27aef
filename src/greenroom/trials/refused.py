"""A new job that is refused leaves nothing behind."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from greenroom.errors import InputError
from greenroom.store import JobRecord, Jobs, StoreError


@contextmanager
def remove_if_refused(jobs: Jobs[Any, Any, Any], job: JobRecord) -> Generator[None]:
    """Remove a new job if bad input stops it before it has any result: its name is free again."""
    try:
        yield
    except StoreError:
        raise  # what the job has cannot be asked for
    except InputError:
        if not jobs.attempts(job.id) and next(iter(jobs.summaries(job.id)), None) is None:
            jobs.delete(job)
        raise
