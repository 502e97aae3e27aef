"""Spans of jobs, and what a cell used as attributes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import AbstractContextManager

from greenroom.store import JobRecord, Usage
from greenroom.tracing import Attributes, Span, names, spans


def job_span(kind: str, job: JobRecord, *, resumed: bool) -> AbstractContextManager[Span]:
    """The span of a job, from its beginning or from where it goes on.

    The first one has ids that follow from the job's, so that a later one can name it in a link,
    even if the process was killed before it could keep anything.
    """
    first = hashlib.sha256(f"greenroom {kind} {job.id}".encode()).hexdigest()
    ids = first[:32], first[32:48]
    parent = spans.traceparent() or spans.parent_process()
    return spans.opened(
        kind,
        {names.JOB_ID: job.id, names.PLANNED: job.planned, names.RESUMED: resumed},
        parent=parent,
        inherited={names.JOB_NAME: job.name},
        ids=None if parent or resumed else ids,
        link=f"00-{ids[0]}-{ids[1]}-01" if resumed and not parent else None,
    )


def usage_attributes(usage: Mapping[str, Usage]) -> Attributes:
    """What a cell used, in all and by purse. An unknown price is left out, never 0."""
    if not usage:
        return {}
    total = Usage.total(usage.values())
    found = {
        names.INPUT_TOKENS: total.prompt_tokens,
        names.OUTPUT_TOKENS: total.completion_tokens,
        names.COST: total.cost,
        names.RETRIES: total.retries,
        names.LOST_CALLS: total.lost_calls,
    }
    if total.cached_calls:
        found |= {
            names.CACHED_INPUT_TOKENS: total.cached_prompt_tokens,
            names.CACHED_OUTPUT_TOKENS: total.cached_completion_tokens,
            names.CACHED_COST: total.cached_cost,
        }
    for purse, one in usage.items():
        found |= {
            names.of_purse(purse, "calls"): one.calls,
            names.of_purse(purse, "input_tokens"): one.prompt_tokens,
            names.of_purse(purse, "output_tokens"): one.completion_tokens,
            names.of_purse(purse, "cost"): one.cost,
        }
    return found
