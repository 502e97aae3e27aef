"""A domain: tools over a pack's database, policy and tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from greenroom.domains.editions import DONE_INFO
from greenroom.domains.packs import DEFAULT_SPLIT, Pack
from greenroom.domains.plugins import find_pack, find_plugin
from greenroom.domains.reward import check_assertion, find_action
from greenroom.domains.tasks import RESPOND, Action, Task
from greenroom.domains.tools import ToolResult
from greenroom.domains.world import Changes, World
from greenroom.domains.worlds import Worlds
from greenroom.errors import DataError, InputError, SetUpFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pydantic import BaseModel

    from greenroom.domains.editions import Edition, Function
    from greenroom.domains.plugins import DomainPlugin
    from greenroom.domains.tasks import InitialState, Party
    from greenroom.domains.tools import Tool, ToolInfo, Toolset

_OFFICIAL = {
    ("retail", "test"): (
        "4eaccf102264e00c4d3f43592d1419f03c0ec4e860bb1f7e1dc14f80d1c87910",
        "08df98bc2240f81de7b3dbce7573c4f54e5793eb2bd03d91367017414a6f5661",
    ),
    ("airline", "test"): (
        "7f8daa09e880e23256b4aeeda4b11dc49df68a08f0841c3ff1af7b852bd4ba7f",
        "d45ed628c20227060dbab6eaa6429dac891dbd3210ae1761a72e559e0fb92bb3",
    ),
}
"""Digests of Tau Bench's official test tasks, and of the databases that they are played on."""


@dataclass(frozen=True)
class Failure:
    """A ground-truth action that failed: its index in the task, and its observation."""

    index: int
    observation: str


@dataclass(frozen=True)
class GroundTruth:
    """The result of a task's actions."""

    worlds: Worlds
    failures: tuple[Failure, ...]
    hash_world: Callable[[World], str] = World.hash

    @property
    def world(self) -> World:
        """The agent's world."""
        return self.worlds.agent

    @cached_property
    def changes(self) -> Changes:
        """The records that differ from the base, the user's among them."""
        return self.worlds.changes()

    @cached_property
    def _touched_records(self) -> list[dict[str, str]]:
        return self.worlds.touched_records()

    def is_touched_alike(self, worlds: Worlds) -> bool:
        """Whether the same records were touched in the same way: then all is the same.

        An agent that follows the ground truth does so. This is quicker than the comparison of what
        differs from the base.
        """
        return worlds.touched_records() == self._touched_records

    def matches(self, worlds: Worlds) -> bool:
        """Whether other worlds ended up the same."""
        return self.is_touched_alike(worlds) or worlds.changes() == self.changes

    @cached_property
    def database_hash(self) -> str:
        """The original's hash of the resulting database."""
        return self.hash_world(self.world)


