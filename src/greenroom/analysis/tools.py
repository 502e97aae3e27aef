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


def tool_figures(episodes: Iterable[EpisodeRecord]) -> list[ToolFigures]:
    """The tools by how often they were called, the most frequent first."""
    found: dict[str, Counter[str]] = {}
    for episode in episodes:
        called = [step for step in episode.steps if step.action.name != RESPOND]
        for step in called:
            counts = found.setdefault(step.action.name, Counter())
            counts["calls"] += 1
            counts["writes"] += step.action.writes
            counts["invalid"] += step.invalid is not None
            counts["errors"] += step.invalid is None and refused(step)
        for name in {step.action.name for step in called}:
            found[name]["episodes"] += 1
    figures = [
        ToolFigures.model_validate(counts | {"name": n, "writes": counts["writes"] > 0})
        for n, counts in found.items()
    ]
    return sorted(figures, key=lambda tool: (-tool.calls, tool.name))


def refused(step: StepRecord) -> bool:
    """Whether a step's action came to nothing."""
    return step.invalid is not None or step.observation.startswith("Error")
