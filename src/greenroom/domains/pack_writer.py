"""Write packs; a directory appears complete or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from greenroom.domains.packs import Pack, PackInfo
from greenroom.errors import DataError, InputError

if TYPE_CHECKING:
    from greenroom.domains.tasks import Task
    from greenroom.domains.tools import ToolInfo
    from greenroom.domains.world import Record


def pack_in_memory(
    info: PackInfo,
    domain: str,
    *,
    tables: Mapping[str, Mapping[str, Record]],
    tasks: Mapping[str, Sequence[Task]],
    policy: str,
    rules: Sequence[str] = (),
    tool_infos: Sequence[ToolInfo] = (),
    user_tables: Mapping[str, Mapping[str, Record]] | None = None,
    user_tool_infos: Sequence[ToolInfo] = (),
) -> Pack:
    """A pack of data in memory."""
    return Pack(
        info=info,
        domain=domain,
        load_tables=lambda: tables,
        load_tasks=lambda split: tuple(tasks[split]),
        splits=tuple(tasks),
        policy=policy,
        rules=tuple(rules),
        tool_infos=tuple(tool_infos),
        user_tool_infos=tuple(user_tool_infos),
        load_user_tables=None if user_tables is None else lambda: user_tables,
    )


def write_pack(directory: Path, packs: Sequence[Pack], *, replace: bool = False) -> None:
    """Write packs of one source as a pack directory, a folder per domain.

    The files are written to a temporary directory and moved to the destination at the end. An
    existing directory is replaced only with `replace`, and only if it is empty or a pack.
    """

    def fill(fresh: Path) -> None:
        _write_json(fresh / "pack.json", packs[0].info.model_dump())
        for pack in packs:
            _write_domain(fresh / pack.domain, pack)

    write_directory(directory, fill, replace=replace)


def write_directory(
    directory: Path, fill: Callable[[Path], None], *, replace: bool = False
) -> None:
    """Make a pack directory by a function that writes its files; see `write_pack`."""
    check_destination(directory, replace=replace)
    try:
        with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".greenroom-") as scratch:
            fresh = Path(scratch) / "pack"
            fresh.mkdir()
            fill(fresh)
            _move(fresh, directory, aside=Path(scratch) / "replaced")
    except OSError as error:
        raise DataError(f"{directory} cannot be written: {error.strerror}.") from error


def _move(fresh: Path, directory: Path, *, aside: Path) -> None:
    replaced = directory.exists()
    if replaced:
        directory.rename(aside)
    try:
        fresh.rename(directory)
    except OSError:
        if replaced:
            aside.rename(directory)
        raise


def check_destination(directory: Path, *, replace: bool = False) -> None:
    """Raise unless a pack may be written to the directory."""
    if not directory.exists():
        if not directory.parent.is_dir():
            raise InputError(f"There is no directory {directory.parent}: create it first.")
        return
    if not directory.is_dir():
        raise InputError(f"{directory} is a file: name a directory to write the pack to.")
    if not any(directory.iterdir()):
        return
    if not (directory / "pack.json").exists():
        raise InputError(f"{directory} is not empty and not a pack: name another directory.")
    if not replace:
        raise InputError(f"{directory} holds a pack already: name another, or pass --replace.")


def _write_domain(root: Path, pack: Pack) -> None:
    for table, records in pack.load_tables().items():
        _write_json(root / "db" / f"{table}.json", dict(records))
    if pack.load_user_tables is not None:
        for table, records in pack.load_user_tables().items():
            _write_json(root / "user_db" / f"{table}.json", dict(records))
    for split in pack.splits:
        tasks = [task.to_json() for task in pack.tasks(split)]
        _write_json(root / "tasks" / f"{split}.json", tasks)
    (root / "policy.md").write_text(pack.policy, encoding="utf-8")
    _write_json(root / "rules.json", list(pack.rules))
    if pack.tool_infos:
        _write_json(root / "tools.json", list(pack.tool_infos))
    if pack.user_tool_infos:
        _write_json(root / "user_tools.json", list(pack.user_tool_infos))


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))


__all__ = ["check_destination", "pack_in_memory", "write_directory", "write_pack"]
