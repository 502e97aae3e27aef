"""Judging: a language model says who was at fault in failed episodes, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.util.imports import later

if TYPE_CHECKING:
    from greenroom.judging.config import JudgingConfig
    from greenroom.judging.faults import judge_episode
    from greenroom.judging.run import (
        Failures,
        FaultSummary,
        enqueue_judging,
        failures_of,
        policy_seen,
        reopen_judging,
        run_judging,
        start_judging,
        summarise,
    )

if not TYPE_CHECKING:
    # Reading the options of a judging needs none of the rest.
    __getattr__ = later(
        __name__,
        config="JudgingConfig",
        faults="judge_episode",
        run=(
            "Failures FaultSummary enqueue_judging failures_of policy_seen reopen_judging "
            "run_judging start_judging summarise"
        ),
    )

__all__ = [
    "Failures",
    "FaultSummary",
    "JudgingConfig",
    "enqueue_judging",
    "failures_of",
    "judge_episode",
    "policy_seen",
    "reopen_judging",
    "run_judging",
    "start_judging",
    "summarise",
]
