"""The records of boards, threads and turns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from pydantic import BaseModel, Field

from greenroom.errors import UnknownName
from greenroom.store.history import History
from greenroom.util.json_values import as_dict, as_list, cleaned
from greenroom.util.raw_json import plain, raw_text

TreatAs = Literal["chat", "completion"]
TurnStatus = Literal["draft", "running", "done", "broken", "stopped"]
Message = dict[str, Any]

LARGEST_LISTED = 64 * 1024
"""Characters of a turn's content; larger ones are cut where turns are listed."""
_LONGEST_CUT = 2000
_MOST_CUT = 20
_DEEPEST_CUT = 6


def new_id() -> str:
    """An id that no other board, thread or turn has."""
    return uuid4().hex


def now_text() -> str:
    """The time, as it is kept: texts that sort by time."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Missing(UnknownName):
    """A board, thread or turn that does not exist."""

    def __init__(self, kind: str, key: str) -> None:
        super().__init__(kind, key, ())
        self.args = (f"There is no {kind} '{key}' in this store.",)


class ColumnRecord(BaseModel):
    """A variant: a workflow with parameters."""

    column: int
    address: str
    name: str
    parameters: dict[str, Any] | None = None


class BoardRecord(BaseModel):
    """A board."""

    id: str = Field(default_factory=new_id)
    title: str = ""
    treat_as: TreatAs | None = None
    columns: list[ColumnRecord] = Field(default_factory=list[ColumnRecord])
    rows: int = 0
    """How many rows have a thread."""
    test_set: str | None = None
    created_at: str = Field(default_factory=now_text)
    updated_at: str = Field(default_factory=now_text)
    deleted_at: str | None = None


class ThreadRecord(BaseModel):
    """A thread."""

    id: str = Field(default_factory=new_id)
    board_id: str
    row: int = 0
    column: int = 0
    version: int = 1
    title: str = ""
    address: str
    name: str = ""
    """The workflow's name, as it was when the address was chosen."""
    treat_as: TreatAs | None = None
    parameters: dict[str, Any] | None = None
    inputs: dict[str, Any] = Field(default_factory=dict[str, Any])
    history: History = Field(default_factory=History)
    session_id: str | None = None
    session_end: str | None = None
    """The last turn of the session: a turn after another one begins a new session."""
    parent_thread: str | None = None
    parent_turn: str | None = None
    brief: dict[str, Any] | None = None
    """What a simulated user wants."""
    test_set_row: int | None = None
    created_at: str = Field(default_factory=now_text)
    updated_at: str = Field(default_factory=now_text)
    deleted_at: str | None = None


class TurnContent(BaseModel):
    """What was said and answered, which may be large."""

    said: list[Message] = Field(default_factory=list[Message])
    inputs: dict[str, Any] | None = None
    outputs: Any = None
    replies: list[Message] = Field(default_factory=list[Message])
    tool_calls: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    text: str = ""


class TurnRecord(BaseModel):
    """A turn."""

    id: str = Field(default_factory=new_id)
    thread_id: str
    status: TurnStatus = "draft"
    owner: str | None = None
    """The process that runs it."""
    created_at: str = Field(default_factory=now_text)
    seconds: float | None = None
    sent: bool = False
    edited: bool = False
    error: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    trace_id: str | None = None
    session_id: str | None = None
    address: str | None = None
    parameters: dict[str, Any] | None = None
    treated_as: TreatAs | None = None
    size: int = 0
    truncated: bool = False
    content: TurnContent = Field(default_factory=TurnContent)


def json_text(value: Any) -> str:
    """JSON of what others wrote: without NaN, and without halves of surrogate pairs."""
    try:
        text = raw_text(value)
    except (ValueError, TypeError):
        return raw_text(cleaned(plain(value)))
    return raw_text(cleaned(value)) if "\\ud" in text else text


def cut_content(content: TurnContent) -> dict[str, Any]:
    """The content with long texts and lists cut, small enough for a list."""
    whole = content.model_dump()
    for longest, most in ((_LONGEST_CUT, _MOST_CUT), (200, 5)):
        cut = {
            "said": _cut(whole["said"], longest, most, _DEEPEST_CUT),
            "inputs": _cut(whole["inputs"], longest, most, _DEEPEST_CUT),
            "replies": _cut(whole["replies"], longest, most, _DEEPEST_CUT),
            "tool_calls": _cut(whole["tool_calls"], longest, most, _DEEPEST_CUT),
            "text": whole["text"][:longest],
        }
        if len(json_text(cut)) <= LARGEST_LISTED:
            return cut
    return {"text": whole["text"][:_LONGEST_CUT]}


def _cut(value: Any, longest: int, most: int, levels: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else value[:longest] + "…"
    if isinstance(value, dict):
        items = list(as_dict(value).items())[:most] if levels else []
        return {key[:longest]: _cut(item, longest, most, levels - 1) for key, item in items}
    if isinstance(value, list):
        items = as_list(value)[:most] if levels else []
        return [_cut(item, longest, most, levels - 1) for item in items]
    return value
