"""What a pack holds, as hashes: equal content has equal hashes, however it was packed.

A task's hash covers all that is played and graded. Labels do not count: ids, tags, notes, the names
of actions, the messages of assertions. The order of keys and of records does not count either.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from greenroom.util.files import read_regular
from greenroom.util.raw_json import plain

if TYPE_CHECKING:
    from greenroom.domains.packs import Pack
    from greenroom.domains.tasks import Task
    from greenroom.domains.world import Base
    from greenroom.store.records import TaskSetRecord

SHOWN: Final = 12
"""How many digits of a hash are shown to people."""

TASK_FIELDS: Final[Mapping[str, str]] = {
    "instruction": "instruction",
    "user_id": "user",
    "actions": "actions",
    "outputs": "outputs",
    "assertions": "assertions",
    "judged": "judged sentences",
    "basis": "basis",
    "initial": "initial state",
    "user_tools": "user's tools",
    "documents": "documents",
    "ticket": "ticket",
}
"""The parts of a task that count, and what they are called."""

PARTS: Final = ("database", "policy", "tools", "documents")
"""What besides tasks makes up a task set."""

_LISTED: Final = 5
_FOLDERS: Final = ("documents", "prompts")
_DISCOVERABLE: Final = "discoverable_tools.json"


@dataclass(frozen=True)
class ContentHashes:
    """The hashes of a domain's data."""

    whole: str
    """Of everything below."""
    splits: Mapping[str, str]
    """Of the tasks of each split alone."""
    parts: Mapping[str, str]
    """Of the database (both parties'), the policy, the tools and the documents."""


def task_content(task: Task) -> dict[str, Any]:
    """What is played and graded of a task, as plain values."""
    initial = task.initial
    return {
        "instruction": task.instruction,
        "user_id": task.user_id,
        "actions": [
            {
                "party": action.party,
                "name": action.name,
                "kwargs": action.kwargs,
                "compared": None if action.compared is None else list(action.compared),
            }
            for action in task.actions
        ],
        "outputs": list(task.outputs),
        "assertions": [
            {"party": one.party, "name": one.name, "kwargs": one.kwargs, "expected": one.expected}
            for one in task.assertions
        ],
        "judged": list(task.judged),
        "basis": sorted(task.basis),
        "initial": None
        if initial is None
        else {
            "agent_data": initial.agent_data,
            "user_data": initial.user_data,
            "calls": [
                {"party": one.party, "name": one.name, "kwargs": one.kwargs}
                for one in initial.calls
            ],
            "messages": list(initial.messages),
        },
        "user_tools": None if task.user_tools is None else list(task.user_tools),
        "documents": list(task.documents),
        "ticket": task.ticket,
    }


def task_hash(task: Task) -> str:
    """The hash of a task."""
    return digest(task_content(task))


def digest(value: Any) -> str:
    """The hash of a plain value."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    try:
        written = orjson.dumps(value, default=_plain, option=options)
    except TypeError:
        # Half of a surrogate pair or a huge number, which the standard library writes.
        written = json.dumps(plain(value), sort_keys=True).encode()
    return sha256(written).hexdigest()


def content_hashes(pack: Pack) -> ContentHashes:
    """The hashes of a pack's content; all of it is loaded for that."""
    known: dict[int, str] = {}

    def hashed(task: Task) -> str:
        # A task is in several splits, and is hashed once.
        if id(task) not in known:
            known[id(task)] = task_hash(task)
        return known[id(task)]

    splits = {
        split: digest([[task.id, hashed(task)] for task in pack.tasks(split)])
        for split in pack.splits
    }
    user = pack.user_base
    parts = {
        "database": digest([pack.base.derived(_tables), user and user.derived(_tables)]),
        "policy": digest([pack.policy, list(pack.rules)]),
        "tools": digest(_tools(pack)),
        "documents": digest(_documents(pack)),
    }
    return ContentHashes(digest([splits, parts]), splits, parts)


def task_set(pack: Pack, split: str, indices: Sequence[int]) -> TaskSetRecord:
    """What a run keeps of the tasks it plays."""
    hashes, tasks = pack.hashes, pack.tasks(split)
    from greenroom.store.records import TaskSetRecord  # a database, only where it is needed

    return TaskSetRecord(
        hash=hashes.whole,
        tasks=hashes.splits[pack.split_named(split)],
        **hashes.parts,
        task_hashes=[task_hash(tasks[index])[:SHOWN] for index in indices],
    )


def what_changed(kept: TaskSetRecord, found: TaskSetRecord, tasks: Sequence[Any]) -> list[str]:
    """How data differs from what it was, in words; `tasks` names those whose hashes are kept."""
    changed = [
        str(name)
        for name, was, now in zip(tasks, kept.task_hashes, found.task_hashes, strict=False)
        if was != now
    ]
    words: list[str] = []
    if changed:
        shown = ", ".join(changed[:_LISTED]) + (", ..." if len(changed) > _LISTED else "")
        words.append(f"{len(changed)} of its {len(kept.task_hashes)} tasks ({shown})")
    elif kept.tasks != found.tasks:
        words.append("tasks that it does not play")
    return words + [part for part in PARTS if getattr(kept, part) != getattr(found, part)]


def _tables(base: Base) -> dict[str, str]:
    return {
        table: digest({key: orjson.loads(row) for key, row in base.encoded(table).items()})
        for table in base.tables
    }


def _tools(pack: Pack) -> list[Any]:
    parts = [list(pack.tool_infos), list(pack.user_tool_infos), _discoverable(pack)]
    return [*parts, sha256(pack.own_code).hexdigest()] if pack.own_code else parts


def _discoverable(pack: Pack) -> Any:
    path = None if pack.root is None else pack.root / _DISCOVERABLE
    return orjson.loads(read_regular(path)) if path is not None and path.exists() else None


def _documents(pack: Pack) -> dict[str, str]:
    if pack.root is None:
        return {}
    return {
        path.relative_to(pack.root).as_posix(): sha256(read_regular(path)).hexdigest()
        for path in _files(pack.root / folder for folder in _FOLDERS)
    }


def _files(folders: Iterable[Path]) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]


def _plain(value: Any) -> Any:
    return dict(cast("Mapping[Any, Any]", value)) if isinstance(value, Mapping) else str(value)


__all__ = [
    "PARTS",
    "SHOWN",
    "TASK_FIELDS",
    "ContentHashes",
    "content_hashes",
    "digest",
    "task_content",
    "task_hash",
    "task_set",
    "what_changed",
]
