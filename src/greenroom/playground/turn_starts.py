"""Beginning turns: one that a person asks for, a draft, or one in each thread of a board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from greenroom.errors import Conflict, GreenroomError, InputError
from greenroom.messages import text_of
from greenroom.playground.conversation import check_messages
from greenroom.playground.live_turns import TurnJob
from greenroom.playground.thread_models import (
    ChangeEvent,
    SkippedThread,
    Started,
    StartedTurn,
    TreatAs,
    TurnRequest,
)
from greenroom.playground.turn_log import TurnLog
from greenroom.store.thread_records import (
    BoardRecord,
    Message,
    Missing,
    ThreadRecord,
    TurnContent,
    TurnRecord,
)
from greenroom.store.threads import CHANGED
from greenroom.workflows.call.chat_session import new_session

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

AT_ONCE = 8
"""How many turns of a board run at once."""

RUNNING = "A turn is running here: wait for it, or stop it."
NOTHING = "There is nothing to run: write a message first."

_LONGEST_TITLE = 80


@dataclass(frozen=True)
class Said:
    """A turn that is kept: a draft, or one that runs."""

    thread: ThreadRecord
    turn: TurnRecord
    log: TurnLog | None


async def say(playground: Playground, thread_id: str, wanted: TurnRequest) -> Said:
    """Keep a turn and run it, unless it is to be a draft."""
    check_messages(wanted.messages)
    await playground.live.prepare()
    thread, job = await playground.in_store(_said, playground, thread_id, wanted)
    playground.changes.thread(thread.id, thread.board_id, thread.version)
    log = playground.live.start(job) if wanted.run else None
    return Said(thread, job.turn, log)


async def run_all(
    playground: Playground, board_id: str, ids: Sequence[str] | None = None
) -> Started:
    """Run the drafts of threads one after the other, and the inputs of completions."""
    board = await playground.in_store(playground.store.boards.find, board_id)
    kinds = await _kinds(playground, board)

    def begun(thread: ThreadRecord, seen: _Seen) -> TurnRecord | str:
        draft = seen.draft(thread)
        if draft is not None:
            return _of_draft(playground, thread, draft)
        treated = thread.treat_as or board.treat_as or kinds.get(thread.address, "completion")
        if treated == "chat":
            return NOTHING
        said = [] if thread.inputs else _said_last(playground, thread)
        before = thread.history.turns[:-1] if said else []
        return _turn(playground, thread, said, thread.inputs, before=before)

    def listed(thread: ThreadRecord, turn: TurnRecord, seen: _Seen) -> list[str]:
        draft = seen.draft(thread)
        turns = thread.history.turns
        if draft is not None:
            return _replaced(turns, draft.id, turn.id)
        return [*(turns[:-1] if turn.content.said else ()), turn.id]

    return await _each(playground, board, ids, begun, listed)


def _said_last(playground: Playground, thread: ThreadRecord) -> list[Message]:
    """What was said last in a conversation that is seen as a completion: it is asked again."""
    turns = thread.history.turns
    return playground.store.turns.find(turns[-1]).content.said if turns else []


async def broadcast(playground: Playground, board_id: str, messages: list[Message]) -> Started:
    """Say the same in all threads of a board."""
    check_messages(messages)
    board = await playground.in_store(playground.store.boards.find, board_id)

    def begun(thread: ThreadRecord, _: _Seen) -> TurnRecord:
        return _turn(playground, thread, messages, thread.inputs, before=thread.history.turns)

    def listed(thread: ThreadRecord, turn: TurnRecord, _: _Seen) -> list[str]:
        return [*thread.history.turns, turn.id]

    return await _each(playground, board, None, begun, listed)


# One turn


def _said(
    playground: Playground, thread_id: str, wanted: TurnRequest
) -> tuple[ThreadRecord, TurnJob]:
    store = playground.store
    thread = store.threads.find(thread_id)
    if thread.version != wanted.version:
        raise Conflict(CHANGED)
    turns = thread.history.turns
    kept = _kept(turns, wanted.after)
    if store.turns.running_in([thread_id]).get(thread_id) in kept:
        raise Conflict(RUNNING)
    later: list[str] = []
    statuses = store.turns.statuses(kept)
    draft = next((key for key in kept if statuses.get(key) == "draft"), None)
    is_bare = not wanted.messages and wanted.inputs is None and wanted.after is None
    if is_bare and wanted.run and draft is not None:
        place = kept.index(draft)
        kept, later = kept[:place], kept[place + 1 :]
        turn = _of_draft(playground, thread, store.turns.find(draft))
    else:
        inputs = thread.inputs if wanted.inputs is None else wanted.inputs
        turn = _turn(playground, thread, wanted.messages, inputs, before=kept)
    if not wanted.run:
        turn.status, turn.owner, turn.session_id = "draft", None, None
    board = store.boards.find(thread.board_id)
    changed = _changed(thread, turn, [*kept, turn.id, *later])
    kept_thread = store.threads.change(thread_id, wanted.version, lambda _: (changed, [turn]))
    _entitle(playground, board, wanted.messages)
    return kept_thread, TurnJob(turn, tuple(kept), thread.treat_as or board.treat_as)


def _kept(turns: list[str], after: str | None) -> list[str]:
    """The turns that stay before a new one."""
    if after is None:
        return turns
    if after and after not in turns:
        raise Missing("turn", after)
    return turns[: turns.index(after) + 1] if after else []


def _turn(
    playground: Playground,
    thread: ThreadRecord,
    said: list[Message],
    inputs: dict[str, Any],
    *,
    before: list[str],
) -> TurnRecord:
    """A turn that this process runs."""
    goes_on = bool(before) and thread.session_end == before[-1]
    return TurnRecord(
        thread_id=thread.id,
        status="running",
        owner=str(playground.live.owner),
        address=thread.address,
        parameters=thread.parameters,
        session_id=(thread.session_id if goes_on else None) or new_session(),
        content=TurnContent(said=said, inputs=inputs),
    )


def _of_draft(playground: Playground, thread: ThreadRecord, draft: TurnRecord) -> TurnRecord:
    turns = thread.history.turns
    before = turns[: turns.index(draft.id)]
    inputs = thread.inputs if draft.content.inputs is None else draft.content.inputs
    return _turn(playground, thread, draft.content.said, inputs, before=before)


def _changed(thread: ThreadRecord, turn: TurnRecord, turns: list[str]) -> ThreadRecord:
    changes: dict[str, Any] = {"history": thread.history.changed(turns)}
    if turn.status == "running":
        changes |= {"session_id": turn.session_id, "session_end": turn.id}
    return thread.model_copy(update=changes)


def _replaced(turns: list[str], old: str, new: str) -> list[str]:
    return [new if key == old else key for key in turns]


def _entitle(playground: Playground, board: BoardRecord, messages: Sequence[Message]) -> None:
    """Name a board without a title by the first thing that is said in it."""
    texts = [text_of(one.get("content")).strip() for one in messages if one.get("role") == "user"]
    if board.title or not any(texts):
        return
    text = " ".join(next(filter(None, texts)).split())
    title = text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1]}…"
    playground.store.boards.change(
        board.id, lambda now: now if now.title else now.model_copy(update={"title": title})
    )
    playground.changes.tell(ChangeEvent(kind="board", id=board.id))


# Many threads


@dataclass
class _Batch:
    """What came of some threads of a board."""

    jobs: list[TurnJob] = field(default_factory=list[TurnJob])
    threads: list[ThreadRecord] = field(default_factory=list[ThreadRecord])
    skipped: list[SkippedThread] = field(default_factory=list[SkippedThread])


@dataclass(frozen=True)
class _Seen:
    """How the turns of some threads stand."""

    statuses: dict[str, str]
    drafts: dict[str, TurnRecord]

    def draft(self, thread: ThreadRecord) -> TurnRecord | None:
        """The first draft of a thread."""
        found = (self.drafts.get(key) for key in thread.history.turns)
        return next((one for one in found if one is not None), None)


Begun = Callable[[ThreadRecord, _Seen], TurnRecord | str]
Listed = Callable[[ThreadRecord, TurnRecord, _Seen], list[str]]


async def _each(
    playground: Playground,
    board: BoardRecord,
    ids: Sequence[str] | None,
    begun: Begun,
    listed: Listed,
) -> Started:
    await playground.live.prepare()
    limiter = anyio.CapacityLimiter(AT_ONCE)
    started, skipped = list[StartedTurn](), list[SkippedThread]()
    batches = _batches(playground, board, ids)
    while (some := await playground.in_store(next, batches, None)) is not None:
        batch = await playground.in_store(_begin, playground, board, some, begun, listed)
        skipped += batch.skipped
        for thread in batch.threads:
            playground.changes.thread(thread.id, thread.board_id, thread.version)
        for job in batch.jobs:
            log = playground.live.start(job, limiter)
            playground.live.spawn(_go_on, playground, log, job.treat_as, limiter)
            started.append(StartedTurn(thread_id=job.turn.thread_id, turn_id=job.turn.id))
    return Started(started=started, skipped=skipped)


def _batches(playground: Playground, board: BoardRecord, ids: Sequence[str] | None) -> Any:
    if ids is not None:
        return iter([playground.store.threads.many(board.id, ids)])
    return playground.store.threads.of_board(board.id)


def _begin(
    playground: Playground,
    board: BoardRecord,
    threads: list[ThreadRecord],
    begun: Begun,
    listed: Listed,
) -> _Batch:
    store, batch = playground.store, _Batch()
    running = store.turns.running_in([one.id for one in threads])
    statuses = store.turns.statuses([key for one in threads for key in one.history.turns])
    drafts = [key for key, status in statuses.items() if status == "draft"]
    seen = _Seen(statuses, store.turns.listed(drafts, whole=True))
    jobs: dict[str, TurnJob] = {}

    def changed(thread: ThreadRecord) -> tuple[ThreadRecord, list[TurnRecord]] | None:
        turns = thread.history.turns
        made = RUNNING if running.get(thread.id) in turns else begun(thread, seen)
        if isinstance(made, str):
            batch.skipped.append(SkippedThread(thread_id=thread.id, why=made))
            return None
        after = listed(thread, made, seen)
        before = tuple(after[: after.index(made.id)])
        jobs[thread.id] = TurnJob(made, before, thread.treat_as or board.treat_as)
        return _changed(thread, made, after), [made]

    batch.threads = store.threads.change_all(board.id, threads, changed)
    batch.jobs = [jobs[one.id] for one in batch.threads]
    kept = {one.id for one in batch.threads}
    batch.skipped += [SkippedThread(thread_id=key, why=CHANGED) for key in jobs if key not in kept]
    _entitle(playground, board, [m for job in batch.jobs[:1] for m in job.turn.content.said])
    return batch


async def _go_on(
    playground: Playground, log: TurnLog, treat_as: TreatAs | None, limiter: anyio.CapacityLimiter
) -> None:
    """Run the drafts that follow a turn, for as long as none of them breaks."""
    while await log.wait() == "done":
        try:
            found = await playground.in_store(_next_draft, playground, log.turn, treat_as)
        except GreenroomError:
            return  # somebody changed the thread: the drafts are there to be run
        if found is None:
            return
        thread, job = found
        playground.changes.thread(thread.id, thread.board_id, thread.version)
        log = playground.live.start(job, limiter)


def _next_draft(
    playground: Playground, turn: TurnRecord, treat_as: TreatAs | None
) -> tuple[ThreadRecord, TurnJob] | None:
    store = playground.store
    thread = store.threads.find(turn.thread_id)
    turns = thread.history.turns
    if turn.id not in turns or turn.id == turns[-1]:
        return None
    following = store.turns.find(turns[turns.index(turn.id) + 1])
    if following.status != "draft":
        return None
    made = _of_draft(playground, thread, following)
    after = _replaced(turns, following.id, made.id)
    changed = _changed(thread, made, after)
    kept = store.threads.change(thread.id, thread.version, lambda _: (changed, [made]))
    return kept, TurnJob(made, tuple(after[: after.index(made.id)]), treat_as)


async def _kinds(playground: Playground, board: BoardRecord) -> dict[str, TreatAs]:
    """Whether the workflows of a board chat; those that are down break when they are called."""
    kinds: dict[str, TreatAs] = {}
    for address in {one.address for one in board.columns}:
        try:
            profile = await playground.targets.look(await playground.workflows.check(address))
        except InputError:
            continue
        kinds[address] = "chat" if profile.is_chat else "completion"
    return kinds
