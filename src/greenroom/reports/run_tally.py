"""What is kept of a run's episodes while they are read once: all that its sections need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from greenroom.analysis.comparison import ComparedRun
from greenroom.analysis.counts import CountedEpisode
from greenroom.analysis.errors import FailureTally
from greenroom.analysis.judged import JudgedFigures, JudgedTally
from greenroom.analysis.metrics import RepeatTally, add_episode_seconds, measure_run, new_spans
from greenroom.analysis.slices import SlicedEpisode, slices_of
from greenroom.analysis.tally import usage_by_purse
from greenroom.analysis.tools import ToolTally
from greenroom.config import JudgeConfig
from greenroom.reports import shared_sections as shared
from greenroom.reports.exclusions import counted_of_run, of_run
from greenroom.reports.judge_checks import check_of_sentences
from greenroom.reports.leaderboard import published_rows
from greenroom.reports.report import RunData, StoredEpisodes
from greenroom.store import NO_RESULT, RunRecord, Store
from greenroom.store.records import EpisodeSummary, total_cost
from greenroom.store.tallies import Tallies, add_tallies


class ComparedTally:
    """Counts the episodes of a run one by one, as far as a comparison needs it."""

    def __init__(self) -> None:
        self.counted: list[EpisodeSummary] = []
        self._reasons: dict[int, tuple[int, str]] = {}
        self._judged = JudgedTally()

    def add(self, episode: CountedEpisode) -> None:
        """Count an episode."""
        summary, diagnosis = episode.summary, episode.diagnosis
        self.counted.append(summary)
        self._judged.add(summary.reward, episode.counts.judged)
        if diagnosis is not None:
            first = (summary.trial, diagnosis.explanation)
            known = self._reasons.setdefault(summary.task_index, first)
            self._reasons[summary.task_index] = min(known, first)

    def judged(self, store: Store, run: RunRecord) -> JudgedFigures | None:
        """What a judge said of the run; None if no episode has sentences that count."""
        found = self._judged.figures(judge_of(run.config))
        if found is None or not found.judge:
            return found
        return found.model_copy(update={"check": check_of_sentences(store, run)})

    def compared(self, run: RunRecord) -> ComparedRun:
        """The run as it is compared with others."""
        return ComparedRun(
            label=run.name,
            episodes=self.counted,
            task_indices=run.task_indices,
            num_trials=run.num_trials,
            over=run.status != "running",
            asks_no_model=run.reads_script,
            tells_itself=not run.config.get("model"),
            reasons={task: why for task, (_, why) in self._reasons.items()},
        )


class RunTally(ComparedTally):
    """Counts all that a report needs. What is kept of each episode is small."""

    def __init__(self) -> None:
        super().__init__()
        self._sliced: list[SlicedEpisode] = []
        self._failures = FailureTally(shared.MOST_FAILURES)
        self._tools, self._repeats, self._crashes = ToolTally(), RepeatTally(), Counter[str]()
        self._spans = new_spans()
        self._pruned = 0
        self._facts: dict[tuple[str, str], None] = {}
        self._tallies, self._user_tallies = Tallies(), Tallies()

    def add(self, episode: CountedEpisode) -> None:
        """Count an episode."""
        super().add(episode)
        summary, counts, diagnosis = episode.summary, episode.counts, episode.diagnosis
        task = summary.task_index
        self._pruned += episode.is_pruned
        add_episode_seconds(
            self._spans, task, summary.seconds, counts.turn_seconds, counts.model_seconds
        )
        self._tools.add(counts.tools, counts.user_tools)
        if summary.outcome != NO_RESULT:
            self._repeats.add(task, counts.played)
        if summary.outcome == "crashed":
            self._crashes[counts.crash] += 1
        self._facts.update(dict.fromkeys(counts.facts.items()))
        add_tallies(self._tallies, counts.tallies)
        add_tallies(self._user_tallies, counts.user_tallies)
        self._failures.add(diagnosis)
        if summary.reward is not None:
            kind = None if diagnosis is None else diagnosis.kind
            self._sliced.append(SlicedEpisode.of(summary, kind, counts.tags, counts.wanted))

    def data(self, store: Store, run: RunRecord, by: Sequence[str] = ()) -> RunData:
        """Everything that is known of the run, from what was counted so far."""
        left_out = {one.task_index for one in run.excluded}
        attempts = [one for one in store.runs.attempts(run.id) if one.key[0] not in left_out]
        wasted = usage_by_purse(attempt.usage for attempt in attempts)
        tools = self._tools.figures()
        return RunData(
            run=run,
            metrics=measure_run(
                self.counted,
                task_indices=run.task_indices,
                num_trials=run.num_trials,
                over=run.status != "running",
                asks_no_model=run.reads_script,
                tells_itself=not run.config.get("model"),
                spans=self._spans,
            ),
            errors=self._failures.breakdown(),
            published=published_rows(run),
            episodes=StoredEpisodes(
                lambda: of_run(run, store.runs.results(run.id)),
                self.counted,
                tools,
                lambda keys: store.runs.pages.each_of(run.id, keys),
            ),
            identical_tasks=self._repeats.identical_tasks,
            crashes=self._crashes,
            pruned=self._pruned,
            judged=self.judged(store, run),
            attempts=len(attempts),
            attempts_cost=total_cost(wasted.values()),
            attempts_usage=wasted,
            agent_facts=_by_label(self._facts),
            agent_tallies={title: sums for title, sums in self._tallies.items() if sums},
            user_tallies={title: sums for title, sums in self._user_tallies.items() if sums},
            slices={one: slices_of(self._sliced, one) for one in by},
        )


def counted_run(episodes: Iterable[CountedEpisode], run: RunRecord) -> RunTally:
    """What a report of a run needs of its episodes; those of excluded tasks are left out."""
    tally = RunTally()
    for episode in counted_of_run(run, episodes):
        tally.add(episode)
    return tally


def compared_run(episodes: Iterable[CountedEpisode], run: RunRecord | None = None) -> ComparedTally:
    """What a comparison needs of episodes; given the run, those of excluded tasks are left out."""
    tally = ComparedTally()
    for episode in episodes if run is None else counted_of_run(run, episodes):
        tally.add(episode)
    return tally


def judge_of(config: Mapping[str, Any]) -> str:
    """The judge that a run's configuration names; empty if it names none."""
    named = {name: config.get(name) for name in JudgeConfig.model_fields}
    return JudgeConfig.model_validate(named).judge


def _by_label(facts: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for label, value in facts:
        found.setdefault(label, []).append(value)
    return found
