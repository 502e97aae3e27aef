"""Retries: only after errors that may pass, with a growing wait, and a limited number of times."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import count
from typing import TypeVar

import anyio

from greenroom.models.faults import NO_TOKENS, Fault, Tokens
from greenroom.models.types import Completion, ModelUnavailable

T = TypeVar("T")

BASE_SECONDS = 0.5
LONGEST_BACKOFF = 20.0
LONGEST_WAIT = 120.0
"""Seconds: a longer Retry-After is cut to this."""


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How often and when an attempt is repeated; clock and sleep can be replaced."""

    max_retries: int = 3
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    clock: Callable[[], float] = time.time
    draw: Callable[[], float] = random.random
    """A number from 0 to 1."""

    def asked(self, retry_after: str | None) -> float:
        """Seconds that a provider wants to be left alone for."""
        return min(retry_after_seconds(retry_after, self.clock()) or 0.0, LONGEST_WAIT)

    def wait(self, retry: int, retry_after: str | None) -> float:
        """Seconds before the retry, counted from 1.

        Full jitter spreads the calls that failed together; it is added to what the provider asks
        for, so that they do not all come back in the same moment either.
        """
        backoff = self.draw() * min(LONGEST_BACKOFF, BASE_SECONDS * 2 ** (retry - 1))
        asked = retry_after_seconds(retry_after, self.clock())
        return backoff if asked is None else min(asked, LONGEST_WAIT) + backoff


@dataclass(slots=True)
class RetryTally:
    """What a question took so far; the caller holds it and counts it even without an answer."""

    attempts: int = 0
    wasted: Tokens = NO_TOKENS
    """Tokens of answers that could not be used."""
    lost: int = 0
    """Attempts that were sent, and no answer said what they cost."""

    @property
    def retries(self) -> int:
        """Attempts after the first."""
        return max(self.attempts - 1, 0)


async def retried(
    attempt: Callable[[], Awaitable[T]], policy: RetryPolicy, passing: Callable[[Exception], bool]
) -> T:
    """What an attempt gives; the attempt is repeated while its error may pass.

    `passing` says whether it may. An error with a `retry_after` says when. The last one is raised.
    """
    for retry in count(1):
        try:
            return await attempt()
        except Exception as error:
            if retry > policy.max_retries or not passing(error):
                raise
            asked = getattr(error, "retry_after", None)
        await policy.sleep(policy.wait(retry, asked))
    raise AssertionError("there is always another number")


async def answered(
    attempt: Callable[[], Awaitable[Completion]], policy: RetryPolicy, tally: RetryTally, name: str
) -> Completion:
    """The first usable answer; ModelUnavailable where there is none after all retries.

    `attempt` counts itself in the tally, once it really asks.
    """

    def passing(error: Exception) -> bool:
        return isinstance(error, Fault) and error.final is None

    try:
        return await retried(attempt, policy, passing)
    except Fault as error:
        fault = error
    if fault.final is not None:
        raise fault.final
    retries = policy.max_retries
    times = "1 retry" if retries == 1 else f"{retries} retries"
    raise ModelUnavailable(
        f"{name} gave no usable answer after {times}: {fault.reason}",
        retries=retries,
        status=fault.status,
    )


def wait_asked(headers: Mapping[str, str]) -> str | None:
    """The Retry-After of a response. A date counts from the response's own: clocks differ."""
    named = {name.lower(): value for name, value in headers.items()}
    asked = named.get("retry-after")
    try:
        now = parsedate_to_datetime(named.get("date", "")).timestamp()
    except (ValueError, OverflowError):
        return asked
    seconds = retry_after_seconds(asked, now)
    return None if seconds is None else str(seconds)


def retry_after_seconds(text: str | None, now: float) -> float | None:
    """What a Retry-After header asks for: seconds, or an HTTP date; None if neither."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(seconds) else max(seconds, 0.0)
