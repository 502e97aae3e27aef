"""Notes as rows of the database: what they may be about, how they are chosen and read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, and_, exists, or_, select

from greenroom.errors import InputError, UnknownName
from greenroom.store.note_records import MarkedCell, Noted, NoteFilter, NoteRecord, NoteSubject
from greenroom.store.records import CellKey
from greenroom.store.schema import jobs, notes, results, threads, turns
from greenroom.util.raw_json import raw_value, storable

_PLACES = tuple(NoteSubject.model_fields)
_LARGEST_NUMBER = 2**31 - 1


class UnknownNote(UnknownName):
    """There is no such note, or nothing that a note could be about."""

    def __init__(self, text: str) -> None:
        super().__init__("note", "", ())
        self.args = (text,)


def check_subject(connection: Connection, subject: NoteSubject) -> None:
    """Raise UnknownNote if there is nothing that a note could be about."""
    if subject.thread_id is not None:
        _check_thread(connection, subject.thread_id, subject.turn_id)
        return
    if subject.job_id is None or subject.item is None or subject.trial is None:
        raise InputError("A note is about an episode, a row or a thread: name one.")
    cell = None
    if max(abs(subject.item), abs(subject.trial)) <= _LARGEST_NUMBER:
        cell = connection.execute(
            select(results.c.summary).where(
                results.c.job_id == subject.job_id,
                results.c.item == subject.item,
                results.c.trial == subject.trial,
            )
        ).first()
    if cell is None:
        raise UnknownNote(
            f"There is no result of {subject.item}, trial {subject.trial}, to write a note about."
        )
    if subject.step is None:
        return
    steps = raw_value(cell.summary).get("steps", 0)
    if not 0 <= subject.step < steps:
        raise UnknownNote(f"There is no step {subject.step}: the episode has {steps} steps.")


def _check_thread(connection: Connection, thread_id: str, turn_id: str | None) -> None:
    wanted = select(threads.c.id).where(threads.c.id == storable(thread_id))
    if connection.execute(wanted).first() is None:
        raise UnknownNote(f"There is no thread '{thread_id}' to write a note about.")
    # A branch shares the turns of the thread that it was made from.
    if turn_id is not None:
        wanted = select(turns.c.id).where(turns.c.id == storable(turn_id))
        if connection.execute(wanted).first() is None:
            raise UnknownNote(f"There is no turn '{turn_id}' to write a note about.")


def matching(wanted: NoteFilter) -> ColumnElement[bool]:
    """Whether a note is wanted."""
    deleted = notes.c.deleted_at
    terms: list[ColumnElement[bool]] = [
        deleted.is_not(None) if wanted.deleted else deleted.is_(None)
    ]
    for name in ("job_id", "item", "trial", "thread_id", "turn_id", "tag", "author"):
        value = getattr(wanted, name)
        if value is not None:
            terms.append(notes.c[name] == (storable(value) if isinstance(value, str) else value))
    if wanted.verdict == "any":
        terms.append(notes.c.verdict.is_not(None))
    elif wanted.verdict == "none":
        terms.append(notes.c.verdict.is_(None))
    elif wanted.verdict is not None:
        terms.append(notes.c.verdict == wanted.verdict)
    if wanted.q:
        q = storable(wanted.q)
        columns = (notes.c.text, notes.c.tag, notes.c.author)
        terms.append(or_(*(column.icontains(q, autoescape=True) for column in columns)))
    return and_(*terms)


def has_notes(choice: Noted) -> ColumnElement[bool]:
    """Whether a row of the table `results` has notes, or a note with this verdict."""
    about = [notes.c[name] == results.c[name] for name in ("job_id", "item", "trial")]
    wanted = exists().where(*about, notes.c.deleted_at.is_(None)).correlate(results)
    return wanted if choice == "any" else wanted.where(notes.c.verdict == choice)


def note_rows() -> Select[Any]:
    """Notes with the names of what they are about."""
    return select(
        notes,
        jobs.c.kind.label("job_kind"),
        jobs.c.name.label("job_name"),
        threads.c.board_id.label("board_id"),
    ).select_from(
        notes.outerjoin(jobs, jobs.c.id == notes.c.job_id).outerjoin(
            threads, threads.c.id == notes.c.thread_id
        )
    )


def note_of(row: RowMapping) -> NoteRecord:
    """The note in a row of `note_rows`."""
    fields: dict[str, Any] = {**row}
    subject = NoteSubject(**{name: fields.pop(name) for name in _PLACES})
    return NoteRecord(subject=subject, **fields)


def counted_cells(cells: Sequence[CellKey], rows: Iterable[Any]) -> list[MarkedCell]:
    """The cells with what is noted there, from counts by cell, verdict and tag."""
    found = {key: MarkedCell(item=key[0], trial=key[1], notes=0) for key in cells}
    for row in rows:
        key = (row.item, row.trial)
        cell = found.get(key)
        if cell is None:
            continue
        verdicts, tags = dict(cell.verdicts), dict(cell.tags)
        if row.verdict is not None:
            verdicts[row.verdict] = verdicts.get(row.verdict, 0) + row.count
        if row.tag:
            tags[row.tag] = tags.get(row.tag, 0) + row.count
        found[key] = cell.model_copy(
            update={"notes": cell.notes + row.count, "verdicts": verdicts, "tags": tags}
        )
    return list(found.values())
