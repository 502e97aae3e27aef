"""What is kept of notes: what people say of an episode, a row or a turn."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from greenroom.store.record import Record

Verdict = Literal["agent", "user", "task", "environment"]
"""Who is at fault, as a person sees it.

agent         the agent did or said something wrong, or left something undone
user          the simulated user left its instruction, or made things up
task          the task asks for what cannot be done, or its ground truth does not follow from it
environment   the tools or the data
"""

Noted = Verdict | Literal["any"]
"""Which results are wanted: those with a note that gives this verdict, or with any note."""

LONGEST_TAG = 200
LONGEST_AUTHOR = 200
LONGEST_TEXT = 100_000


class NoteSubject(Record):
    """What a note is about: a cell of a job, or a thread; each as a whole or at one place."""

    job_id: str | None = None
    item: int | None = None
    trial: int | None = None
    step: int | None = None
    """A step of an episode, from 0; None for the episode as a whole."""
    thread_id: str | None = None
    turn_id: str | None = None


class NoteRecord(Record):
    """A note as it is stored."""

    id: str
    subject: NoteSubject
    tag: str = ""
    text: str = ""
    verdict: Verdict | None = None
    author: str = "me"
    created_at: str
    updated_at: str
    deleted_at: str | None = None
    job_kind: str | None = None
    """"run" or "evaluation", where it is about a job."""
    job_name: str | None = None
    board_id: str | None = None
    """Where the thread is, if it is about a thread."""


class NoteFilter(Record):
    """Which notes are wanted; what is None is not asked for."""

    job_id: str | None = None
    item: int | None = None
    trial: int | None = None
    thread_id: str | None = None
    turn_id: str | None = None
    tag: str | None = None
    verdict: Verdict | Literal["any", "none"] | None = None
    """A verdict; or whether there is one at all."""
    author: str | None = None
    q: str | None = None
    """A part of the text, the tag or the author's name."""
    deleted: bool = False
    """Those that were deleted, instead of the others."""


class MarkedCell(Record):
    """What people noted about a cell of a job, counted."""

    item: int
    trial: int
    notes: int
    verdicts: dict[Verdict, int] = Field(default_factory=dict[Verdict, int])
    tags: dict[str, int] = Field(default_factory=dict[str, int])


class MarkRecord(Record):
    """A note without its text: enough to count by."""

    id: str
    item: int
    trial: int
    author: str
    tag: str
    verdict: Verdict | None
