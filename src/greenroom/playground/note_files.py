"""Notes as files: CSV, JSON and JSON Lines, written and read back without loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from greenroom.errors import InputError
from greenroom.evaluation.test_sets import format_rows
from greenroom.playground.note_models import (
    EpisodeSubject,
    RowSubject,
    Subject,
    ThreadSubject,
    stored_subject,
    subject_of,
)
from greenroom.store import NoteFilter, NoteRecord, Store, Verdict

NoteFormat = Literal["csv", "json", "jsonl"]


def _moment(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("it has no time zone")
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


Moment = Annotated[str, AfterValidator(_moment)]
"""A point in time, as the store writes it."""


class NoteRow(BaseModel):
    """A note in a file: every fact in a column of its own, and jobs by name."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field(pattern=r"^[0-9A-Za-z_-]{1,32}$")
    run: str | None = None
    evaluation: str | None = None
    item: int | None = None
    trial: int | None = None
    step: int | None = None
    thread: str | None = None
    turn: str | None = None
    tag: str = ""
    verdict: Verdict | None = None
    text: str = ""
    author: str = "me"
    created_at: Moment
    updated_at: Moment


COLUMNS = tuple(NoteRow.model_fields)


def note_row(record: NoteRecord) -> NoteRow:
    """A note as a row of a file."""
    subject = subject_of(record)
    place = subject.model_dump(exclude={"board"})
    if isinstance(subject, EpisodeSubject):
        place["item"] = place.pop("task")
    copied = {"id", "tag", "verdict", "text", "author", "created_at", "updated_at"}
    return NoteRow(**place, **record.model_dump(include=copied))


def write_notes(store: Store, wanted: NoteFilter, form: NoteFormat) -> Iterator[str]:
    """The text of a file with the notes that are wanted, in pieces."""
    # In JSON every note has every column.
    rows = (
        note_row(note).model_dump(exclude_none=form == "csv") for note in store.notes.each(wanted)
    )
    return format_rows(rows, COLUMNS, form)


def check_rows(rows: Iterable[Mapping[str, Any]], source: str) -> Iterator[NoteRow]:
    """The rows of a file as notes; raise InputError for what is none."""
    for number, row in enumerate(rows, start=1):
        # An empty cell of CSV is no value.
        given = {name: value for name, value in row.items() if value != ""}
        try:
            yield NoteRow.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            raise InputError(f"{source}, note {number}: {field}: {first['msg']}.") from error


def import_notes(store: Store, rows: Iterable[NoteRow]) -> int:
    """Keep notes that were made elsewhere; return how many are new or newer than those here.

    Their runs and evaluations are found by name. Nothing is kept if one is not here.
    """
    return store.notes.put([_record(store, row) for row in rows])


def _record(store: Store, row: NoteRow) -> NoteRecord:
    return NoteRecord(
        subject=stored_subject(store, _subject(row)),
        **row.model_dump(include={"id", "tag", "verdict", "text", "author"}),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _subject(row: NoteRow) -> Subject:
    if row.run is not None and row.item is not None:
        return EpisodeSubject(run=row.run, task=row.item, trial=row.trial or 0, step=row.step)
    if row.evaluation is not None and row.item is not None:
        return RowSubject(evaluation=row.evaluation, item=row.item, trial=row.trial or 0)
    if row.thread is not None:
        return ThreadSubject(thread=row.thread, turn=row.turn)
    raise InputError(f"The note '{row.id}' is about nothing: it needs a run, evaluation or thread.")
