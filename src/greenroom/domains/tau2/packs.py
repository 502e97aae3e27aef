"""Packs of tau2-bench: a folder per domain with its official files.

retail/db.json              the agent's database (telecom: db.toml)
mock/user_db.json           the user's (telecom: user_db.toml), where they have one
retail/tasks.json           all tasks (or tasks.json.gz; banking: tasks/task_*.json)
retail/split_tasks.json     the ids of each split (older: tasks_full.json, tasks_small.json)
retail/policy.md            the policy, or the files that a domain makes it from
retail/tools.json           the schemas of the agent's tools
retail/user_tools.json      the schemas of the user's tools
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from greenroom.domains.packs import Pack, PackInfo, pack_info, read_json, read_tool_infos
from greenroom.domains.plugins import TAU2
from greenroom.domains.tasks import Task
from greenroom.domains.tau2.hashing import sorted_text
from greenroom.domains.tau2.tasks import read_tasks
from greenroom.domains.world import Record
from greenroom.errors import DataError
from greenroom.util.files import check_inside, read_regular

Tables = Mapping[str, Mapping[str, Record]]
ReadTables = Callable[[Mapping[str, Any]], Tables]
"""Makes tables of a database file's content, with defaults and types as tau2 reads them."""

BASE: Final = "base"
_TASKS, _SPLITS = "tasks.json", "split_tasks.json"
_OLDER: Final = {"full": "tasks_full.json", "small": "tasks_small.json"}
_MADE: Final = re.compile(r"README\.md|rendered/|initial_|tasks_base\.json")


def pack_loader(
    read_tables: ReadTables,
    *,
    read_user_tables: ReadTables | None = None,
    policy: Callable[[Path], str],
) -> Callable[[Path, str], Pack]:
    """How the packs of a domain are loaded, given how its database and its policy are read."""

    def load(directory: Path, domain: str) -> Pack:
        root = directory / domain
        if not root.is_dir():
            raise DataError(f"{directory} has no '{domain}' data.")
        check_inside(directory, _files(root))
        database, user_database = _database(root, "db"), _database(root, "user_db")

        splits = split_reader(root)
        load_user_tables = None
        if user_database is not None and read_user_tables is not None:
            read_user = read_user_tables
            load_user_tables = lambda: read_user(_read(user_database))  # noqa: E731

        return Pack(
            info=_info(directory, root),
            domain=domain,
            load_tables=lambda: read_tables(_read(database)),
            load_user_tables=load_user_tables,
            load_tasks=splits.tasks,
            splits=splits.names,
            policy=policy(root),
            tool_infos=read_tool_infos(root / "tools.json"),
            user_tool_infos=read_tool_infos(root / "user_tools.json"),
            root=root,
            canonical_form=sorted_text,
        )

    return load


@dataclass(frozen=True)
class SplitReader:
    """The splits of a domain's folder, and how their tasks are read."""

    names: tuple[str, ...]
    tasks: Callable[[str], tuple[Task, ...]]


def split_reader(root: Path) -> SplitReader:
    """The splits of a domain: those of the split file, or the task files of older versions."""

    @cache
    def tasks(file: str) -> tuple[Task, ...]:
        return read_tasks(_raw_tasks(root, file), root / file)

    listed = root / _SPLITS
    if not listed.exists():
        files = {BASE: _TASKS} | {
            split: file for split, file in _OLDER.items() if (root / file).exists()
        }
        return SplitReader(tuple(files), lambda split: tasks(files[split]))
    splits = _read_splits(listed)

    def split_tasks(split: str) -> tuple[Task, ...]:
        every = tasks(_TASKS)
        wanted = set(splits[split])
        missing = wanted - {task.id for task in every}
        if missing:
            raise DataError(f"{listed}: '{split}' lists '{min(missing)}', which is no task.")
        return tuple(task for task in every if task.id in wanted)

    return SplitReader(tuple(splits), split_tasks)


def _read_splits(path: Path) -> dict[str, list[str]]:
    found: Any = read_json(path, dict)
    for name, ids in found.items():
        if not isinstance(ids, list):
            raise DataError(f"{path}: '{name}' should hold a list of ids.")
    if not found:
        raise DataError(f"{path} lists no split.")
    return {name: list(map(str, ids)) for name, ids in found.items()}


def _info(directory: Path, root: Path) -> PackInfo:
    # What is generated beside the data for people makes no other version.
    files = [path for path in _files(root) if not _MADE.match(path.relative_to(root).as_posix())]
    info = pack_info(directory, files)
    return info.model_copy(update={"edition": TAU2})


def _files(root: Path) -> list[Path]:
    return [path for path in sorted(root.rglob("*")) if path.is_file()]


def _database(root: Path, stem: str) -> Path | None:
    return next((p for p in (root / f"{stem}.json", root / f"{stem}.toml") if p.exists()), None)


def _read(path: Path | None) -> Mapping[str, Any]:
    if path is None:
        raise DataError("The pack has no database: db.json or db.toml.")
    if path.suffix == ".json":
        return read_json(path, dict)
    try:
        return tomllib.loads(read_regular(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not valid TOML: {error}.") from error


def _raw_tasks(root: Path, file: str) -> list[Any]:
    single = sorted((root / "tasks").glob("task_*.json")) if file == _TASKS else []
    if single:
        return [read_json(path, dict) for path in single]
    packed = root / f"{file}.gz"
    if packed.exists():
        return read_json(packed, list)
    return read_json(root / file, list)


__all__ = ["BASE", "ReadTables", "SplitReader", "Tables", "pack_loader", "split_reader"]
