"""Which tools were called, and how often that went wrong."""

from __future__ import annotations

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
    steps: dict[str, list[tuple[tuple[int, int], StepRecord]]] = {}
    for episode in episodes:
        for step in episode.steps:
            if step.action.name != RESPOND:
                cell = (episode.task_index, episode.trial)
                steps.setdefault(step.action.name, []).append((cell, step))
    found = [
        ToolFigures(
            name=name,
            writes=any(step.action.writes for _, step in called),
            calls=len(called),
            errors=sum(refused(step) and step.invalid is None for _, step in called),
            invalid=sum(step.invalid is not None for _, step in called),
            episodes=len({cell for cell, _ in called}),
        )
        for name, called in steps.items()
    ]
    return sorted(found, key=lambda tool: (-tool.calls, tool.name))


def refused(step: StepRecord) -> bool:
    """Whether a step's action came to nothing."""
    return step.invalid is not None or step.observation.startswith("Error")
