"""Which tools were called, and how often that went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from greenroom.analysis.figures import Immutable
from greenroom.store.records import EpisodeRecord, StepRecord
from greenroom.trajectories import RESPOND


class ToolFigures(Immutable, frozen=True):
    """How one tool was used over all episodes."""

    name: str
    writes: bool
    calls: int
    errors: int
    """Calls that the tool refused."""
    invalid: int
    """Calls that were not valid: an unknown tool, or arguments that do not fit."""
    episodes: int
    """Episodes with at least one call."""

    @property
    def error_rate(self) -> float:
        """The share of calls that came to nothing."""
        return (self.errors + self.invalid) / self.calls


class ToolTally:
    """Counts the calls of tools, episode by episode."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}

    def add(self, episode: EpisodeRecord) -> None:
        """Count the calls of an episode."""
        called = [step for step in episode.steps if step.action.name != RESPOND]
        for step in called:
            counts = self._counts.setdefault(step.action.name, Counter())
            counts["calls"] += 1
            counts["writes"] += step.action.writes
            counts["invalid"] += step.invalid is not None
            counts["errors"] += step.invalid is None and refused(step)
        for name in {step.action.name for step in called}:
            self._counts[name]["episodes"] += 1

    def figures(self) -> list[ToolFigures]:
        """The tools by how often they were called, the most frequent first."""
        names = ("calls", "errors", "invalid", "episodes")
        found = [
            ToolFigures(
                name=tool, writes=counts["writes"] > 0, **{one: counts[one] for one in names}
            )
            for tool, counts in self._counts.items()
        ]
        return sorted(found, key=lambda tool: (-tool.calls, tool.name))


def tool_figures(episodes: Iterable[EpisodeRecord]) -> list[ToolFigures]:
    """The tools by how often they were called, the most frequent first."""
    tally = ToolTally()
    for episode in episodes:
        tally.add(episode)
    return tally.figures()


def refused(step: StepRecord) -> bool:
    """Whether a step's action came to nothing."""
    return step.invalid is not None or step.observation.startswith("Error")
