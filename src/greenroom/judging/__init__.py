"""Judging: a language model says who was at fault in failed episodes, and how."""

from __future__ import annotations

from greenroom.judging.config import JudgingConfig
from greenroom.judging.faults import judge_episode
from greenroom.judging.run import (
    FaultSummary,
    failed_episodes,
    policy_seen,
    run_judging,
    start_judging,
    summarise,
)

__all__ = [
    "FaultSummary",
    "JudgingConfig",
    "failed_episodes",
    "judge_episode",
    "policy_seen",
    "run_judging",
    "start_judging",
    "summarise",
]
