"""Which tools were called, and how often that went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from operator import add

from greenroom.analysis.figures import Immutable
from greenroom.analysis.parties import PARTIES, Done, calls_by
from greenroom.store.episode_counts import ToolCounts
from greenroom.store.records import EpisodeRecord
from greenroom.store.trajectory_records import ActionRecord
from greenroom.trajectories import RESPOND, Party

_NONE = ToolCounts(0, 0, 0, 0)


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
        self._counts: dict[str, ToolCounts] = {}
        self._episodes = Counter[str]()

    def add(self, *parties: Mapping[str, ToolCounts]) -> None:
        """Count the calls of an episode: those of each party."""
        for party in parties:
            for name, one in party.items():
                so_far = self._counts.get(name, _NONE)
                self._counts[name] = ToolCounts(*map(add, so_far, one))
        self._episodes.update({name for party in parties for name in party})

    def figures(self) -> list[ToolFigures]:
        """The tools by how often they were called, the most frequent first."""
        found = [
            ToolFigures(
                name=tool,
                writes=counts.writes > 0,
                calls=counts.calls,
                errors=counts.errors,
                invalid=counts.invalid,
                episodes=self._episodes[tool],
            )
            for tool, counts in self._counts.items()
        ]
        return sorted(found, key=lambda tool: (-tool.calls, tool.name))


def tool_figures(episodes: Iterable[EpisodeRecord]) -> list[ToolFigures]:
    """The tools by how often they were called, the most frequent first."""
    tally = ToolTally()
    for episode in episodes:
        tally.add(*(tools_of(episode, party) for party in PARTIES))
    return tally.figures()


def tools_of(episode: EpisodeRecord, party: Party) -> dict[str, ToolCounts]:
    """How a party of an episode used each tool."""
    if episode.pruned is not None:
        counts = episode.pruned.counts
        return counts.user_tools if party == "user" else counts.tools
    found: dict[str, ToolCounts] = {}
    for _, call in calls_by(episode, party):
        if call.action.name == RESPOND:
            continue
        name, invalid = _name(call.action), call.invalid is not None
        calls, writes, errors, others = found.get(name, _NONE)
        found[name] = ToolCounts(
            calls + 1,
            writes + call.action.writes,
            errors + (not invalid and refused(call)),
            others + invalid,
        )
    return found


def _name(action: ActionRecord) -> str:
    """A tool's name; the parties' tools are apart, even if they share a name."""
    return f"{action.name} (user)" if action.party == "user" else action.name


def refused(step: Done) -> bool:
    """Whether a step's action came to nothing."""
    return step.invalid is not None or step.observation.startswith("Error")
