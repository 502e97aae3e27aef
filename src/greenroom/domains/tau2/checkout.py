"""Packs from a checkout of tau2-bench; its Python files are read without running them.

The data files are copied byte by byte. What tau2-bench makes of its source when it runs is read
from the source: the schemas of tools, what is told when one is unlocked, and which ones write.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from greenroom.domains.domain import Domain
from greenroom.domains.pack_writer import check_destination, write_directory
from greenroom.domains.packs import PackInfo, read_licence, read_text
from greenroom.domains.plugins import TAU2, find_plugin
from greenroom.domains.sources.checkout import ImportResult
from greenroom.domains.sources.commits import checked_out_commit, origin
from greenroom.domains.tau2.packs import split_reader
from greenroom.domains.tau2.schemas import (
    SourceTools,
    class_tools,
    read_tools,
    tool_facts,
    tool_schema,
    unlock_texts,
)
from greenroom.domains.tau2.source_types import SourceTypes
from greenroom.errors import DataError
from greenroom.util.files import check_inside, read_regular

if TYPE_CHECKING:
    from greenroom.domains.tools import ToolInfo

DOMAINS: Final = ("airline", "banking_knowledge", "mock", "retail", "telecom")
"""The domains of tau2-bench that are played here."""

_DATA: Final = ("data/tau2/domains", "tau2/domains", "domains", ".")
_SOURCE: Final = ("src/tau2/domains", "tau2/domains")
_GUIDELINES: Final = "user_simulator"
_COPIED: Final = frozenset({".json", ".toml", ".md", ".txt", ".dot", ".gz"})
_SPOKEN: Final = re.compile(r"tasks_voice|audio_")
_SHAPE: Final = (
    "A checkout of tau2-bench has data/tau2/domains/ with a folder per domain that holds db.json "
    "or db.toml and tasks.json."
)
_SEARCH: Final[Mapping[str, Sequence[str]]] = {
    "bm25": ("KBSearchMixin",),
    "grep_only": ("GrepMixin",),
    "bm25_grep": ("KBSearchMixin", "GrepMixin"),
    "terminal_use": ("ShellMixin",),
    "alltools": ("KBSearchBm25AllToolsMixin", "KBSearchDenseAllToolsMixin", "ShellMixin"),
}
"""The classes whose tools each way of searching banking's documents adds."""


def is_tau2_checkout(path: Path) -> bool:
    """Whether a directory looks like a checkout of tau2-bench."""
    return _data_folder(path) is not None


def checkout_name(path: Path) -> str:
    """The name that a checkout's pack has: its repository's."""
    cloned = origin(path)
    if cloned is not None:
        return cloned.rsplit("/", 1)[-1]
    # Only the corrected set lists what was corrected.
    return "tau2-bench-verified" if (path / "FIXES.md").is_file() else "tau2-bench"


def import_tau2(path: Path, destination: Path, *, replace: bool = False) -> ImportResult:
    """Write the data of a checkout of tau2-bench as a pack."""
    check_destination(destination, replace=replace)
    data = _data_folder(path)
    if data is None:
        problem = "has no domain of tau2-bench" if path.is_dir() else "is not a directory"
        raise DataError(f"{path} {problem}. {_SHAPE}")
    notes: list[str] = []
    source = next((path / folder for folder in _SOURCE if (path / folder).is_dir()), None)
    folders = [folder for folder in sorted(data.iterdir()) if _is_domain(folder)]
    known = [folder for folder in folders if folder.name in DOMAINS]
    other = [folder.name for folder in folders if folder.name not in DOMAINS]
    if other:
        notes.append(f"left out, because they are not played here: {', '.join(other)}.")
    files = {folder: _data_files(folder) for folder in known}
    if source is None and not any((folder / "tools.json").is_file() for folder in known):
        notes.append("there is no source beside the data, so the pack has no tool descriptions.")
    beside = data if data.samefile(path) else data.parent
    guidelines = _data_files(beside / _GUIDELINES)
    modules = [] if source is None else sorted(source.rglob("*.py"))
    check_inside(path, [*guidelines, *modules, *(file for some in files.values() for file in some)])
    info, counts = _info(path), dict[str, dict[str, int]]()

    def fill(fresh: Path) -> None:
        _write(fresh / "pack.json", info.model_dump())
        for file in guidelines:
            _copy(file, fresh / _GUIDELINES / file.name)
        for folder, some in files.items():
            root = fresh / folder.name
            for file in some:
                _copy(file, root / file.relative_to(folder))
            # Read once, so that what is broken is said here, with the file of the checkout.
            splits = split_reader(folder)
            counts[folder.name] = {name: len(splits.tasks(name)) for name in splits.names}
            if source is not None:
                _write_tools(source / folder.name, root, notes)
            _check(fresh, folder)

    write_directory(destination, fill, replace=replace)
    return ImportResult(destination, info.version, counts, tuple(notes))


