"""Notes as the API takes and gives them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from greenroom.errors import InputError
from greenroom.store import NoteRecord, NoteSubject, Store, Verdict
from greenroom.store.note_records import LONGEST_AUTHOR, LONGEST_TAG, LONGEST_TEXT

_MOST = 2**31 - 1


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class EpisodeSubject(_Strict):
    """An episode of a run, or one of its steps."""

    run: str = Field(description="The name or id of the run.")
    task: int = Field(ge=0, le=_MOST)
    trial: int = Field(0, ge=0, le=_MOST)
    step: int | None = Field(
        None, ge=0, le=_MOST, description="A step, from 0; null for the episode as a whole."
    )


class RowSubject(_Strict):
    """A row of an evaluation."""

    evaluation: str = Field(description="The name or id of the evaluation.")
    item: int = Field(ge=0, le=_MOST, description="The row, from 0.")
    trial: int = Field(0, ge=0, le=_MOST)


class ThreadSubject(_Strict):
    """A thread, or one of its turns."""

    thread: str
    turn: str | None = Field(default=None, description="A turn; null for the whole thread.")
    board: str | None = Field(default=None, description="Where the thread is; told in answers.")


Subject = EpisodeSubject | RowSubject | ThreadSubject


class NoteRequest(_Strict):
    """A new note: a tag, a text, a verdict, or any of them together."""

    subject: Subject
    tag: str = Field("", max_length=LONGEST_TAG)
    text: str = Field("", max_length=LONGEST_TEXT)
    verdict: Verdict | None = Field(None, description="Who is at fault.")
    author: str = Field("me", max_length=LONGEST_AUTHOR)


class NoteChange(_Strict):
    """What changes in a note; what is left out stays."""

    updated_at: str = Field(description="The note's `updated_at` as it was read.")
    tag: str = Field("", max_length=LONGEST_TAG)
    text: str = Field("", max_length=LONGEST_TEXT)
    verdict: Verdict | None = None

    def changes(self) -> dict[str, Any]:
        """The fields that were given."""
        return self.model_dump(exclude_unset=True, exclude={"updated_at"})


class Note(BaseModel):
    """A note."""

    id: str
    subject: Subject
    tag: str
    text: str
    verdict: Verdict | None
    author: str
    created_at: str
    updated_at: str
    deleted_at: str | None = None


class NoteTag(BaseModel):
    """A tag that notes have."""

    tag: str
    notes: int


class MarkedSubject(BaseModel):
    """What is noted about one episode or row."""

    item: int = Field(description="The task of an episode, or the number of a row.")
    trial: int
    notes: int
    verdicts: dict[Verdict, int]
    tags: dict[str, int]


def note_of(record: NoteRecord) -> Note:
    """A stored note, as the API gives it."""
    fields = record.model_dump(include=set(Note.model_fields) - {"subject"})
    return Note(subject=subject_of(record), **fields)


def subject_of(record: NoteRecord) -> Subject:
    """What a stored note is about, by name."""
    about, name = record.subject, record.job_name
    if about.thread_id is not None:
        return ThreadSubject(thread=about.thread_id, turn=about.turn_id, board=record.board_id)
    assert name is not None, "a job that is deleted takes its notes along"
    place = {"trial": about.trial or 0}
    if record.job_kind == "evaluation":
        return RowSubject(evaluation=name, item=about.item or 0, **place)
    return EpisodeSubject(run=name, task=about.item or 0, step=about.step, **place)


def stored_subject(store: Store, subject: Subject) -> NoteSubject:
    """What a note is about, as it is stored."""
    if isinstance(subject, ThreadSubject):
        return NoteSubject(thread_id=subject.thread, turn_id=subject.turn)
    if isinstance(subject, RowSubject):
        job = store.evaluations.find(subject.evaluation).id
        return NoteSubject(job_id=job, item=subject.item, trial=subject.trial)
    job = store.runs.find(subject.run).id
    return NoteSubject(job_id=job, item=subject.task, trial=subject.trial, step=subject.step)


def job_id_of(store: Store, run: str | None, evaluation: str | None) -> str | None:
    """The id of the run or evaluation that is named; None if none is."""
    if run is not None and evaluation is not None:
        raise InputError("Name a run or an evaluation, not both.")
    if run is not None:
        return store.runs.find(run).id
    return None if evaluation is None else store.evaluations.find(evaluation).id
