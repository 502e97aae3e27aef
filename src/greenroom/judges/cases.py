"""Labelled cases: read from files or test sets, checked, and brought together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Final, NamedTuple

import orjson

from greenroom.errors import InputError
from greenroom.judges.kinds import JudgeKind, read_yes_or_no
from greenroom.store import decoded

_LABEL: Final = re.compile(r"label(_.+)?")
"""The columns with people's labels: `label`, and `label_ANYBODY` where there are several people."""


@dataclass(frozen=True)
class LabelledCase:
    """What a judge is shown, and what people say of it."""

    name: str
    material: Mapping[str, Any]
    labels: tuple[str, ...]
    """What most people say; several where the judge gives several verdicts at once."""
    people: tuple[tuple[str, ...], ...] = field(default=())
    """Everybody's labels, for each verdict."""


class LabelledRows(NamedTuple):
    """What there is to put to a judge, and what is not."""

    cases: list[LabelledCase]
    undecided: list[tuple[str, ...]]
    """People's labels of the cases that they do not agree about."""
    unlabelled: int
    """Rows that nobody has labelled yet."""


def read_cases(rows: Iterable[Mapping[str, Any]], kind: JudgeKind | None) -> list[LabelledCase]:
    """The cases of a judge's rows; None is an evaluator. Raises InputError for a wrong row."""
    return read_labelled(rows, kind).cases


def read_labelled(rows: Iterable[Mapping[str, Any]], kind: JudgeKind | None) -> LabelledRows:
    """The same with what is left out: rows without a label, or without a majority."""
    read = read_yes_or_no if kind is None else kind.read_label
    needed = ("output",) if kind is None else kind.columns
    instead = ("conversation",) if kind is None else ()
    found: list[LabelledCase] = []
    undecided: list[tuple[str, ...]] = []
    unlabelled = 0
    for number, row in enumerate(rows, start=1):
        missing = [name for name in needed if row.get(name) in (None, "")]
        if missing and all(row.get(name) in (None, "") for name in instead):
            columns = [" or ".join([*needed[:1], *instead]), *needed[1:], "label"]
            raise InputError(
                f"Case {number} has no {' and no '.join(missing)}: cases of this judge need the "
                f"columns {', '.join(columns)}."
            )
        people = _labels(row, number, read)
        if not people:
            unlabelled += 1
            continue
        label = _most_say(people)
        if label is None:  # nobody can be held against it
            undecided.append(tuple(people))
            continue
        material = {
            name: decoded(value) if name == "conversation" and kind is None else value
            for name, value in row.items()
            if not _LABEL.fullmatch(name) and name != "case"
        }
        found.append(
            LabelledCase(str(row.get("case") or number), material, (label,), (tuple(people),))
        )
    if not found:
        lack = "that people agree about" if undecided else "with a label"
        raise InputError(f"There are no cases {lack}: a judge cannot be checked.")
    together = _together(found, kind.shared) if kind is not None and kind.shared else found
    return LabelledRows(together, undecided, unlabelled)


def builtin_cases(kind: str) -> list[dict[str, Any]]:
    """Greenroom's own few cases of a judge, as rows; none for a judge that it knows nothing of."""
    path = resources.files("greenroom.judges") / "data" / f"{kind}.json"
    return orjson.loads(path.read_bytes()) if path.is_file() else []


def _labels(row: Mapping[str, Any], number: int, read: Callable[[Any], str]) -> list[str]:
    given = {name: value for name, value in row.items() if _LABEL.fullmatch(name)}
    if not given:
        raise InputError(
            f"Case {number} has no label: a column label, or label_NAME for each person, says what "
            "people say."
        )
    labels: list[str] = []
    for name, value in given.items():
        if value in (None, ""):
            continue
        try:
            labels.append(read(value))
        except ValueError as error:
            raise InputError(f"Case {number}: {name} should be {error}, not {value!r}.") from error
    return labels


def _most_say(labels: Sequence[str]) -> str | None:
    """What most say; None where as many say something else."""
    (first, count), *others = Counter(labels).most_common()
    return None if others and others[0][1] == count else first


def _together(cases: Sequence[LabelledCase], shared: str) -> list[LabelledCase]:
    """Cases of the same conversation as one, since the judge decides about them in one answer."""
    groups: dict[str, list[LabelledCase]] = {}
    for one in cases:
        groups.setdefault(str(one.material[shared]), []).append(one)
    return [
        LabelledCase(
            group[0].name,
            {
                name: (
                    group[0].material[name]
                    if name == shared
                    else [one.material.get(name) for one in group]
                )
                for name in group[0].material
            },
            tuple(label for one in group for label in one.labels),
            tuple(people for one in group for people in one.people),
        )
        for group in groups.values()
    ]


__all__ = ["LabelledCase", "LabelledRows", "builtin_cases", "read_cases", "read_labelled"]
