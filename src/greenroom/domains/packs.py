"""Packs: the data of a domain.

A pack directory holds one folder per domain:

    pack.json                       name, version, source, licence (optional)
    retail/db/{table}.json          records by id
    retail/user_db/{table}.json     the user's own records by id (optional)
    retail/tasks/{split}.json       a list of tasks
    retail/policy.md                the policy for agents
    retail/tools.json               tool descriptions (optional: the domain has its own)
    retail/user_tools.json          descriptions of the user's tools (optional)
    retail/rules.json               a list of rules (optional)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, cast

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter

from greenroom.canonical import canonical_text
from greenroom.config import DEFAULT_SPLIT
from greenroom.domains.content import ContentHashes, content_hashes
from greenroom.domains.tasks import Task, parse_tasks, validated
from greenroom.domains.tools import ToolInfo, check_tool_info
from greenroom.domains.world import Base, Record
from greenroom.errors import DataError, UnknownName, redacted
from greenroom.util.files import check_inside, read_regular, read_unpacked

DEFAULT_EDITION: Final = "default"
"""A domain's own rules."""

_LICENCE_FILE: Final = "LICENSE"
_MAIN_SPLITS: Final = ("base", "test")

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
    edition: str = DEFAULT_EDITION
    """The rules of the domain that the pack is for."""
    commit: str = ""
    """The commit of its source, where that is a repository."""


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
    """The schemas of the agent's tools, in the order in which they are shown."""
    user_tool_infos: tuple[ToolInfo, ...] = ()
    load_user_tables: Callable[[], Mapping[str, Mapping[str, Record]]] | None = None
    """The user's database, if they have one of their own."""
    root: Path | None = None
    """The folder of the domain's files, for editions that read more of them."""
    own_code: bytes = b""
    """The file of a tool that was named in the settings, such as a search of one's own."""
    canonical_form: Callable[[Any], str] = canonical_text
    """Writes a record so that equal texts mean equal records."""
    _tasks: dict[str, tuple[Task, ...]] = field(
        default_factory=dict[str, tuple[Task, ...]], repr=False, compare=False
    )

    @cached_property
    def base(self) -> Base:
        """The database, loaded once and shared by every environment."""
        return Base(self.load_tables(), self.canonical_form)

    @cached_property
    def user_base(self) -> Base | None:
        """The user's database, loaded once and shared by every environment."""
        load = self.load_user_tables
        return None if load is None else Base(load(), self.canonical_form)

    def split_named(self, name: str = DEFAULT_SPLIT) -> str:
        """The name of a split of this pack; raise UnknownName if there is no such split."""
        if name in self.splits:
            return name
        main = next((split for split in _MAIN_SPLITS if split in self.splits), None)
        if name != DEFAULT_SPLIT or main is None:
            raise UnknownName("split", name, self.splits)
        return main

    def tasks(self, split: str = DEFAULT_SPLIT) -> tuple[Task, ...]:
        """The tasks of a split, loaded once."""
        split = self.split_named(split)
        if split not in self._tasks:
            self._tasks[split] = self.load_tasks(split)
        return self._tasks[split]

    @cached_property
    def hashes(self) -> ContentHashes:
        """The hashes of the content; equal content has equal ones, however it was packed."""
        return content_hashes(self)

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
    user_tables = _files(root / "user_db") if _is_directory(root / "user_db") else None
    tasks = _files(root / "tasks")
    names = ("rules.json", "tools.json", "user_tools.json", "policy.md")
    rules_file, tools_file, user_tools_file, policy_file = own = [root / name for name in names]
    data = [*tables.values(), *(user_tables or {}).values(), *tasks.values()]
    check_inside(directory, [*data, *own])
    return Pack(
        info=pack_info(directory, data),
        domain=domain,
        load_tables=lambda: _read_tables(tables),
        load_user_tables=None if user_tables is None else lambda: _read_tables(user_tables),
        load_tasks=lambda split: parse_tasks(read_json(tasks[split], list), tasks[split]),
        splits=tuple(tasks),
        policy=read_text(policy_file),
        rules=_optional(_rules, rules_file),
        tool_infos=read_tool_infos(tools_file),
        user_tool_infos=read_tool_infos(user_tools_file),
        root=root,
    )


def read_tool_infos(path: Path) -> tuple[ToolInfo, ...]:
    """The schemas in a file, if there is one."""
    return _optional(_tool_infos, path)


def _read_tables(files: Mapping[str, Path]) -> dict[str, dict[str, Record]]:
    return {name: check_table(read_json(path, dict), str(path)) for name, path in files.items()}


def read_json(path: Path, kind: type[dict[str, Any]] | type[list[Any]]) -> Any:
    """A JSON file's content, also a packed one; an error names the place of broken JSON."""
    try:
        value: Any = orjson.loads(read_unpacked(path))
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


def pack_info(directory: Path, files: list[Path]) -> PackInfo:
    """What the pack in a directory says of itself."""
    path = directory / "pack.json"
    check_inside(directory, [path, directory / _LICENCE_FILE])
    if path.exists():
        info = validated(_info, read_json(path, dict), path)
        # It is shown with every result, and may quote the address that the pack came from.
        return info.model_copy(update={"source": redacted(info.source)})
    # Without a pack.json, the digest of the content is the version.
    digest = sha256()
    for file in sorted(files):
        digest.update(read_regular(file))
    return PackInfo(
        name=directory.resolve().name,
        version=f"sha256:{digest.hexdigest()[:12]}",
        source=str(directory),
        licence=read_licence(directory),
    )


def read_licence(directory: Path) -> str:
    """The first line of a LICENSE file, the name of the licence; raise DataError for a link out."""
    path = directory / _LICENCE_FILE
    check_inside(directory, [path])
    lines = read_text(path).strip().splitlines() if path.is_file() else []
    return lines[0].strip() if lines else "unknown"
