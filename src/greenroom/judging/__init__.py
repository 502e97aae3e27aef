"""Judging: a language model says who was at fault in failed episodes, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.util.imports import later

if TYPE_CHECKING:
    from greenroom.judging.config import JudgingConfig, check_judging_config
    from greenroom.judging.faults import judge_episode
    from greenroom.judging.records import FaultAuthor, FaultJudgement, FaultKind, FaultSummary
    from greenroom.judging.run import failed_episodes, judge_episodes, policy_seen, summarise
    from greenroom.judging.storage import judging_usage, load_judgements, save_judgements

# Who only reads options need not wait for what it takes to judge.
__getattr__ = later(
    __name__,
    {
        "JudgingConfig": "config",
        "check_judging_config": "config",
        "judge_episode": "faults",
        "FaultAuthor": "records",
        "FaultJudgement": "records",
        "FaultKind": "records",
        "FaultSummary": "records",
        "failed_episodes": "run",
        "judge_episodes": "run",
        "policy_seen": "run",
        "summarise": "run",
        "judging_usage": "storage",
        "load_judgements": "storage",
        "save_judgements": "storage",
    },
)

__all__ = [
    "FaultAuthor",
    "FaultJudgement",
    "FaultKind",
    "FaultSummary",
    "JudgingConfig",
    "check_judging_config",
    "failed_episodes",
    "judge_episode",
    "judge_episodes",
    "judging_usage",
    "load_judgements",
    "policy_seen",
    "save_judgements",
    "summarise",
]
