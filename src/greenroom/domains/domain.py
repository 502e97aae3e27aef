"""A domain: tools over a pack's database, policy and tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from greenroom.domains.packs import DEFAULT_SPLIT, Pack
from greenroom.domains.plugins import find_pack, find_plugin
from greenroom.domains.tasks import RESPOND, Action, Task
from greenroom.domains.world import Changes, World
from greenroom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from greenroom.domains.tools import ToolInfo, Toolset

_OFFICIAL = {
    ("retail", "test"): "4eaccf102264e00c4d3f43592d1419f03c0ec4e860bb1f7e1dc14f80d1c87910",
    ("airline", "test"): "7f8daa09e880e23256b4aeeda4b11dc49df68a08f0841c3ff1af7b852bd4ba7f",
}
"""Digests of Tau Bench's official test tasks."""


@dataclass(frozen=True)
class Failure:
    """A ground-truth action that failed: its index in the task, and its observation."""

    index: int
    observation: str


@dataclass(frozen=True)
class GroundTruth:
    """The result of a task's actions."""

    world: World
    failures: tuple[Failure, ...]

    @cached_property
    def changes(self) -> Changes:
        """The records that differ from the base."""
        return self.world.changes()

    @cached_property
    def _touched_records(self) -> dict[str, str]:
        return self.world.touched_records()

    def matches(self, world: World) -> bool:
        """Whether another world ended up the same."""
        # An agent that follows the ground truth touches the same records in the same way. Comparing
        # those texts is quicker than the exact comparison.
        return world.touched_records() == self._touched_records or world.changes() == self.changes

    @cached_property
    def database_hash(self) -> str:
        """Tau Bench's hash of the resulting database."""
        return self.world.hash()


class Domain:
    """Tools, database, policy and tasks under one name."""

    def __init__(self, tools: Toolset, pack: Pack) -> None:
        self.name = pack.domain
        self.tools = tools
        self.pack = pack
        self._truths: dict[tuple[str, int], GroundTruth] = {}
        self._decisive: dict[tuple[str, int], tuple[int, ...]] = {}

    @property
    def policy(self) -> str:
        """The policy that agents follow, as text."""
        return self.pack.policy

    @property
    def tool_infos(self) -> list[ToolInfo]:
        """The tools' schemas: the pack's own if it has them."""
        return self._tool_infos

    @cached_property
    def _tool_infos(self) -> list[ToolInfo]:
        return list(self.pack.tool_infos) or self.tools.infos

    def tasks(self, split: str = DEFAULT_SPLIT) -> tuple[Task, ...]:
        """The tasks of a split."""
        return self.pack.tasks(split)

    def task(self, index: int, split: str = DEFAULT_SPLIT) -> Task:
        """One task, by its index in the split."""
        tasks = self.tasks(split)
        if not 0 <= index < len(tasks):
            raise InputError(
                f"There is no task {index}: {self.name}'s split '{split}' has the tasks 0 to "
                f"{len(tasks) - 1}."
            )
        return tasks[index]

    def ground_truth(self, index: int, split: str = DEFAULT_SPLIT) -> GroundTruth:
        """The result of a task's actions; computed once, shared by all its episodes."""
        truth = self._truths.get((split, index))
        if truth is None:
            truth = self._truths[split, index] = self.play_out(self.task(index, split).actions)
        return truth

    def decisive_actions(self, index: int, split: str = DEFAULT_SPLIT) -> tuple[int, ...]:
        """Indices of a task's actions without which the database would end up different."""
        found = self._decisive.get((split, index))
        if found is None:
            actions = self.task(index, split).actions
            changes = self.ground_truth(index, split).changes
            found = self._decisive[split, index] = tuple(
                place
                for place in range(len(actions))
                if self.play_out(actions[:place] + actions[place + 1 :]).changes != changes
            )
        return found

    def play_out(self, actions: Iterable[Action]) -> GroundTruth:
        """Run actions on a fresh world; skip those that only talk or end the conversation."""
        world = World(self.pack.base)
        failures: list[Failure] = []
        for index, action in enumerate(actions):
            tool = self.tools.get(action.name)
            if tool is None:
                if action.name != RESPOND:
                    failures.append(Failure(index, f"Unknown action {action.name}"))
            elif not tool.ends_episode:
                result = tool.call(world, action.kwargs)
                if result.problem or result.observation.startswith("Error"):
                    failures.append(Failure(index, result.observation))
        return GroundTruth(world, tuple(failures))


def load_domain(
    name: str, data: Path | str | None = None, settings: Mapping[str, Any] | None = None
) -> Domain:
    """A domain with data from a pack directory, a pulled pack, or its built-in pack."""
    plugin = find_plugin(name)
    return Domain(plugin.tools, find_pack(plugin, data, plugin.check(settings)))


def is_official(domain: Domain, split: str) -> bool:
    """Whether the split holds exactly the tasks that published results were measured on."""
    expected = _OFFICIAL.get((domain.name, split))
    return expected is not None and _digest(domain, split) == expected


def _digest(domain: Domain, split: str) -> str:
    content = [
        [task.instruction, [[a.name, dict(a.kwargs)] for a in task.actions], list(task.outputs)]
        for task in domain.tasks(split)
    ]
    return sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()
