"""Records of the store as what pages read."""

from __future__ import annotations

from collections.abc import Sequence

from greenroom.errors import redacted
from greenroom.playground.thread_models import (
    Board,
    BoardColumn,
    BoardSummary,
    Brief,
    ParentTurn,
    Thread,
    ThreadHead,
    ToolUse,
    Turn,
)
from greenroom.store import Store
from greenroom.store.thread_records import BoardRecord, Missing, ThreadRecord, TurnRecord


def turn_view(turn: TurnRecord) -> Turn:
    """A turn."""
    content = turn.content
    return Turn(
        id=turn.id,
        thread_id=turn.thread_id,
        status=turn.status,
        said=content.said,
        inputs=content.inputs,
        sent=turn.sent,
        outputs=content.outputs,
        replies=content.replies,
        tool_calls=[
            ToolUse(
                id=_text(call.get("id")),
                name=_text(call.get("name")),
                input=call.get("input"),
                output=call.get("output"),
                has_output=bool(call.get("has_output")),
                is_error=bool(call.get("is_error")),
            )
            for call in content.tool_calls
        ],
        text=content.text,
        edited=turn.edited,
        error=None if turn.error is None else redacted(turn.error),
        seconds=turn.seconds,
        prompt_tokens=turn.prompt_tokens,
        completion_tokens=turn.completion_tokens,
        cost=turn.cost,
        started_at=turn.created_at,
        trace_id=turn.trace_id,
        session_id=turn.session_id,
        address=turn.address,
        parameters=turn.parameters,
        treated_as=turn.treated_as,
        size=turn.size,
        truncated=turn.truncated,
    )


def heads(store: Store, found: Sequence[ThreadRecord]) -> list[ThreadHead]:
    """Threads with the last turn of each."""
    last = [one.history.turns[-1] for one in found if one.history.turns]
    turns = store.turns.listed(last)
    running = store.turns.running_in([one.id for one in found])
    return [_head(one, turns, running.get(one.id)) for one in found]


def thread_view(
    store: Store, thread: ThreadRecord, *, before: str | None = None, limit: int = 50
) -> Thread:
    """A thread with its last turns, or with those before a turn."""
    ids = thread.history.turns
    end = len(ids)
    if before is not None:
        if before not in ids:
            raise Missing("turn", before)
        end = ids.index(before)
    start = max(0, end - limit)
    wanted = ids[start:end]
    turns = store.turns.listed([*wanted, *ids[-1:]])
    head = _head(thread, turns, store.turns.running_in([thread.id]).get(thread.id))
    return Thread(
        **dict(head),
        turns=[turn_view(turns[key]) for key in wanted if key in turns],
        earlier=ids[start] if start > 0 else None,
    )


def summary(board: BoardRecord) -> BoardSummary:
    """A board in a list."""
    return BoardSummary(
        id=board.id,
        title=board.title,
        updated_at=board.updated_at,
        rows=board.rows,
        columns=len(board.columns),
        workflows=list(dict.fromkeys(one.name for one in board.columns)),
        deleted_at=board.deleted_at,
    )


def board_view(store: Store, board: BoardRecord, *, after: int = -1, limit: int = 50) -> Board:
    """A board with the threads of some rows."""
    found, following = store.threads.rows(board.id, after=after, limit=limit)
    return Board(
        id=board.id,
        title=board.title,
        treat_as=board.treat_as,
        created_at=board.created_at,
        updated_at=board.updated_at,
        deleted_at=board.deleted_at,
        columns=[BoardColumn(**one.model_dump()) for one in board.columns],
        rows=board.rows,
        test_set=board.test_set,
        threads=heads(store, found),
        next=following,
    )


def _head(thread: ThreadRecord, turns: dict[str, TurnRecord], running: str | None) -> ThreadHead:
    ids = thread.history.turns
    last = turns.get(ids[-1]) if ids else None
    if last is not None and last.status == "running":
        running = last.id  # a copy shares it
    parent = thread.parent_thread
    return ThreadHead(
        id=thread.id,
        board_id=thread.board_id,
        row=thread.row,
        column=thread.column,
        title=thread.title,
        address=thread.address,
        treat_as=thread.treat_as,
        parameters=thread.parameters,
        inputs=thread.inputs,
        version=thread.version,
        can_undo=thread.history.can_undo,
        can_redo=thread.history.can_redo,
        turn_count=len(ids),
        running=running if running in ids else None,
        deleted_at=thread.deleted_at,
        updated_at=thread.updated_at,
        parent=ParentTurn(thread_id=parent, turn_id=thread.parent_turn) if parent else None,
        brief=None if thread.brief is None else Brief.model_validate(thread.brief),
        row_number=thread.test_set_row,
        last=None if last is None else turn_view(last),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
