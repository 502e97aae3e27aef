"""Packs from a checkout of tau-bench; its Python files are read without running them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from greenroom.domains.pack_writer import check_destination, pack_in_memory, write_pack
from greenroom.domains.packs import Pack, PackInfo, check_table, read_json, read_licence, read_text
from greenroom.domains.sources.checkout_modules import (
    read_rules,
    read_task_records,
    read_tool_infos,
)
from greenroom.domains.sources.commits import checked_out_commit, origin
from greenroom.domains.tasks import parse_tasks
from greenroom.errors import DataError
from greenroom.util.files import check_inside, read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SPLITS = ("test", "train", "dev")

_SHAPE = (
    "A checkout of tau-bench has tau_bench/envs/ with a folder per domain that holds data/*.json, "
    "wiki.md and tasks_test.py."
)


@dataclass(frozen=True)
class ImportResult:
    """What was imported, with notes on what was left out."""

    directory: Path
    version: str
    tasks: Mapping[str, Mapping[str, int]]
    """How many tasks, by domain and split."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _DomainFiles:
    """The files of one domain of a checkout."""

    name: str
    tables: Mapping[str, Path]
    tasks: Mapping[str, Path]
    policy: Path
    rules: Path | None
    tools: tuple[Path, ...]

    @property
    def all(self) -> Iterator[Path]:
        """Every file of the pack."""
        yield from (*self.tables.values(), *self.tasks.values(), self.policy, *self.tools)
        if self.rules is not None:
            yield self.rules


def import_checkout(path: Path, destination: Path, *, replace: bool = False) -> ImportResult:
    """Write the data of a checkout of tau-bench as a pack.

    `path` is the repository's root, its `tau_bench` folder or `tau_bench/envs`.
    """
    check_destination(destination, replace=replace)
    envs, found = _find_domains(path)
    check_inside(path, (file for domain in found for file in domain.all))
    info = _info(envs, found)
    notes: list[str] = []
    packs = [_read_pack(info, files, notes) for files in found]
    write_pack(destination, packs, replace=replace)
    return ImportResult(
        directory=destination,
        version=info.version,
        tasks={pack.domain: pack.task_counts for pack in packs},
        notes=tuple(notes),
    )


def _find_domains(path: Path) -> tuple[Path, list[_DomainFiles]]:
    """The folder of the domains in a checkout, and their files."""
    try:
        for envs in (path / "tau_bench" / "envs", path / "envs", path):
            folders = sorted(envs.iterdir()) if envs.is_dir() else []
            found = [_domain_files(folder) for folder in folders if _is_domain(folder)]
            if found:
                return envs, found
        problem = "has no domain of tau-bench" if path.is_dir() else "is not a directory"
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    raise DataError(f"{path} {problem}. {_SHAPE}")


def _is_domain(folder: Path) -> bool:
    # An incomplete domain counts too, so that the missing files are reported.
    return (folder / "data").is_dir() or bool(_task_files(folder))


def _domain_files(folder: Path) -> _DomainFiles:
    tables = {path.stem: path for path in sorted((folder / "data").glob("*.json"))}
    tasks = _task_files(folder)
    policy, rules = folder / "wiki.md", folder / "rules.py"
    if not tables:
        raise DataError(f"{folder / 'data'} holds no .json file. {_SHAPE}")
    for missing, found in (("tasks_test.py", bool(tasks)), ("wiki.md", policy.is_file())):
        if not found:
            raise DataError(f"{folder / missing} is missing. {_SHAPE}")
    tools = sorted((folder / "tools").glob("*.py"))
    return _DomainFiles(
        name=folder.name,
        tables=tables,
        tasks=tasks,
        policy=policy,
        rules=rules if rules.is_file() else None,
        tools=tuple(tool for tool in tools if tool.stem != "__init__"),
    )


def _task_files(folder: Path) -> dict[str, Path]:
    files = {split: folder / f"tasks_{split}.py" for split in SPLITS}
    if not files["test"].is_file():
        # Old checkouts have no splits: their only tasks are those of the test split.
        files["test"] = folder / "tasks.py"
    return {split: path for split, path in files.items() if path.is_file()}


def _read_pack(info: PackInfo, files: _DomainFiles, notes: list[str]) -> Pack:
    """The pack of a domain; what is left out goes to the notes."""
    told: list[str] = []
    tool_infos = read_tool_infos(files.tools, told)
    if files.rules is None:
        told.append("there is no rules.py, so the pack has no rules.")
    pack = pack_in_memory(
        info,
        files.name,
        tables={
            name: check_table(read_json(path, dict), str(path))
            for name, path in files.tables.items()
        },
        tasks={
            split: parse_tasks(read_task_records(path, told), path)
            for split, path in files.tasks.items()
        },
        policy=read_text(files.policy),
        rules=read_rules(files.rules) if files.rules else (),
        tool_infos=tool_infos,
    )
    notes.extend(f"{files.name}: {note}" for note in told)
    return pack


def _info(envs: Path, domains: Sequence[_DomainFiles]) -> PackInfo:
    digest = _content_digest(envs, domains)
    # Only a complete checkout has its root two levels up; a copied folder may be anywhere.
    package = envs.resolve().parent
    root = package.parent if package.name == "tau_bench" else None
    commit = checked_out_commit(root) if root else None
    cloned = origin(root) if root else None
    return PackInfo(
        name="tau-bench",
        version=f"commit {commit[:12]}" if commit else digest,
        source=f"checkout of {cloned}" if cloned else "tau-bench checkout of unknown origin",
        licence=read_licence(root) if root else "unknown",
        commit=commit or "",
        # The digest also covers local changes.
        notes=(f"The files read have the digest {digest}.",) if commit else (),
    )


def _content_digest(envs: Path, domains: Sequence[_DomainFiles]) -> str:
    digest = sha256()
    for file in sorted(file for domain in domains for file in domain.all):
        content = read_regular(file)
        digest.update(f"{file.relative_to(envs).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return f"sha256:{digest.hexdigest()[:12]}"


__all__ = ["ImportResult", "import_checkout"]
