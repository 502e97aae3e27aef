"""Notes by people: marks on episodes, rows and turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from greenroom.errors import InputError
from greenroom.playground.note_files import NoteFormat, NoteRow, import_notes, write_notes
from greenroom.playground.note_models import (
    MarkedSubject,
    Note,
    NoteChange,
    NoteRequest,
    NoteTag,
    job_id_of,
    note_of,
    stored_subject,
)
from greenroom.playground.paging import After, Limit, Page, key_of, page_of
from greenroom.playground.state import InPlayground
from greenroom.store import NoteFilter, Verdict

router = APIRouter()

Number = Annotated[int | None, Query(ge=0, le=2**31 - 1)]
VerdictFilter = Verdict | Literal["any", "none"]

_MOST_IMPORTED = 10_000
_MEDIA_TYPES: dict[NoteFormat, str] = {
    "csv": "text/csv",
    "json": "application/json",
    "jsonl": "application/jsonl",
}


def wanted_notes(
    playground: InPlayground,
    run: Annotated[str | None, Query(description="The name or id of a run.")] = None,
    evaluation: Annotated[str | None, Query(description="Name or id of an evaluation.")] = None,
    thread: str | None = None,
    item: Annotated[
        Number, Query(description="A task of the run, a row of the evaluation.")
    ] = None,
    trial: Number = None,
    turn: str | None = None,
    tag: str | None = None,
    verdict: Annotated[
        VerdictFilter | None,
        Query(description="A verdict; `any`, or `none` at all."),
    ] = None,
    author: str | None = None,
    q: Annotated[str | None, Query(description="A part of text, tag or author.")] = None,
    deleted: Annotated[bool, Query(description="Those that were deleted instead.")] = False,
) -> NoteFilter:
    """Which notes a request is about."""
    return NoteFilter(
        job_id=job_id_of(playground.store, run, evaluation),
        item=item,
        trial=trial,
        thread_id=thread,
        turn_id=turn,
        tag=tag,
        verdict=verdict,
        author=author,
        q=q,
        deleted=deleted,
    )


Wanted = Annotated[NoteFilter, Depends(wanted_notes)]


class ImportRequest(BaseModel):
    """Notes of another store, as `GET /notes/export` gives them."""

    notes: list[NoteRow] = Field(max_length=_MOST_IMPORTED)


class Imported(BaseModel):
    """What an import did."""

    read: int
    kept: int
    """Those that are new here, or were changed later than those here."""


@router.get("/notes")
def list_notes(
    playground: InPlayground, wanted: Wanted, after: After = None, limit: Limit = 100
) -> Page[Note]:
    """Notes, the newest first."""
    key = key_of(after, 2)
    found = playground.store.notes.page(
        wanted, limit=limit + 1, after=None if key is None else (str(key[0]), str(key[1]))
    )
    return page_of([note_of(one) for one in found], limit, lambda note: (note.created_at, note.id))


@router.post("/notes", status_code=201)
def add_note(playground: InPlayground, note: NoteRequest) -> Note:
    """Write a note about an episode, a row or a thread."""
    store = playground.store
    said = note.model_dump(exclude={"subject"})
    return note_of(store.notes.add(stored_subject(store, note.subject), **said))


@router.get("/notes/tags")
def list_note_tags(playground: InPlayground, q: str = "", limit: Limit = 50) -> list[NoteTag]:
    """Tags in use, the most frequent first."""
    return [
        NoteTag(tag=tag, notes=number)
        for tag, number in playground.store.notes.tags(q=q, limit=limit)
    ]


@router.get("/notes/subjects")
def list_marked(
    playground: InPlayground, wanted: Wanted, after: After = None, limit: Limit = 100
) -> Page[MarkedSubject]:
    """The episodes or rows with such notes, each with counts of all notes about it."""
    if wanted.job_id is None:
        raise InputError("Name a run or an evaluation, as in ?run=NAME.")
    key = key_of(after, 2)
    found = playground.store.notes.marked_cells(
        wanted, limit=limit + 1, after=None if key is None else (_number(key[0]), _number(key[1]))
    )
    marked = [MarkedSubject(**one.model_dump()) for one in found]
    return page_of(marked, limit, lambda one: (one.item, one.trial))


@router.get("/notes/export", response_class=StreamingResponse)
def export_notes(
    playground: InPlayground,
    wanted: Wanted,
    format: NoteFormat = "csv",  # noqa: A002
) -> StreamingResponse:
    """All such notes as a file."""

    def content() -> Iterator[bytes]:
        for piece in write_notes(playground.store, wanted, format):
            yield piece.encode()

    name = f'attachment; filename="notes.{format}"'
    return StreamingResponse(
        content(), media_type=_MEDIA_TYPES[format], headers={"content-disposition": name}
    )


@router.post("/notes/import")
def import_exported_notes(playground: InPlayground, given: ImportRequest) -> Imported:
    """Add notes that were exported from another store; those that are here stay, or get newer."""
    return Imported(read=len(given.notes), kept=import_notes(playground.store, given.notes))


@router.get("/notes/{note_id}")
def get_note(playground: InPlayground, note_id: str) -> Note:
    """A note, deleted or not."""
    return note_of(playground.store.notes.find(note_id))


@router.patch("/notes/{note_id}")
def change_note(playground: InPlayground, note_id: str, change: NoteChange) -> Note:
    """Change a note; 409 if somebody else has changed or deleted it in the meantime."""
    store = playground.store
    return note_of(store.notes.change(note_id, change.updated_at, **change.changes()))


@router.delete("/notes/{note_id}")
def delete_note(playground: InPlayground, note_id: str) -> Note:
    """Delete a note; it can be restored."""
    return note_of(playground.store.notes.delete(note_id))


@router.post("/notes/{note_id}/restore")
def restore_note(playground: InPlayground, note_id: str) -> Note:
    """Bring back a note that was deleted."""
    return note_of(playground.store.notes.restore(note_id))


def _number(value: object) -> int:
    if isinstance(value, int) and abs(value) < 2**31:
        return value
    raise InputError("`after` is no cursor of this list: use the `next` of a page before.")
