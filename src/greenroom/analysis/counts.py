"""Episodes as they are counted: what reports need of each, without its trajectory.

Everything is worked out once, when an episode is kept, and stands beside its record in the store.
Episodes that were kept without it are counted from their records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import intern

from greenroom.analysis.errors import diagnose, kept_diagnosis
from greenroom.analysis.figures import Diagnosis
from greenroom.analysis.judged import judged_counts
from greenroom.analysis.metrics import played_way
from greenroom.analysis.slices import wanted_tools
from greenroom.analysis.tools import tools_of
from greenroom.store import CellKey, EpisodeRecord, EpisodeSummary, Store
from greenroom.store.aggregates import StoredCounts, stored_counts
from greenroom.store.episode_counts import COUNTS_VERSION, EpisodeCounts
from greenroom.store.records import total_cost
from greenroom.util.raw_json import record_text


@dataclass(frozen=True, slots=True)
class CountedEpisode:
    """What is counted of an episode, and why it failed."""

    summary: EpisodeSummary
    counts: EpisodeCounts
    diagnosis: Diagnosis | None
    is_pruned: bool = False
    """Its conversation was pruned."""


def counts_of(episode: EpisodeRecord) -> EpisodeCounts:
    """What is counted of an episode beyond the columns that every result has."""
    return counted_episode(episode).counts


def counted_episode(episode: EpisodeRecord) -> CountedEpisode:
    """An episode as it is counted, from its record."""
    diagnosis = diagnose(episode)
    pruned = episode.pruned
    counts = _counts(episode, diagnosis) if pruned is None else pruned.counts
    return CountedEpisode(EpisodeSummary.of(episode), counts, diagnosis, pruned is not None)


def _counts(episode: EpisodeRecord, diagnosis: Diagnosis | None) -> EpisodeCounts:
    return EpisodeCounts(
        counted=COUNTS_VERSION,
        steps=episode.step_count,
        turns=episode.turns,
        instruction=episode.task.instruction,
        tags=episode.task.tags,
        wanted=wanted_tools(episode),
        tools=tools_of(episode, "agent"),
        user_tools=tools_of(episode, "user"),
        turn_seconds=episode.turn_seconds,
        model_seconds=episode.model_seconds,
        played=played_way(episode),
        crash=(episode.error or "unknown") if episode.outcome == "crashed" else "",
        judged=judged_counts(episode.details),
        facts=episode.facts,
        tallies=episode.tallies,
        user_tallies=episode.user_tallies,
        diagnosis="" if diagnosis is None else record_text(diagnosis),
    )


def counted_episodes(
    store: Store, run_id: str, keys: Sequence[CellKey] | None = None
) -> Iterator[CountedEpisode]:
    """The episodes of a run as they are counted, by task and trial; with keys, only these."""
    for found in stored_counts(store.engine, run_id, keys):
        if isinstance(found, EpisodeRecord):
            yield counted_episode(found)
        else:
            yield _from_counts(found)


def _from_counts(found: StoredCounts) -> CountedEpisode:
    counts, usage = found.counts, found.usage
    summary = EpisodeSummary(
        task_index=found.task_index,
        trial=found.trial,
        outcome=found.outcome,
        reward=found.reward,
        step_count=counts.steps,
        turns=counts.turns,
        seconds=found.seconds,
        cost=total_cost(usage.values()),
        usage=usage,
        # All episodes of a task share one text.
        instruction=intern(counts.instruction),
    )
    return CountedEpisode(summary, counts, kept_diagnosis(counts), found.is_pruned)
