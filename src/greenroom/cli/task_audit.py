"""`greenroom tasks audit`: the faults of tasks, printed and written to a file."""

from __future__ import annotations

import json as plain_json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenroom.cli.options import chosen_tasks
from greenroom.cli.output import console, echo, print_json
from greenroom.errors import UnknownName
from greenroom.util.files import check_directory, write_whole

if TYPE_CHECKING:
    from greenroom.benchmark.config import RunConfig
    from greenroom.domains.domain import Domain
    from greenroom.domains.task_audit import TaskFinding

FORMAT = 1


def audit_split(
    domain: Domain,
    config: RunConfig,
    runs: Sequence[str],
    kinds: Sequence[str],
    output: Path | None,
    *,
    json: bool,
) -> None:
    """Audit the chosen tasks, and deliver what was found."""
    from greenroom.domains.task_audit import FAULTS, audit_tasks, in_order
    from greenroom.trials.display import progress_bar

    for kind in kinds:
        if kind not in FAULTS:
            raise UnknownName("kind of finding", kind, FAULTS)
    if output is not None:
        check_directory(output)
    split = config.task_split
    indices, notes = _chosen(domain, config)
    findings = list["TaskFinding"]()
    if runs:
        findings, of_runs = _of_runs(domain, split, indices, runs)
        notes += of_runs
    with progress_bar("Tasks", len(indices), shown=len(indices) >= _MANY) as advance:
        findings += audit_tasks(domain, split, indices, lambda: advance(""))
    wanted = set(kinds or FAULTS)
    found = in_order(one for one in findings if one.kind in wanted)
    if any(one.kind == "never-solved" for one in found):
        notes.append(_HARD)
    result = _as_json(domain, split, indices, runs, wanted, found, notes)
    if output is not None:
        text = plain_json.dumps(result, indent=1, ensure_ascii=False) + "\n"
        write_whole(output, [text])
    if json:
        print_json(result)
        return
    _print(domain, split, indices, found, notes)
    if output is not None:
        echo(f"Wrote {output}. 'greenroom run --exclude-tasks {output}' leaves these tasks out.")


_MANY = 500
"""From so many tasks on, it takes a moment."""
_HARD = (
    "A task that no agent solved may be faulty, or hard: read it. Leaving out what these agents do "
    "not solve raises their figures."
)


def _chosen(domain: Domain, config: RunConfig) -> tuple[list[int], list[str]]:
    """The tasks to audit, and which are left out."""
    from greenroom.benchmark.context import excluded_tasks
    from greenroom.errors import InputError
    from greenroom.reports.exclusions import exclusion_words

    indices = chosen_tasks(domain, config)
    excluded = excluded_tasks(config, domain.tasks(config.task_split), indices)
    left_out = {one.task_index for one in excluded}
    kept = [index for index in indices if index not in left_out]
    if excluded and not kept:
        raise InputError("--exclude-tasks leaves nothing to audit: it names every chosen task.")
    return kept, list(exclusion_words(excluded))


def _of_runs(
    domain: Domain, split: str, indices: Sequence[int], names: Sequence[str]
) -> tuple[list[TaskFinding], list[str]]:
    from greenroom.benchmark.task_audits import findings_of_runs
    from greenroom.cli.result_files import opened_jobs
    from greenroom.errors import InputError
    from greenroom.store import RunRecord

    # The audit pairs tasks itself, and says which are others.
    with opened_jobs(names, domain.name, same_tasks=False) as (store, jobs):
        runs = [job for job in jobs if isinstance(job, RunRecord)]
        if len(runs) < len(jobs):
            raise InputError("An evaluation has rows, not tasks: name runs.")
        return findings_of_runs(store, runs, domain, split, indices)


def _as_json(
    domain: Domain,
    split: str,
    indices: Sequence[int],
    runs: Sequence[str],
    kinds: set[str],
    found: Sequence[TaskFinding],
    notes: Sequence[str],
) -> dict[str, Any]:
    from greenroom.domains.content import task_set
    from greenroom.domains.task_audit import FAULTS, FROM_RUNS, finding_json
    from greenroom.reports.exclusions import AUDIT

    info, hashes = domain.pack.info, task_set(domain.pack, split, ())
    return {
        "kind": AUDIT,
        "format": FORMAT,
        "env": domain.name,
        "split": domain.pack.split_named(split),
        "pack": {"name": info.name, "version": info.version, "edition": info.edition},
        "hash": hashes.hash,
        "tasks": len(indices),
        "faulty_tasks": len({one.task_index for one in found}),
        "checked": [kind for kind in FAULTS if kind in kinds and (runs or kind not in FROM_RUNS)],
        "runs": list(runs),
        "notes": list(notes),
        "counts": dict(Counter(one.kind for one in found)),
        "findings": [finding_json(domain, split, one) for one in found],
    }


def _print(
    domain: Domain,
    split: str,
    indices: Sequence[int],
    found: Sequence[TaskFinding],
    notes: Sequence[str],
) -> None:
    from greenroom.domains.task_audit import FAULTS
    from greenroom.domains.tasks import task_name

    out = console()
    for one in found:
        name = task_name(one.task_index, domain.task(one.task_index, split))
        out.print(f"task {name}: {one.kind}: {one.sentence}", soft_wrap=True, markup=False)
    for note in notes:
        out.print(note, soft_wrap=True, markup=False)
    counts = Counter(one.kind for one in found)
    for kind, meaning in FAULTS.items():
        if counts[kind]:
            out.print(f"{counts[kind]} {kind}: {meaning}", soft_wrap=True)
    faulty = len({one.task_index for one in found})
    out.print(f"{faulty}/{len(indices)} tasks have findings")
