"""Judging: a language model says who was at fault in failed episodes, and how."""

from __future__ import annotations

from greenroom.judging.faults import judge_episode
from greenroom.judging.records import FaultAuthor, FaultJudgement, FaultKind, FaultSummary
from greenroom.judging.run import failed_episodes, judge_episodes, policy_seen, summarise
from greenroom.judging.storage import judging_usage, load_judgements, save_judgements

__all__ = [
    "FaultAuthor",
    "FaultJudgement",
    "FaultKind",
    "FaultSummary",
    "failed_episodes",
    "judge_episode",
    "judge_episodes",
    "judging_usage",
    "load_judgements",
    "policy_seen",
    "save_judgements",
    "summarise",
]
