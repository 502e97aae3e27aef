"""Packs: the data of a domain.

A pack directory holds one folder per domain:

    pack.json                       name, version, source, licence (optional)
    retail/db/{table}.json          records by id
    retail/tasks/{split}.json       a list of tasks
    retail/policy.md                the policy for agents
    retail/tools.json               tool descriptions (optional: the domain has its own)
    retail/rules.json               a list of rules (optional)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter

from greenroom.domains.tasks import Task, parse_tasks, validated
from greenroom.domains.tools import ToolInfo, check_tool_info
from greenroom.domains.world import Base, Record
from greenroom.errors import DataError, UnknownName, redacted
from greenroom.util.files import check_inside, read_regular

DEFAULT_SPLIT = "test"

T = TypeVar("T")


class PackInfo(BaseModel):
    """The source of a pack, shown with every result measured on it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    version: str
    source: str
    licence: str
    notes: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    """What has to be known to read a result: said when a run starts, and beside its figure."""


_info = TypeAdapter(PackInfo)
_rules = TypeAdapter(tuple[str, ...])
_tool_infos = TypeAdapter(tuple[Annotated[ToolInfo, AfterValidator(check_tool_info)], ...])


@dataclass(frozen=True)
class Pack:
    """The data of one domain; tables and tasks load on first use."""

    info: PackInfo
    domain: str
    load_tables: Callable[[], Mapping[str, Mapping[str, Record]]]
    load_tasks: Callable[[str], tuple[Task, ...]]
    splits: tuple[str, ...]
    policy: str
    rules: tuple[str, ...] = ()
    tool_infos: tuple[ToolInfo, ...] = ()
    _tasks: dict[str, tuple[Task, ...]] = field(
        default_factory=dict[str, tuple[Task, ...]], repr=False, compare=False
    )

    @cached_property
    def base(self) -> Base:
        """The database, loaded once and shared by every environment."""
        return Base(self.load_tables())

    def tasks(self, split: str = DEFAULT_SPLIT) -> tuple[Task, ...]:
        """The tasks of a split, loaded once."""
        if split not in self.splits:
            raise UnknownName("split", split, self.splits)
        if split not in self._tasks:
            self._tasks[split] = self.load_tasks(split)
        return self._tasks[split]

    @property
    def task_counts(self) -> dict[str, int]:
        """How many tasks each split has."""
        return {split: len(self.tasks(split)) for split in self.splits}


def load_pack(directory: Path, domain: str) -> Pack:
    """The pack of a domain in a directory; raise DataError if a required file is missing."""
    root = directory / domain
    if not _is_directory(directory):
        raise DataError(f"{directory} is not a directory: --data takes the directory of a pack.")
    if not _is_directory(root):
        known = sorted(path.parent.name for path in directory.glob("*/db"))
        raise DataError(
            f"{directory} has no '{domain}' data (found: {', '.join(known) or 'no domain'}). "
            "A pack directory has a folder per domain with db/, tasks/ and policy.md."
        )
    tables = _files(root / "db")
    tasks = _files(root / "tasks")
    rules_file, tools_file, policy_file = (
        root / name for name in ("rules.json", "tools.json", "policy.md")
    )
    data = [*tables.values(), *tasks.values()]
    own = [directory / "pack.json", directory / "LICENSE", rules_file, tools_file, policy_file]
    check_inside(directory, [*data, *own])
    return Pack(
        info=_pack_info(directory, data),
        domain=domain,
        load_tables=lambda: {
            name: check_table(read_json(path, dict), str(path)) for name, path in tables.items()
        },
        load_tasks=lambda split: parse_tasks(read_json(tasks[split], list), tasks[split]),
        splits=tuple(tasks),
        policy=read_text(policy_file),
        rules=_optional(_rules, rules_file),
        tool_infos=_optional(_tool_infos, tools_file),
    )


def read_json(path: Path, kind: type[dict[str, Any]] | type[list[Any]]) -> Any:
    """A JSON file's content; an error names the place of broken JSON."""
    try:
        value: Any = orjson.loads(read_regular(path))
    except orjson.JSONDecodeError as error:
        raise DataError(
            f"{path} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    if not isinstance(value, kind):
        expected = "a list" if kind is list else "an object"
        raise DataError(f"{path} should hold {expected}, but holds {type(value).__name__}.")
    return cast("Any", value)


def read_text(path: Path) -> str:
    """A text file's content."""
    try:
        return read_regular(path).decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error.reason}.") from error


def check_table(value: Any, place: str) -> dict[str, Record]:
    """A table: an object of records by id; raise DataError for anything else."""
    if not isinstance(value, dict):
        raise DataError(f"{place} should hold records by id, but holds {type(value).__name__}.")
    table = cast("dict[str, Any]", value)
    for key, record in table.items():
        if not isinstance(record, dict):
            raise DataError(f"{place}: record '{key}' should be an object, but is {record!r:.40}.")
    return table


def _optional(adapter: TypeAdapter[tuple[T, ...]], path: Path) -> tuple[T, ...]:
    return validated(adapter, read_json(path, list), path) if path.exists() else ()


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except PermissionError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error


def _files(directory: Path) -> dict[str, Path]:
    try:
        found = {path.stem: path for path in sorted(directory.iterdir()) if path.suffix == ".json"}
    except FileNotFoundError as error:
        raise DataError(f"{directory} is missing.") from error
    except OSError as error:
        raise DataError(f"{directory} cannot be read: {error.strerror}.") from error
    if not found:
        raise DataError(f"{directory} holds no .json file.")
    return found


def _pack_info(directory: Path, files: list[Path]) -> PackInfo:
    path = directory / "pack.json"
    if path.exists():
        info = validated(_info, read_json(path, dict), path)
        # It is shown with every result, and may quote the address that the pack came from.
        return info.model_copy(update={"source": redacted(info.source)})
    # Without a pack.json, the digest of the content is the version.
    digest = sha256()
    for file in sorted(files):
        digest.update(read_regular(file))
    licence = directory / "LICENSE"
    return PackInfo(
        name=directory.resolve().name,
        version=f"sha256:{digest.hexdigest()[:12]}",
        source=str(directory),
        licence=read_text(licence).strip().splitlines()[0] if licence.exists() else "unknown",
    )
