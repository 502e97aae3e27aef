"""Notes in the database. A deleted note keeps its row, so that it can be restored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Engine, func, insert, select, tuple_, update

from greenroom.errors import Conflict, InputError
from greenroom.store.database import insert_into, transaction
from greenroom.store.note_records import (
    LONGEST_AUTHOR,
    LONGEST_TAG,
    LONGEST_TEXT,
    MarkedCell,
    MarkRecord,
    NoteFilter,
    NoteRecord,
    NoteSubject,
)
from greenroom.store.note_rows import (
    UnknownNote,
    check_subject,
    counted_cells,
    matching,
    note_of,
    note_rows,
)
from greenroom.store.records import CellKey
from greenroom.store.schema import notes
from greenroom.util.raw_json import storable

_CHANGEABLE = ("tag", "text", "verdict")
_PAGE = 500


class Notes:
    """The notes of a store. Safe to use from several threads and several processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(
        self,
        subject: NoteSubject,
        *,
        tag: str = "",
        text: str = "",
        verdict: str | None = None,
        author: str = "me",
    ) -> NoteRecord:
        """Keep a new note; raise UnknownNote where there is nothing that it could be about."""
        said = _checked({"tag": tag, "text": text, "verdict": verdict})
        now = _now()
        row = {
            "id": uuid4().hex,
            "created_at": now,
            "updated_at": now,
            "author": _author(author),
            **subject.model_dump(),
            **said,
        }
        with transaction(self._engine) as connection:
            check_subject(connection, subject)
            connection.execute(insert(notes).values(row))
            return _one(connection, row["id"])

    def find(self, note_id: str) -> NoteRecord:
        """A note, deleted or not."""
        with transaction(self._engine) as connection:
            return _one(connection, note_id)

    def change(self, note_id: str, seen: str, **changes: Any) -> NoteRecord:
        """Change tag, text or verdict of a note as it was at `updated_at` = `seen`.

        Raise Conflict if it has been changed or deleted since.
        """
        with transaction(self._engine) as connection:
            note = _one(connection, note_id, lock=True)
            if note.deleted_at is not None:
                raise Conflict("This note was deleted in the meantime: restore it first.")
            if note.updated_at != seen:
                raise Conflict(
                    "Somebody changed this note in the meantime: load it again, then change it."
                )
            said = {name: getattr(note, name) for name in _CHANGEABLE} | changes
            connection.execute(
                update(notes)
                .where(notes.c.id == note.id)
                .values(**_checked(said), updated_at=_later(note.updated_at))
            )
            return _one(connection, note_id)

    def delete(self, note_id: str) -> NoteRecord:
        """Delete a note; `restore` brings it back."""
        return self._mark(note_id, _now())

    def restore(self, note_id: str) -> NoteRecord:
        """Bring a deleted note back as it was."""
        return self._mark(note_id, None)

    def _mark(self, note_id: str, deleted_at: str | None) -> NoteRecord:
        with transaction(self._engine) as connection:
            note = _one(connection, note_id, lock=True)
            if (note.deleted_at is None) == (deleted_at is None):
                return note
            connection.execute(
                update(notes).where(notes.c.id == note.id).values(deleted_at=deleted_at)
            )
            return _one(connection, note_id)

    def page(
        self, wanted: NoteFilter, *, limit: int, after: tuple[str, str] | None = None
    ) -> list[NoteRecord]:
        """Notes, the newest first, from the one after the key (`created_at`, `id`)."""
        statement = note_rows().where(matching(wanted))
        if after is not None:
            statement = statement.where(tuple_(notes.c.created_at, notes.c.id) < tuple_(*after))
        statement = statement.order_by(notes.c.created_at.desc(), notes.c.id.desc()).limit(limit)
        with transaction(self._engine) as connection:
            return [note_of(row) for row in connection.execute(statement).mappings()]

    def each(self, wanted: NoteFilter) -> Iterator[NoteRecord]:
        """All such notes, the newest first, a page at a time."""
        after: tuple[str, str] | None = None
        while found := self.page(wanted, limit=_PAGE, after=after):
            yield from found
            after = (found[-1].created_at, found[-1].id)

    def tags(self, *, q: str = "", limit: int = 100) -> list[tuple[str, int]]:
        """Tags with the number of their notes, the most frequent first."""
        count = func.count().label("count")
        statement = (
            select(notes.c.tag, count)
            .where(notes.c.deleted_at.is_(None), notes.c.tag != "")
            .group_by(notes.c.tag)
            .order_by(count.desc(), notes.c.tag)
            .limit(limit)
        )
        if q:
            statement = statement.where(notes.c.tag.icontains(storable(q), autoescape=True))
        with transaction(self._engine) as connection:
            return [(row.tag, row[1]) for row in connection.execute(statement)]

    def marked_cells(
        self, wanted: NoteFilter, *, limit: int, after: CellKey | None = None
    ) -> list[MarkedCell]:
        """The cells of a job with such notes, by item and trial, with what is noted there."""
        place = (notes.c.item, notes.c.trial)
        cells = select(*place).where(matching(wanted)).group_by(*place).order_by(*place)
        if after is not None:
            cells = cells.where(tuple_(*place) > tuple_(*after))
        with transaction(self._engine) as connection:
            found = [
                CellKey((row.item, row.trial)) for row in connection.execute(cells.limit(limit))
            ]
            if not found:
                return []
            first, last = found[0], found[-1]
            every = NoteFilter(job_id=wanted.job_id)
            counted = (
                select(*place, notes.c.verdict, notes.c.tag, func.count().label("count"))
                .where(
                    matching(every),
                    tuple_(*place) >= tuple_(*first),
                    tuple_(*place) <= tuple_(*last),
                )
                .group_by(*place, notes.c.verdict, notes.c.tag)
            )
            return counted_cells(found, connection.execute(counted))

    def marks(self, job_id: str) -> list[MarkRecord]:
        """All notes about the cells of a job without their texts, the oldest first."""
        columns = [notes.c[name] for name in MarkRecord.model_fields]
        statement = (
            select(*columns)
            .where(notes.c.job_id == job_id, notes.c.deleted_at.is_(None))
            .order_by(notes.c.updated_at, notes.c.id)
        )
        with transaction(self._engine) as connection:
            return [MarkRecord(**row) for row in connection.execute(statement).mappings()]

    def put(self, records: Iterable[NoteRecord]) -> int:
        """Keep notes that were made elsewhere, with their ids and times; return how many are new.

        A note that is here already is replaced by one that was changed later. Nothing is kept if
        one of them is about something that is not here.
        """
        kept = 0
        with transaction(self._engine) as connection:
            for number, record in enumerate(records, start=1):
                try:
                    check_subject(connection, record.subject)
                    row = _imported(record)
                except InputError as error:
                    raise InputError(f"Note {number}: {error}") from error
                statement = insert_into(self._engine, notes).values(row)
                newer = statement.on_conflict_do_update(
                    index_elements=["id"],
                    set_={name: statement.excluded[name] for name in row if name != "id"},
                    where=notes.c.updated_at < statement.excluded.updated_at,
                )
                kept += len(connection.execute(newer.returning(notes.c.id)).all())
        return kept


