"""Turns in the database: what was said and answered. One that has ended never changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, insert, select, update

from greenroom.store.database import transaction
from greenroom.store.leases import LeaseOwner, ProcessLeases
from greenroom.store.schema import boards, threads, turns
from greenroom.store.thread_records import (
    LARGEST_LISTED,
    Missing,
    TurnContent,
    TurnRecord,
    cut_content,
    json_text,
    now_text,
)
from greenroom.util.raw_json import raw_value, storable

ABANDONED = "The playground that ran this turn ended before the answer was complete. Run it again."

_COLUMNS = ("id", "thread_id", "status", "owner", "created_at", "seconds")
_FACTS = (*_COLUMNS, "record")
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn that ended, and where."""

    id: str
    thread_id: str
    status: str


class Turns:
    """The turns of a store. Safe to use from several threads and several processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.processes = ProcessLeases(engine)

    def find(self, turn_id: str) -> TurnRecord:
        """A turn, whole."""
        with transaction(self._engine) as connection:
            row = connection.execute(select(turns).where(turns.c.id == storable(turn_id))).first()
        if row is None:
            raise Missing("turn", turn_id)
        return _record(row, row.body)

    def listed(self, ids: Sequence[str], *, whole: bool = False) -> dict[str, TurnRecord]:
        """Turns by id; the content of large ones is cut, unless they are wanted whole."""
        found: dict[str, TurnRecord] = {}
        facts, bodies = [turns.c[name] for name in _FACTS], (turns.c.id, turns.c.body)
        with transaction(self._engine) as connection:
            for start in range(0, len(ids), _BATCH):
                some = ids[start : start + _BATCH]
                rows = connection.execute(select(*facts).where(turns.c.id.in_(some))).all()
                small = [row.id for row in rows if whole or _size(row.record) <= LARGEST_LISTED]
                texts = {
                    row.id: row.body
                    for row in connection.execute(select(*bodies).where(turns.c.id.in_(small)))
                }
                found |= {row.id: _record(row, texts.get(row.id)) for row in rows}
        return found

    def statuses(self, ids: Sequence[str]) -> dict[str, str]:
        """How turns stand, by id."""
        found: dict[str, str] = {}
        with transaction(self._engine) as connection:
            for start in range(0, len(ids), _BATCH):
                some = turns.c.id.in_(ids[start : start + _BATCH])
                rows = connection.execute(select(turns.c.id, turns.c.status).where(some))
                found |= {row.id: row.status for row in rows}
        return found

    # Running turns

    def flush(self, records: Iterable[TurnRecord], owner: LeaseOwner) -> None:
        """Keep what running turns have so far."""
        rows = sorted((_row(record) for record in records), key=lambda row: row["id"])
        statement = (
            update(turns)
            .where(turns.c.id == bindparam("b_id"), _is_ours(owner))
            .values(record=bindparam("b_record"), body=bindparam("b_body"))
        )
        with transaction(self._engine) as connection:
            for row in rows:
                given = {"b_id": row["id"], "b_record": row["record"], "b_body": row["body"]}
                connection.execute(statement, given)

    def end(self, record: TurnRecord, owner: LeaseOwner) -> bool:
        """Keep a turn that ended; False if it was stopped elsewhere, or its lease was lost."""
        row = {name: value for name, value in _row(record).items() if name != "id"}
        with transaction(self._engine) as connection:
            touch(connection, record.thread_id)
            kept = connection.execute(
                update(turns).where(turns.c.id == record.id, _is_ours(owner)).values(**row)
            )
        return kept.rowcount == 1

    def running(self, owner: LeaseOwner) -> set[str]:
        """The turns that a process runs, as far as the database knows."""
        with transaction(self._engine) as connection:
            found = connection.execute(select(turns.c.id).where(_is_ours(owner)))
            return set(found.scalars())

    def running_in(self, thread_ids: Sequence[str]) -> dict[str, str]:
        """The turns that run in threads, wherever they run, by thread."""
        found: dict[str, str] = {}
        with transaction(self._engine) as connection:
            for start in range(0, len(thread_ids), _BATCH):
                some = turns.c.thread_id.in_(thread_ids[start : start + _BATCH])
                rows = connection.execute(
                    select(turns.c.thread_id, turns.c.id).where(turns.c.owner.is_not(None), some)
                )
                found |= {row.thread_id: row.id for row in rows}
        return found

    def running_on(self, board_id: str) -> dict[str, str]:
        """The turns that run on a board, wherever they run, by thread."""
        of_board = select(threads.c.id).where(
            threads.c.board_id == board_id, threads.c.deleted_at.is_(None)
        )
        statement = select(turns.c.thread_id, turns.c.id).where(
            turns.c.owner.is_not(None), turns.c.thread_id.in_(of_board)
        )
        with transaction(self._engine) as connection:
            return {row.thread_id: row.id for row in connection.execute(statement)}

    def stop(self, turn_id: str) -> Ended | None:
        """Stop a turn that another process runs, which notices within a second."""
        return self._take(turn_id, None, "stopped", None)

    def give_up(self, turn_id: str, owner: LeaseOwner, error: str) -> None:
        """Break a turn whose end cannot be kept; it has what was flushed last."""
        self._take(turn_id, str(owner), "broken", error)

    def break_abandoned(self) -> list[Ended]:
        """End the turns whose processes are gone; they keep the text so far."""
        owners = select(turns.c.owner).where(turns.c.owner.is_not(None)).distinct()
        with transaction(self._engine) as connection:
            found = list(connection.execute(owners).scalars())
        ended: list[Ended] = []
        for owner in found:
            if owner is None or self.processes.is_alive(owner):
                continue
            with transaction(self._engine) as connection:
                ids = list(
                    connection.execute(select(turns.c.id).where(turns.c.owner == owner)).scalars()
                )
            taken = [self._take(key, owner, "broken", ABANDONED) for key in ids]
            ended += [one for one in taken if one is not None]
            self.processes.release(owner)
        return ended

    def _take(
        self, turn_id: str, owner: str | None, status: str, error: str | None
    ) -> Ended | None:
        """End a turn of another process, if this owner (None: anybody) still has it."""
        held = turns.c.owner.is_not(None) if owner is None else turns.c.owner == owner
        turn_id = storable(turn_id)
        of_turn = select(turns.c.thread_id, turns.c.owner).where(turns.c.id == turn_id)
        with transaction(self._engine) as connection:
            found = connection.execute(of_turn).first()
            if found is None or found.owner is None:
                return None
            touch(connection, found.thread_id)
            # The write locks the row: what is read next is the last that was flushed.
            taken = connection.execute(
                update(turns).where(turns.c.id == turn_id, held).values(owner=None, status=status)
            )
            if taken.rowcount != 1:
                return None
            row = connection.execute(select(turns).where(turns.c.id == turn_id)).one()
            record = _record(row, row.body)
            if status == "stopped":
                record.content.replies = stopped_replies(record.content)
            changed = _row(record.model_copy(update={"error": error}))
            connection.execute(update(turns).where(turns.c.id == turn_id).values(**changed))
        return Ended(turn_id, record.thread_id, status)


def stopped_replies(content: TurnContent) -> list[dict[str, Any]]:
    """What a stopped turn answers: the text so far, so that the conversation can go on from it."""
    return [{"role": "assistant", "content": content.text}] if content.text else []


def insert_turns(connection: Connection, records: Sequence[TurnRecord]) -> None:
    """Add turns, within a transaction."""
    if records:
        connection.execute(insert(turns), [_row(record) for record in records])


def touch(connection: Connection, thread_id: str) -> None:
    """Have others see that a thread changes; nobody else changes it until the transaction ends.

    Boards are locked before threads, and threads before turns, so that nobody waits in a circle.
    """
    now = now_text()
    of_thread = select(threads.c.board_id).where(threads.c.id == thread_id).scalar_subquery()
    connection.execute(update(boards).where(boards.c.id == of_thread).values(updated_at=now))
    connection.execute(update(threads).where(threads.c.id == thread_id).values(updated_at=now))


def _is_ours(owner: LeaseOwner) -> Any:
    return turns.c.owner == str(owner)


def _row(record: TurnRecord) -> dict[str, Any]:
    body = json_text(record.content.model_dump())
    facts = record.model_dump(exclude={*_COLUMNS, "content", "truncated"})
    facts["size"] = len(body)
    if len(body) > LARGEST_LISTED:
        facts["cut"] = cut_content(record.content)
    columns = {name: getattr(record, name) for name in _COLUMNS}
    return {**columns, "record": json_text(facts), "body": body}


def _size(record: str) -> int:
    return raw_value(record)["size"]


def _record(row: Any, body: str | None) -> TurnRecord:
    facts = raw_value(row.record)
    cut = facts.pop("cut", None)
    content: Any = cut if body is None else raw_value(body)
    columns = {name: getattr(row, name) for name in _COLUMNS}
    return TurnRecord.model_validate(
        {**facts, **columns, "content": content or {}, "truncated": body is None}
    )
