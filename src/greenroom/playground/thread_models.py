"""What the pages read and send of workflows, boards, threads and turns."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from greenroom.util.json_values import check_depth, cleaned

TreatAs = Literal["chat", "completion"]
TurnStatus = Literal["draft", "running", "done", "broken", "stopped"]
Message = dict[str, Any]

_MOST_MESSAGES = 10_000
_LONGEST_TITLE = 500
_LONGEST_ADDRESS = 2000


class _Request(BaseModel):
    """A body that a page sends: a field that nobody knows is a mistake."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _clean(cls, given: Any) -> Any:
        """JSON that every database, every workflow and every page can take."""
        check_depth(given)
        return cleaned(given)


# Workflows


class WorkflowSchemas(BaseModel):
    """JSON schemas; null where the workflow does not tell."""

    inputs: dict[str, Any] | None = None
    parameters: dict[str, Any] | None = None
    outputs: dict[str, Any] | None = None


class Workflow(BaseModel):
    """A workflow that can be talked to, and what is known of it."""

    address: str
    name: str
    kind: Literal["declared", "url", "agent"]
    added: bool = False
    """A person added it here, and can remove it."""
    interface: str | None = None
    """How it is called: local, invoke, run, test, openai."""
    is_chat: bool = False
    decided_by: str | None = None
    """What says whether it chats."""
    flags: dict[str, Any] = Field(default_factory=dict[str, Any])
    schemas: WorkflowSchemas = Field(default_factory=WorkflowSchemas)
    parameters: dict[str, Any] = Field(default_factory=dict[str, Any])
    """The default configuration."""
    description: str = ""
    takes_tools: bool | None = None
    error: str | None = None
    """Why it cannot be reached now; then the rest may be empty."""


class WorkflowList(BaseModel):
    """All workflows."""

    items: list[Workflow]


class WorkflowAddress(_Request):
    """The address of a workflow."""

    address: str = Field(min_length=1, max_length=_LONGEST_ADDRESS)


# Turns


class ToolUse(BaseModel):
    """A call that the workflow made itself and told on the way."""

    id: str | None = None
    name: str | None = None
    input: Any = None
    output: Any = None
    has_output: bool = False
    is_error: bool = False


class Turn(BaseModel):
    """What a person added and what the workflow answered."""

    id: str
    thread_id: str
    """The thread in which it was said; copies of that thread share it."""
    status: TurnStatus
    said: list[Message] = Field(default_factory=list[Message])
    inputs: dict[str, Any] | None = None
    sent: bool = False
    """Whether a workflow was called for it."""
    outputs: Any = None
    """What the workflow returned, unchanged."""
    replies: list[Message] = Field(default_factory=list[Message])
    """The answer as messages."""
    tool_calls: list[ToolUse] = Field(default_factory=list[ToolUse])
    text: str = ""
    """The text so far, of a turn that runs, broke or was stopped."""
    edited: bool = False
    error: str | None = None
    seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    started_at: str
    trace_id: str | None = None
    session_id: str | None = None
    address: str | None = None
    """The workflow that was called."""
    parameters: dict[str, Any] | None = None
    """The parameters that were sent."""
    treated_as: TreatAs | None = None
    """How the workflow was called."""
    size: int = 0
    """Characters of its content as JSON."""
    truncated: bool = False
    """Its content is cut: GET /turns/{id} has all of it."""


class TurnRequest(_Request):
    """Something to say, or inputs to run."""

    version: int
    messages: list[Message] = Field(default_factory=list[Message], max_length=_MOST_MESSAGES)
    inputs: dict[str, Any] | None = None
    """For this turn; without it those of the thread."""
    after: str | None = None
    """The turn that it follows, "" for the beginning; without it, the last one."""
    run: bool = True
    """False keeps it as a draft."""


class EditRequest(_Request):
    """Another message in place of one; null deletes it."""

    version: int
    turn_id: str
    side: Literal["said", "answer"]
    index: int = Field(ge=0)
    """At the number of messages there, the message is added."""
    message: Message | None


# Threads


class ParentTurn(BaseModel):
    """Where a copy comes from."""

    thread_id: str
    turn_id: str | None


class Brief(BaseModel):
    """What a simulated user wants, from a row of a test set."""

    goal: str
    persona: str | None = None
    max_turns: int | None = None


class ThreadSpec(_Request):
    """A new thread."""

    address: str = Field(min_length=1, max_length=_LONGEST_ADDRESS)
    treat_as: TreatAs | None = None
    parameters: dict[str, Any] | None = None
    inputs: dict[str, Any] = Field(default_factory=dict[str, Any])
    messages: list[Message] = Field(default_factory=list[Message], max_length=_MOST_MESSAGES)
    """Said before; what comes last without an answer is a draft."""
    row: int | None = Field(default=None, ge=0, le=1_000_000)
    """Without it, a new row."""
    column: int | None = Field(default=None, ge=0, le=1000)
    title: str = Field(default="", max_length=_LONGEST_TITLE)


