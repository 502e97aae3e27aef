"""`greenroom tasks diff`: how the tasks of two packs or runs differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenroom.cli.output import console
from greenroom.errors import DataError, GreenroomError, InputError

if TYPE_CHECKING:
    from greenroom.domains.packs import Pack
    from greenroom.domains.task_diff import TasksDifference
    from greenroom.domains.tasks import Task
    from greenroom.store import RunRecord, Store

_KEPT = ("instruction", "user_id", "actions", "outputs")
"""What episodes keep of a task."""


@dataclass(frozen=True)
class Side:
    """The tasks of one side of a comparison."""

    label: str
    tasks: Mapping[int, Task]
    parts: Mapping[str, str] | None
    """The hashes of the rest of its data, if they are known."""
    fields: Sequence[str]
    """What is known of the tasks."""
    hashes: Mapping[int, str] = field(default_factory=dict[int, str])
    """What a run kept of its tasks when it began."""


@dataclass(frozen=True)
class DomainDifference:
    """How two sides differ in one domain."""

    env: str
    before: Side
    after: Side
    tasks: TasksDifference
    parts: Sequence[str]
    """What differs besides the tasks."""

    @property
    def is_partial(self) -> bool:
        """Whether less than everything of the tasks was compared."""
        from greenroom.domains.task_diff import ALL_FIELDS

        return len(_common(self.before, self.after)) < len(ALL_FIELDS)

    def to_json(self) -> dict[str, Any]:
        """The difference as JSON."""
        return {
            "env": self.env,
            "before": self.before.label,
            "after": self.after.label,
            "compared": list(_common(self.before, self.after)),
            **self.tasks.to_json(),
            "parts": list(self.parts),
        }


def find_differences(
    before: str, after: str, env: str | None, split: str
) -> list[DomainDifference]:
    """Compare two packs or runs, in one domain or in each that both have."""
    from greenroom.domains.task_diff import ALL_FIELDS, diff_tasks

    store, runs = _runs([before, after])
    envs = [env] if env else _common_envs([runs.get(before), runs.get(after)], [before, after])
    found: list[DomainDifference] = []
    for one in envs:
        sides = [
            _run_side(store, runs[name]) if name in runs else _pack_side(name, one, split)
            for name in (before, after)
        ]
        fields = _common(*sides)
        if len(fields) == len(ALL_FIELDS):
            difference = diff_tasks(sides[0].tasks, sides[1].tasks)
        else:
            first, second = (_as_kept(side.tasks) for side in sides)
            hashes = (_hashes(sides[0]), _hashes(sides[1]))
            difference = diff_tasks(first, second, fields, hashes)
        parts = [
            part
            for part, mark in (sides[0].parts or {}).items()
            if sides[1].parts is not None and sides[1].parts.get(part) != mark
        ]
        found.append(DomainDifference(one, sides[0], sides[1], difference, parts))
    return found


def print_difference(found: DomainDifference, *, lines: bool) -> None:
    """A difference for people."""
    from greenroom.domains.content import TASK_FIELDS
    from greenroom.domains.task_diff import changed_lines

    out, tasks = console(), found.tasks
    counts = {
        "equal": tasks.equal,
        "changed": tasks.changed,
        f"only in {found.before.label}": tasks.removed,
        f"only in {found.after.label}": tasks.added,
    }
    words = ", ".join(f"{len(some)} {word}" for word, some in counts.items() if some)
    out.print(f"{found.env}: {words or 'no tasks'}", soft_wrap=True, markup=False)
    for one in tasks.changed:
        names = ", ".join(TASK_FIELDS[name] for name in one.fields) or "something else"
        out.print(f"  task {one.name}: {names}", soft_wrap=True, markup=False)
        if lines:
            for name, values in one.fields.items():
                out.print(f"    {TASK_FIELDS[name]}", style="bold")
                for line in changed_lines(*values):
                    out.print(f"      {line}", soft_wrap=True, markup=False)
    for where, names in ((found.before, tasks.removed), (found.after, tasks.added)):
        for name in names:
            out.print(f"  task {name}: only in {where.label}", soft_wrap=True, markup=False)
    if found.parts:
        out.print(f"  besides the tasks: {', '.join(found.parts)}")
    if found.is_partial:
        out.print(
            "  A run's data is no longer there, so only what its episodes keep is told: "
            "instructions, actions and outputs.",
            soft_wrap=True,
        )


def _common(before: Side, after: Side) -> list[str]:
    return [name for name in before.fields if name in after.fields]


def _as_kept(tasks: Mapping[int, Task]) -> dict[int, Task]:
    """Tasks without what episodes do not keep of their actions: which arguments are compared."""
    return {
        place: replace(
            task, actions=tuple(replace(action, compared=None) for action in task.actions)
        )
        for place, task in tasks.items()
    }


def _hashes(side: Side) -> Mapping[int, str]:
    from greenroom.domains.content import SHOWN, task_hash
    from greenroom.domains.task_diff import ALL_FIELDS

    if side.fields is not ALL_FIELDS:
        return side.hashes
    return {place: task_hash(task)[:SHOWN] for place, task in side.tasks.items()}


def _runs(names: Sequence[str]) -> tuple[Store | None, dict[str, RunRecord]]:
    """The names that are runs; a directory or a pulled pack of that name goes first."""
    from greenroom.store import open_store
    from greenroom.util.caches import pulled_packs

    wanted = [name for name in names if not Path(name).exists() and name not in pulled_packs()]
    if not wanted:
        return None, {}
    store = open_store()
    runs: dict[str, RunRecord] = {}
    for name in wanted:
        try:
            runs[name] = store.runs.find(name)
        except GreenroomError as error:
            raise InputError(
                f"'{name}' is no directory, no pulled pack (see 'greenroom data list') and no run."
            ) from error
    return store, runs


def _common_envs(runs: Sequence[RunRecord | None], names: Sequence[str]) -> list[str]:
    from greenroom.domains.plugins import pack_domains
    from greenroom.util.caches import pulled_pack

    sides: list[set[str]] = []
    for run, name in zip(runs, names, strict=True):
        if run is not None:
            sides.append({run.env})
        else:
            directory = Path(name) if Path(name).exists() else pulled_pack(name)
            sides.append(set(pack_domains(directory)))
    common = sorted(sides[0] & sides[1])
    if not common:
        held = (", ".join(sorted(side)) or "no domain" for side in sides)
        raise InputError(f"They have no domain in common: {' and '.join(held)}.")
    return common


def _pack_side(name: str, env: str, split: str) -> Side:
    from greenroom.domains.domain import load_domain
    from greenroom.domains.task_diff import ALL_FIELDS

    pack = load_domain(env, name).pack
    return Side(name, dict(enumerate(pack.tasks(split))), pack.hashes.parts, ALL_FIELDS)


def _run_side(store: Store | None, run: RunRecord) -> Side:
    from greenroom.domains.task_diff import ALL_FIELDS

    parts = run.task_set and run.task_set.model_dump(include=_part_names())
    pack = _pack_of(run)
    if pack is not None:
        tasks = pack.tasks(run.task_split)
        return Side(
            run.name, {index: tasks[index] for index in run.task_indices}, parts, ALL_FIELDS
        )
    assert store is not None
    kept = [] if run.task_set is None else run.task_set.task_hashes
    hashes = dict(zip(run.task_indices, kept, strict=False))
    return Side(run.name, _kept_tasks(store, run), parts, _KEPT, hashes)


def _part_names() -> set[str]:
    from greenroom.domains.content import PARTS

    return set(PARTS)


def _pack_of(run: RunRecord) -> Pack | None:
    """The data of a run, if it is still what it was."""
    from greenroom.domains.domain import load_domain

    if run.task_set is None:
        return None
    try:
        pack = load_domain(
            str(run.config.get("env", run.env)),
            run.config.get("data"),
            run.config.get("env_options"),
        ).pack
        same = pack.hashes.whole == run.task_set.whole.hash
    except (DataError, InputError):
        return None
    return pack if same else None


def _kept_tasks(store: Store, run: RunRecord) -> dict[int, Task]:
    from greenroom.domains.tasks import Action, Task

    tasks: dict[int, Task] = {}
    for episode in store.runs.results(run.id):
        kept = episode.task
        if episode.task_index not in tasks:
            tasks[episode.task_index] = Task(
                instruction=kept.instruction,
                user_id=kept.user_id,
                actions=tuple(Action(one.name, one.kwargs, one.party) for one in kept.actions),
                outputs=tuple(kept.outputs),
                id=kept.id,
            )
    return tasks
