"""What people set of a job that is under way, from another terminal."""

from __future__ import annotations

from greenroom.store.record import Record
from greenroom.util.raw_json import raw_value


class Control(Record):
    """What the workers of a job are told. None leaves what the job was started with."""

    paused: bool = False
    """No further cell is begun."""
    max_concurrency: int | None = None
    """Cells at once, over all workers."""
    max_cost: float | None = None
    max_tokens_total: int | None = None


def control_of(text: str | None) -> Control:
    """What stands in a job's row."""
    return Control() if text is None else Control.model_validate(raw_value(text))
