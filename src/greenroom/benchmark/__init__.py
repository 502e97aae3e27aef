"""Benchmarks: runs of agents in domains, and checks of the domains themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.util.imports import later

if TYPE_CHECKING:
    from greenroom.benchmark.config import RunConfig, check_config
    from greenroom.benchmark.conformance import ConformanceReport, Mismatch, check_conformance
    from greenroom.benchmark.context import RunContext, prepare_run
    from greenroom.benchmark.episode import Episode, play_episode
    from greenroom.benchmark.recording import episode_record
    from greenroom.benchmark.replay import ReplayedEpisode, replay_recordings
    from greenroom.benchmark.runner import enqueue_run, play_run, reopen_run, start_run

if not TYPE_CHECKING:
    # Reading the options of a run needs none of the rest.
    __getattr__ = later(
        __name__,
        config="RunConfig check_config",
        conformance="ConformanceReport Mismatch check_conformance",
        context="RunContext prepare_run",
        episode="Episode play_episode",
        recording="episode_record",
        replay="ReplayedEpisode replay_recordings",
        runner="enqueue_run play_run reopen_run start_run",
    )

__all__ = [
    "ConformanceReport",
    "Episode",
    "Mismatch",
    "ReplayedEpisode",
    "RunConfig",
    "RunContext",
    "check_config",
    "check_conformance",
    "enqueue_run",
    "episode_record",
    "play_episode",
    "play_run",
    "prepare_run",
    "reopen_run",
    "replay_recordings",
    "start_run",
]
