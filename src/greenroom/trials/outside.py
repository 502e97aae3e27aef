"""Whose fault it was: what breaks outside of the agent or workflow does not count against it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from greenroom.errors import InputError, OutsideFault, redacted
from greenroom.models import BudgetExhausted


@contextmanager
def outside_fault(who: str) -> Generator[None]:
    """What breaks in the block is the fault of `who`, and becomes an infrastructure error."""
    try:
        yield
    except (InputError, BudgetExhausted, OutsideFault):
        raise
    except Exception as error:
        raise OutsideFault(redacted(f"{who} broke: {type(error).__name__}: {error}")) from error
