"""Threads in the database. Each change counts their version, so that none is lost unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, and_, func, insert, select, update

from greenroom.errors import Conflict
from greenroom.store.boards import count_again, lock_board, save_board
from greenroom.store.database import transaction
from greenroom.store.schema import threads
from greenroom.store.thread_records import (
    BoardRecord,
    Missing,
    ThreadRecord,
    TurnRecord,
    json_text,
    now_text,
)
from greenroom.store.turns import insert_turns, touch
from greenroom.util.raw_json import raw_value, storable

CHANGED = "Somebody changed this thread in the meantime: load it again, then repeat what you did."

_COLUMNS = {
    "id": "id",
    "board_id": "board_id",
    "row": "row_number",
    "column": "column_number",
    "version": "version",
    "created_at": "created_at",
    "updated_at": "updated_at",
    "deleted_at": "deleted_at",
}
_BATCH = 500

Place = tuple[int, int]
"""A row and a column."""

Made = tuple[Sequence[ThreadRecord], Sequence[TurnRecord]]
"""New threads, and their turns."""

Changed = tuple[ThreadRecord, Sequence[TurnRecord]]
"""A thread as it is to be, and turns that are new."""


class Threads:
    """The threads of a store. Safe to use from several threads and several processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, thread_id: str) -> ThreadRecord:
        """A thread, deleted ones too."""
        with transaction(self._engine) as connection:
            row = connection.execute(
                select(threads).where(threads.c.id == storable(thread_id))
            ).first()
        if row is None:
            raise Missing("thread", thread_id)
        return _record(row)

    def rows(
        self, board_id: str, *, after: int, limit: int
    ) -> tuple[list[ThreadRecord], int | None]:
        """The threads of some rows after a row, and the last row if there are more."""
        live = _live(board_id)
        numbers = (
            select(threads.c.row_number)
            .where(live, threads.c.row_number > after)
            .distinct()
            .order_by(threads.c.row_number)
            .limit(limit + 1)
        )
        with transaction(self._engine) as connection:
            found = list(connection.execute(numbers).scalars())
            wanted = found[:limit]
            if not wanted:
                return [], None
            statement = (
                select(threads)
                .where(live, threads.c.row_number.between(wanted[0], wanted[-1]))
                .order_by(threads.c.row_number, threads.c.column_number, threads.c.id)
            )
            records = [_record(row) for row in connection.execute(statement)]
        return records, wanted[-1] if len(found) > limit else None

    def of_board(self, board_id: str, *, column: int | None = None) -> Iterator[list[ThreadRecord]]:
        """All threads of a board or of a column, a batch at a time, by row."""
        place = (-1, -1, "")
        while True:
            key = (threads.c.row_number, threads.c.column_number, threads.c.id)
            later = _after(place)
            statement = select(threads).where(_live(board_id), later).order_by(*key).limit(_BATCH)
            if column is not None:
                statement = statement.where(threads.c.column_number == column)
            with transaction(self._engine) as connection:
                batch = [_record(row) for row in connection.execute(statement)]
            if not batch:
                return
            yield batch
            place = (batch[-1].row, batch[-1].column, batch[-1].id)

    def many(self, board_id: str, ids: Sequence[str]) -> list[ThreadRecord]:
        """Those threads of a board that have these ids, by row."""
        found: list[ThreadRecord] = []
        with transaction(self._engine) as connection:
            for start in range(0, len(ids), _BATCH):
                some = threads.c.id.in_(list(map(storable, ids[start : start + _BATCH])))
                rows = connection.execute(select(threads).where(_live(board_id), some))
                found += [_record(row) for row in rows]
        return sorted(found, key=lambda one: (one.row, one.column, one.id))

    def add(
        self, board_id: str, added: Sequence[ThreadRecord], turns: Sequence[TurnRecord] = ()
    ) -> BoardRecord:
        """Add threads with their first turns to a board, all or none."""
        return self.grow(board_id, lambda _: (added, turns))

    def grow(
        self,
        board_id: str,
        make: Callable[[Place], Made],
        *,
        changed: Callable[[BoardRecord], BoardRecord] | None = None,
    ) -> BoardRecord:
        """Add threads to a board, all or none.

        `make` gets the first row and the first column that no thread has, deleted ones included.
        Nobody else adds any to this board meanwhile.
        """
        last = select(func.max(threads.c.row_number), func.max(threads.c.column_number))
        with transaction(self._engine) as connection:
            board = lock_board(connection, board_id)
            row, column = connection.execute(last.where(threads.c.board_id == board_id)).one()
            place = (0, 0) if row is None else (row + 1, column + 1)
            added, turns = make(place)
            rows = [_row(record) for record in added]
            for start in range(0, len(rows), _BATCH):
                connection.execute(insert(threads), rows[start : start + _BATCH])
            for start in range(0, len(turns), _BATCH):
                insert_turns(connection, turns[start : start + _BATCH])
            board = count_again(connection, changed(board) if changed else board)
            save_board(connection, board)
        return board

    def change(
        self,
        thread_id: str,
        version: int | None,
        changed: Callable[[ThreadRecord], Changed],
        *,
        counts: bool = False,
    ) -> ThreadRecord:
        """Change a thread that has this version (None: any); raises a Conflict if it has another.

        `counts`: the board's columns may be others afterwards.
        """
        with transaction(self._engine) as connection:
            thread_id = storable(thread_id)
            touch(connection, thread_id)
            row = connection.execute(select(threads).where(threads.c.id == thread_id)).first()
            if row is None:
                raise Missing("thread", thread_id)
            if version is not None and row.version != version:
                raise Conflict(CHANGED)
            record, turns = changed(_record(row))
            now = now_text()
            record = record.model_copy(update={"version": row.version + 1, "updated_at": now})
            insert_turns(connection, turns)
            _save(connection, record)
            if counts:
                board = lock_board(connection, record.board_id)
                save_board(connection, count_again(connection, board))
        return record

    def change_all(
        self,
        board_id: str,
        found: Sequence[ThreadRecord],
        changed: Callable[[ThreadRecord], Changed | None],
        *,
        counts: bool = False,
    ) -> list[ThreadRecord]:
        """Change threads of a board in one transaction; those that others changed stay."""
        done: list[ThreadRecord] = []
        with transaction(self._engine) as connection:
            board = lock_board(connection, board_id)
            for record in found:
                made = changed(record)
                if made is None:
                    continue
                wanted = made[0].model_copy(
                    update={"version": record.version + 1, "updated_at": now_text()}
                )
                same = and_(threads.c.id == record.id, threads.c.version == record.version)
                taken = connection.execute(update(threads).where(same).values(**_row(wanted)))
                if taken.rowcount == 1:
                    insert_turns(connection, made[1])
                    done.append(wanted)
            if counts:
                save_board(connection, count_again(connection, board))
        return done


def _live(board_id: str) -> ColumnElement[bool]:
    return and_(threads.c.board_id == board_id, threads.c.deleted_at.is_(None))


def _after(place: tuple[int, int, str]) -> ColumnElement[bool]:
    row, column, key = place
    numbers, columns, ids = threads.c.row_number, threads.c.column_number, threads.c.id
    same_row = and_(numbers == row, (columns > column) | and_(columns == column, ids > key))
    # The first condition lets the index be used.
    return and_(numbers >= row, (numbers > row) | same_row)


def _save(connection: Connection, record: ThreadRecord) -> None:
    row = {name: value for name, value in _row(record).items() if name != "id"}
    connection.execute(update(threads).where(threads.c.id == record.id).values(**row))


def _row(record: ThreadRecord) -> dict[str, Any]:
    columns = {column: getattr(record, name) for name, column in _COLUMNS.items()}
    return {**columns, "record": json_text(record.model_dump(exclude={*_COLUMNS}))}


def _record(row: Any) -> ThreadRecord:
    columns = {name: getattr(row, column) for name, column in _COLUMNS.items()}
    return ThreadRecord.model_validate({**raw_value(row.record), **columns})