def _data_folder(path: Path) -> Path | None:
    try:
        for folder in _DATA:
            place = path / folder
            if place.is_dir() and any(_is_domain(child) for child in place.iterdir()):
                return place
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    return None


def _is_domain(folder: Path) -> bool:
    database = any((folder / name).is_file() for name in ("db.json", "db.toml"))
    tasks = any((folder / name).exists() for name in ("tasks.json", "tasks.json.gz", "tasks"))
    return database and tasks


def _data_files(folder: Path) -> list[Path]:
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.suffix in _COPIED and file.is_file() and not _SPOKEN.match(file.name)
    ]


def _check(pack: Path, folder: Path) -> None:
    """Read a domain of a written pack as it is read to be played; raise DataError if it cannot."""
    plugin = find_plugin(folder.name)
    try:
        edition = plugin.edition(TAU2, plugin.check())
        Domain(edition, edition.load_pack(pack, folder.name)).worlds()
    except DataError as error:
        # What is broken stands in the checkout; the pack is gone when this is read.
        problem = str(error).replace(str(pack / folder.name), str(folder))
        raise DataError(f"{folder.name} cannot be imported. {problem}") from error


def _write_tools(folder: Path, root: Path, notes: list[str]) -> None:
    """Write what the source says of the tools; what cannot be read goes to the notes."""
    types = SourceTypes(folder.parents[2])
    try:
        tools = read_tools(types, folder)
        if not tools.agent:
            notes.append(f"{folder.name}: {folder / 'tools.py'} declares no tool.")
            return
        made = _tool_files(tools, types, folder)
    except DataError as error:
        notes.append(f"{folder.name}: the pack has no tool descriptions. {error}")
        return
    for name, content in made.items():
        _write(root / name, content)


def _tool_files(tools: SourceTools, types: SourceTypes, folder: Path) -> dict[str, Any]:
    def schemas(some: Sequence[Any]) -> list[ToolInfo]:
        return [tool_schema(tool, types) for tool in some if not tool.discoverable]

    files: dict[str, Any] = {
        "tools.json": schemas(tools.agent),
        "user_tools.json": schemas(tools.user),
        "tool_facts.json": {"assistant": tool_facts(tools.agent), "user": tool_facts(tools.user)},
    }
    if any(tool.discoverable for tool in (*tools.agent, *tools.user)):
        unlocked = {"agent": unlock_texts(tools.agent), "user": unlock_texts(tools.user)}
        files["discoverable_tools.json"] = unlocked
    mixins = folder / "retrieval_mixins.py"
    if mixins.is_file():
        for variant, names in _SEARCH.items():
            found = [class_tools(types, mixins, name) for name in names]
            if all(found):
                files[f"tools_retrieval_{variant}.json"] = [
                    tool_schema(tool, types) for some in found for tool in some
                ]
    return files


def _info(path: Path) -> PackInfo:
    commit, cloned = checked_out_commit(path), origin(path)
    number = _version(path)
    return PackInfo(
        name=checkout_name(path),
        version=f"{number} ({commit[:12]})" if commit else number,
        source=f"checkout of {cloned}" if cloned else "tau2-bench checkout of unknown origin",
        licence=read_licence(path),
        edition=TAU2,
        commit=commit or "",
    )


def _version(path: Path) -> str:
    file = path / "pyproject.toml"
    check_inside(path, [file])
    try:
        said: dict[str, Any] = tomllib.loads(read_text(file)) if file.is_file() else {}
    except tomllib.TOMLDecodeError:
        return "unknown"
    found = cast("dict[str, Any]", said.get("project") or {}).get("version")
    return found if isinstance(found, str) else "unknown"


def _copy(file: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    destination.write_bytes(read_regular(file))


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))


__all__ = ["DOMAINS", "checkout_name", "import_tau2", "is_tau2_checkout"]