def _one(connection: Connection, note_id: str, *, lock: bool = False) -> NoteRecord:
    wanted = notes.c.id == storable(note_id)
    if lock:
        # A write without a change locks the row on both databases until the transaction ends.
        connection.execute(update(notes).where(wanted).values(id=notes.c.id))
    row = connection.execute(note_rows().where(wanted)).mappings().first()
    if row is None:
        raise UnknownNote(f"There is no note '{note_id}'.")
    return note_of(row)


def _imported(record: NoteRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "author": _author(record.author),
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "deleted_at": record.deleted_at,
        **record.subject.model_dump(),
        **_checked({name: getattr(record, name) for name in _CHANGEABLE}),
    }


def _checked(said: dict[str, Any]) -> dict[str, Any]:
    tag, text = storable(said["tag"]).strip(), storable(said["text"])
    if len(tag) > LONGEST_TAG:
        raise InputError(f"A tag has at most {LONGEST_TAG} characters.")
    if len(text) > LONGEST_TEXT:
        raise InputError(f"A note has at most {LONGEST_TEXT} characters.")
    if not tag and not text.strip() and said["verdict"] is None:
        raise InputError("A note says something: give it a tag, a text or a verdict.")
    return {"tag": tag, "text": text, "verdict": said["verdict"]}


def _author(name: str) -> str:
    author = storable(name).strip()
    if not 0 < len(author) <= LONGEST_AUTHOR:
        raise InputError(f"The author's name has 1 to {LONGEST_AUTHOR} characters.")
    return author


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _later(moment: str) -> str:
    # Two changes within a tick of the clock, or after it was set back, still differ.
    after = datetime.fromisoformat(moment) + timedelta(microseconds=1)
    return max(_now(), after.isoformat(timespec="microseconds"))
