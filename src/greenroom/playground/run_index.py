"""What pages know of the runs that they show: counted once, and added to while a run goes on."""

from __future__ import annotations

import time
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from greenroom.analysis.counts import CountedEpisode, counted_episodes
from greenroom.reports.build import report_of
from greenroom.reports.report import ComparisonReport, RunReport
from greenroom.reports.run_tally import RunTally
from greenroom.store import CellKey, RunRecord, Store
from greenroom.store.run_pages import RunPages, Stamp

SLICES = ("tag", "tool", "kind")

_MOST_RUNS = 8
_MOST_EPISODES = 250_000
"""Of all runs that are remembered together: about 300 MB."""
_PRUNED = 3
"""The place in a stamp of how many conversations were pruned."""
_REST = 1.0
"""Seconds: a run that goes on is looked at so often at most."""


class RunIndex:
    """A run's episodes: what is counted of them, how each failed and which tools it called."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store, self._run_id = store, run_id
        self._pages = RunPages(store.engine)
        self._lock = Lock()
        self._looked = 0.0
        self._report: tuple[str, RunReport] | None = None
        self._forget()

    def _forget(self) -> None:
        self._stamp: Stamp | None = None
        self.tally = RunTally()
        self._started: dict[CellKey, str] = {}
        self._by_kind: dict[str, list[CellKey]] = {}
        self._by_tool: dict[str, list[CellKey]] = {}

    @property
    def stamp(self) -> Stamp | None:
        """What was counted: another stamp, if there is more."""
        return self._stamp

    @property
    def episodes(self) -> int:
        """How many episodes were counted."""
        return len(self._started)

    def refresh(self, *, live: bool) -> None:
        """Count what is new; a run that is live rests between two looks."""
        with self._lock:
            rested = time.monotonic() - self._looked >= _REST
            if live and self._stamp is not None and not rested:
                return
            # Taken before the episodes are read: what comes in between is read again next time.
            stamp = self._pages.stamp(self._run_id)
            if stamp != self._stamp:
                if self._stamp is not None and stamp[_PRUNED] != self._stamp[_PRUNED]:
                    self._forget()
                self._count_new()
                self._stamp, self._report = stamp, None
            self._looked = time.monotonic()

    def _count_new(self) -> None:
        started = self._pages.started(self._run_id)
        if any(started.get(key) != when for key, when in self._started.items()):
            self._forget()  # an episode was played again in place of one that had no result
        new = sorted(started.keys() - self._started.keys())
        keys = new if self._started else None
        for episode in counted_episodes(self._store, self._run_id, keys):
            key = episode.summary.task_index, episode.summary.trial
            # One that has come in since then is counted next time.
            if (when := started.get(key)) is not None:
                self._started[key] = when
                self._add(key, episode)

    def _add(self, key: CellKey, episode: CountedEpisode) -> None:
        self.tally.add(episode)
        if episode.diagnosis is not None:
            insort(self._by_kind.setdefault(episode.diagnosis.kind, []), key)
        for name in episode.counts.tools:
            insort(self._by_tool.setdefault(name, []), key)

    def report(self, run: RunRecord) -> RunReport:
        """The run's report, as every form of it is built."""
        with self._lock:
            kept = self._report
            if kept is None or kept[0] != run.status:
                report = report_of(self.tally.data(self._store, run, SLICES))
                kept = self._report = (run.status, report)
            return kept[1]

    def selected(self, kind: str | None, tool: str | None) -> list[CellKey]:
        """The episodes that failed so, and that called this tool, by task and trial."""
        lists = [
            found.get(name, [])
            for found, name in ((self._by_kind, kind), (self._by_tool, tool))
            if name is not None
        ]
        first, *others = lists
        return [key for key in first if all(_holds(other, key) for other in others)]


def _holds(keys: list[CellKey], key: CellKey) -> bool:
    place = bisect_left(keys, key)
    return place < len(keys) and keys[place] == key


class RunIndexes:
    """The indexes of the runs that were looked at last."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._kept: OrderedDict[str, RunIndex] = OrderedDict()
        self._compared: OrderedDict[Hashable, ComparisonReport] = OrderedDict()

    def of(self, run: RunRecord) -> RunIndex:
        """The index of a run as it is now."""
        with self._lock:
            index = self._kept.pop(run.id, None) or RunIndex(self._store, run.id)
            self._kept[run.id] = index
        index.refresh(live=run.status == "running")
        with self._lock:
            while len(self._kept) > 1 and (
                len(self._kept) > _MOST_RUNS
                or sum(one.episodes for one in self._kept.values()) > _MOST_EPISODES
            ):
                self._kept.popitem(last=False)
        return index

    def comparison(
        self, state: Hashable, compare: Callable[[], ComparisonReport]
    ) -> ComparisonReport:
        """A comparison of runs in this state; kept for the next request."""
        with self._lock:
            kept = self._compared.get(state)
        if kept is None:
            kept = compare()
            with self._lock:
                self._compared[state] = kept
                while len(self._compared) > _MOST_RUNS:
                    self._compared.popitem(last=False)
        return kept
