"""Benchmarks: episodes of agents in domains, and checks of the domains themselves."""

from __future__ import annotations

from greenroom.benchmark.conformance import ConformanceReport, Mismatch, check_conformance
from greenroom.benchmark.episode import Episode, Outcome, play_episode
from greenroom.benchmark.replay import ReplayedEpisode, replay_recordings
from greenroom.benchmark.runner import run_episodes

__all__ = [
    "ConformanceReport",
    "Episode",
    "Mismatch",
    "Outcome",
    "ReplayedEpisode",
    "check_conformance",
    "play_episode",
    "replay_recordings",
    "run_episodes",
]
