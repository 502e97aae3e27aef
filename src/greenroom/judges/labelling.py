"""Failed episodes as cases for people to label, with the verdicts that they noted already."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from greenroom.analysis.errors import diagnose
from greenroom.errors import InputError, redacted
from greenroom.evaluation.test_sets import FORMATS, format_rows
from greenroom.evaluation.test_sets.files import format_of
from greenroom.judging.evidence import DETAILS, sections_of
from greenroom.store import CellKey, RunRecord, Store
from greenroom.util.files import write_whole

_LABEL = "label"


def cases_of_run(store: Store, run: RunRecord) -> Iterator[dict[str, Any]]:
    """The failures of a run as cases of `identify`, a column for each person who noted a verdict.

    Where nobody has, there is an empty column `label` to be filled.
    """
    noted: dict[CellKey, dict[str, str]] = {}
    for mark in store.notes.marks(run.id):
        if mark.verdict:
            noted.setdefault((mark.item, mark.trial), {})[mark.author] = mark.verdict
    people = sorted({author for said in noted.values() for author in said})
    columns = {author: f"{_LABEL}_{author}" for author in people} or {"": _LABEL}
    for episode in store.runs.results(run.id):
        diagnosis = diagnose(episode) if episode.has_result and episode.pruned is None else None
        if diagnosis is None:
            continue
        sections = sections_of(episode, diagnosis, policy=run.policy, detail=DETAILS[0])
        said = noted.get(episode.key, {})
        yield {
            "case": f"{run.name} task {episode.task_index} trial {episode.trial}",
            **{name: redacted(text) for name, text in sections},
            **{column: said.get(author, "") for author, column in columns.items()},
        }


def write_cases(store: Store, run: RunRecord, path: Path) -> int:
    """Write a run's failures as cases to a CSV, JSON or JSON Lines file; returns how many."""
    if path.suffix.lower().removeprefix(".") not in FORMATS:
        raise InputError(f"Cases are a .csv, .json or .jsonl file, and {path.name} is none.")
    rows = list(cases_of_run(store, run))
    if not rows:
        raise InputError(f"'{run.name}' has no failures that a judge could be asked about.")
    write_whole(path, format_rows(rows, list(rows[0]), format_of(path)))
    return len(rows)


__all__ = ["cases_of_run", "write_cases"]