class ThreadHead(BaseModel):
    """A thread without its turns."""

    id: str
    board_id: str
    row: int
    column: int
    title: str
    address: str
    treat_as: TreatAs | None
    """What the person wants; null: what the workflow says of itself."""
    parameters: dict[str, Any] | None
    inputs: dict[str, Any]
    version: int
    can_undo: bool
    can_redo: bool
    turn_count: int
    running: str | None
    """The turn that runs."""
    deleted_at: str | None
    updated_at: str
    parent: ParentTurn | None
    brief: Brief | None = None
    row_number: int | None = None
    """The row of the test set that it was loaded from, from 0 on."""
    last: Turn | None


class Thread(ThreadHead):
    """A thread with its last turns."""

    turns: list[Turn]
    earlier: str | None
    """Goes into `before` to get the turns before these; null if there are none."""


class ThreadChange(_Request):
    """What is to be different; fields that are left out stay."""

    version: int
    title: str | None = Field(default=None, max_length=_LONGEST_TITLE)
    address: str | None = Field(default=None, max_length=_LONGEST_ADDRESS)
    treat_as: TreatAs | None = None
    parameters: dict[str, Any] | None = None
    inputs: dict[str, Any] | None = None


class ThreadVersion(_Request):
    """The version that the page shows."""

    version: int


class CopyRequest(_Request):
    """Where a copy goes; by default beside its original, in a new column."""

    through: str | None = None
    """The last turn that the copy has; without it, all."""
    board_id: str | None = None
    row: int | None = Field(default=None, ge=0, le=1_000_000)
    column: int | None = Field(default=None, ge=0, le=1000)


# Boards


class BoardColumn(BaseModel):
    """A variant: a workflow with parameters."""

    column: int
    address: str
    name: str
    parameters: dict[str, Any] | None = None


class BoardSummary(BaseModel):
    """A board in a list."""

    id: str
    title: str
    updated_at: str
    rows: int
    columns: int
    workflows: list[str]
    deleted_at: str | None


class Board(BaseModel):
    """A board with the threads of some of its rows."""

    id: str
    title: str
    treat_as: TreatAs | None
    created_at: str
    updated_at: str
    deleted_at: str | None
    columns: list[BoardColumn]
    rows: int
    """How many rows it has in all."""
    test_set: str | None = None
    """The test set that was loaded last, with its version: name@2."""
    threads: list[ThreadHead]
    next: int | None
    """Goes into `rows_after` to get the next rows; null if these are the last."""


class BoardRequest(_Request):
    """A new board."""

    title: str = Field(default="", max_length=_LONGEST_TITLE)
    treat_as: TreatAs | None = None
    threads: list[ThreadSpec] = Field(default_factory=list[ThreadSpec], max_length=500)


class BoardChange(_Request):
    """What is to be different; fields that are left out stay."""

    title: str | None = Field(default=None, max_length=_LONGEST_TITLE)
    treat_as: TreatAs | None = None


class ColumnRequest(_Request):
    """One more variant: every row gets a thread."""

    address: str = Field(min_length=1, max_length=_LONGEST_ADDRESS)
    parameters: dict[str, Any] | None = None
    copy_of: int | None = None
    """The column whose conversations are copied; without it, the first."""


class ColumnChange(_Request):
    """Another workflow or other parameters for all threads of a column."""

    address: str | None = Field(default=None, max_length=_LONGEST_ADDRESS)
    parameters: dict[str, Any] | None = None


class LoadRequest(_Request):
    """Rows of a test set, each of which becomes a row of the board."""

    test_set: str
    version: int | None = None
    start: int = Field(default=0, ge=0)
    limit: int | None = Field(default=None, ge=1)


class BroadcastRequest(_Request):
    """Messages for all threads of a board."""

    messages: list[Message] = Field(min_length=1, max_length=_MOST_MESSAGES)


class RunRequest(_Request):
    """Threads to run; without them, all."""

    threads: list[str] | None = None


class StartedTurn(BaseModel):
    """A turn that was started."""

    thread_id: str
    turn_id: str


class SkippedThread(BaseModel):
    """A thread in which nothing was started."""

    thread_id: str
    why: str


class Started(BaseModel):
    """What was started, and where nothing was."""

    started: list[StartedTurn]
    skipped: list[SkippedThread] = Field(default_factory=list[SkippedThread])


class ChangeEvent(BaseModel):
    """Something that changed, here or in another process; fields of other kinds are left out."""

    kind: Literal["thread", "turn", "board", "job", "note"]
    id: str
    board_id: str | None = None
    version: int | None = None
    thread_id: str | None = None
    status: str | None = None
    job: Literal["run", "evaluation", "judging"] | None = None
    name: str | None = None
    finished: int | None = None
    planned: int | None = None