class Domain:
    """Tools, database, policy and tasks under one name."""

    def __init__(self, edition: Edition, pack: Pack) -> None:
        self.name = pack.domain
        self.edition = edition
        self.pack = pack
        self._truths: dict[tuple[str, int], GroundTruth] = {}
        self._decisive: dict[tuple[str, int], tuple[int, ...]] = {}

    @property
    def tools(self) -> Toolset:
        """The agent's tools."""
        return self.edition.tools

    @property
    def policy(self) -> str:
        """The policy that agents follow, as text."""
        return self.pack.policy

    def policy_for(self, task: Task) -> str:
        """The policy for one task: some domains put documents of the task into it."""
        made = self.edition.policy
        return self.pack.policy if made is None else made(self.pack, task)

    @property
    def tool_infos(self) -> list[ToolInfo]:
        """The schemas of the agent's tools: the pack's own if it has them."""
        return self._tool_infos

    @cached_property
    def _tool_infos(self) -> list[ToolInfo]:
        if self.edition.tool_infos is not None:
            return self.edition.tool_infos(self.pack)
        infos = list(self.pack.tool_infos) or self.tools.infos
        return [*infos, *self._all_user_tool_infos, DONE_INFO] if self.edition.solo else infos

    @property
    def _all_user_tool_infos(self) -> list[ToolInfo]:
        tools = self.edition.user_tools
        return [] if tools is None else list(self.pack.user_tool_infos) or tools.infos

    def brief(self, task: Task) -> str:
        """How a conversation about a task is begun: its ticket, for an agent that works alone."""
        return task.ticket if self.edition.solo and task.ticket else task.instruction

    def user_tool_infos(self, task: Task) -> list[ToolInfo]:
        """The schemas of the tools that the user of a task is told about."""
        if self.edition.solo:  # nobody is there
            return []
        infos = self._all_user_tool_infos
        if task.user_tools is None:
            return infos
        return [info for info in infos if info["function"]["name"] in task.user_tools]

    def tasks(self, split: str = DEFAULT_SPLIT) -> tuple[Task, ...]:
        """The tasks of a split."""
        return self.pack.tasks(split)

    def task(self, index: int, split: str = DEFAULT_SPLIT) -> Task:
        """One task, by its index in the split."""
        tasks = self.tasks(split)
        if not 0 <= index < len(tasks):
            raise InputError(
                f"There is no task {index}: {self.name}'s split '{self.pack.split_named(split)}' "
                f"has the tasks 0 to {len(tasks) - 1}."
            )
        return tasks[index]

    def worlds(self, task: Task | None = None) -> Worlds:
        """Fresh worlds, as they are when the conversation about a task begins."""
        edition, pack = self.edition, self.pack
        agent = World(pack.base)
        user = agent if edition.shares_world else None
        if user is None and pack.user_base is not None:
            user = World(pack.user_base)
        worlds = Worlds(agent, user)
        if task is None:
            return worlds
        if edition.prepare is not None:
            edition.prepare(worlds, task)
        if task.initial is not None:
            self._set_up(worlds, task, task.initial)
        return worlds

    def _set_up(self, worlds: Worlds, task: Task, initial: InitialState) -> None:
        name = "" if task.id is None else f" of {task.id}"
        if initial.agent_data is not None or initial.user_data is not None:
            if self.edition.merge is None:
                raise DataError(f"{self.name} takes no data of a task's initial state.")
            try:
                self.edition.merge(worlds, task, self.pack)
            except Exception as error:  # it works on whatever the task says
                raise SetUpFailed(
                    f"The data of the set-up{name} cannot be used: {error}"
                ) from error
        for call in initial.calls:
            try:
                self.function(call.party, call.name)(worlds.of(call.party), **call.kwargs)
                self.sync(worlds)
            except DataError as error:  # the domain has no such function
                raise SetUpFailed(f"The set-up{name} fails: {error}") from error
            except Exception as error:  # a function of a domain may raise anything
                raise SetUpFailed(f"The set-up{name} fails in {call.name}: {error}.") from error
        for action in initial.past_calls:
            tool = self.named_tool(action.name)
            if tool is not None and tool.replayed:
                self.call(worlds, action)
        self.sync(worlds)

    def named_tool(self, name: str) -> Tool | None:
        """The tool of that name, whoever has it: the agent's comes first."""
        return self.edition.tool("agent", name) or self.edition.tool("user", name)

    def function(self, party: Party, name: str) -> Function:
        """A party's function or tool that a task calls; raise DataError if there is none."""
        found = self.edition.functions.get(party, {}).get(name)
        tool = self.edition.tool(party, name)
        if found is None and tool is not None:
            found = tool.function
        if found is None:
            raise DataError(f"{self.name} has no function '{name}' of the {party} that tasks call.")
        return found

    def hash_world(self, world: World) -> str:
        """The original's hash of a world."""
        made = self.edition.hash_world
        return world.hash() if made is None else made(world)

    def sync(self, worlds: Worlds) -> None:
        """Bring the parties' worlds in step."""
        if self.edition.sync is not None:
            self.edition.sync(worlds)

    def call(self, worlds: Worlds, action: Action, *, sync: bool = True) -> ToolResult:
        """Carry out a call of a tool by either party; errors become part of the observation."""
        party: Party = action.party
        tool = self.edition.tool("user", action.name) if self.edition.solo else None
        if tool is not None:
            party = "user"
        else:
            tool = self.edition.tool(party, action.name)
        if tool is None:
            text = self.edition.unknown_tool(party, action.name)
            return ToolResult(text, text, failed=True)
        result = tool.call(worlds.of(party), action.kwargs)
        if sync and not result.failed:
            try:
                self.sync(worlds)
            except Exception as error:  # as in tau2, what the call did stays done
                return ToolResult(
                    f"Error: {error}", f"{type(error).__name__}: {error}", failed=True
                )
        return result

    def ground_truth(self, index: int, split: str = DEFAULT_SPLIT) -> GroundTruth:
        """The result of a task's actions; computed once, shared by all its episodes."""
        place = (self.pack.split_named(split), index)
        truth = self._truths.get(place)
        if truth is None:
            task = self.task(index, split)
            truth = self._truths[place] = self.play_out(task.actions, task)
        return truth

    def decisive_actions(self, index: int, split: str = DEFAULT_SPLIT) -> tuple[int, ...]:
        """Indices of a task's actions without which the task would not be solved."""
        place = (self.pack.split_named(split), index)
        found = self._decisive.get(place)
        if found is None:
            task = self.task(index, split)
            actions, changes = task.actions, self.ground_truth(index, split).changes
            found = self._decisive[place] = tuple(
                number
                for number in range(len(actions))
                if not self._solves(task, actions[:number] + actions[number + 1 :], changes)
            )
        return found

    def _solves(self, task: Task, actions: tuple[Action, ...], changes: Changes) -> bool:
        """Whether these actions make up all that counts of a task, besides what is said."""
        basis = task.basis
        if "database" in basis and self.play_out(actions, task).changes != changes:
            return False
        if "assertions" in basis:
            worlds = self.play_out(actions, task, sync=True).worlds
            if not all(check_assertion(self, worlds, one).met for one in task.assertions):
                return False
        wanted = task.actions if "actions" in basis else ()
        return all(find_action(one, actions).found for one in wanted)

    def play_out(
        self,
        actions: Iterable[Action],
        task: Task | None = None,
        worlds: Worlds | None = None,
        *,
        sync: bool | None = None,
    ) -> GroundTruth:
        """Run actions on fresh worlds; skip those that only talk or end the conversation.

        `sync` keeps the worlds in step, or not; None does what the domain's ground truth does.
        """
        worlds = self.worlds(task) if worlds is None else worlds
        sync = self.edition.ground_truth_syncs if sync is None else sync
        failures: list[Failure] = []
        for index, action in enumerate(actions):
            tool = self.edition.tool(action.party, action.name)
            if action.name == RESPOND or (tool is not None and tool.ends_episode):
                continue
            result = self.call(worlds, action, sync=sync)
            if result.problem or result.failed or result.observation.startswith("Error"):
                failures.append(Failure(index, result.observation))
        return GroundTruth(worlds, tuple(failures), self.hash_world)


def load_domain(
    name: str, data: Path | str | None = None, settings: Mapping[str, Any] | None = None
) -> Domain:
    """A domain with data from a pack directory, a pulled pack, or its built-in pack."""
    plugin = find_plugin(name)
    return open_domain(plugin, data, plugin.check(settings))


def open_domain(plugin: DomainPlugin, data: Path | str | None, settings: BaseModel) -> Domain:
    """A domain by its plugin, with checked settings."""
    pack = find_pack(plugin, data, settings)
    return Domain(plugin.edition(pack.info.edition, settings), pack)


def is_official(domain: Domain, split: str) -> bool:
    """Whether the split holds exactly the tasks and data that published results are of."""
    expected = _OFFICIAL.get((domain.name, domain.pack.split_named(split)))
    if expected is None:
        return False
    tasks, database = expected
    # The tasks alone are told apart sooner: other data mostly has other tasks.
    return _digest(domain, split) == tasks and domain.pack.hashes.parts["database"] == database


def _digest(domain: Domain, split: str) -> str:
    content = [
        [task.instruction, [[a.name, dict(a.kwargs)] for a in task.actions], list(task.outputs)]
        for task in domain.tasks(split)
    ]
    return sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()
