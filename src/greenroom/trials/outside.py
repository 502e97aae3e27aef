"""Whose fault it was: what breaks outside of the agent or workflow does not count against it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from greenroom.errors import EpisodeOver, InputError, OutsideFault, redacted
from greenroom.models import BudgetExhausted
from greenroom.util.exits import no_exit


@contextmanager
def outside_fault(who: str) -> Generator[None]:
    """What breaks in the block is the fault of `who`, and becomes an infrastructure error.

    An episode that is over is nobody's fault.
    """
    try:
        with no_exit():
            yield
    except (EpisodeOver, InputError, BudgetExhausted, OutsideFault):
        raise
    except Exception as error:
        raise OutsideFault(redacted(f"{who} broke: {type(error).__name__}: {error}")) from error
