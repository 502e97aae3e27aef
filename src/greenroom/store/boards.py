"""Boards in the database, and the addresses of workflows that people added."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, Select, and_, func, insert, or_, select, update

from greenroom.errors import InputError
from greenroom.store.database import insert_into, transaction
from greenroom.store.schema import boards, threads, workflow_addresses
from greenroom.store.thread_records import (
    BoardRecord,
    ColumnRecord,
    Missing,
    json_text,
    now_text,
)
from greenroom.util.raw_json import raw_value, storable

_COLUMNS = ("id", "title", "created_at", "updated_at", "deleted_at")


class Boards:
    """The boards of a store. Safe to use from several threads and several processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self, board: BoardRecord) -> None:
        """Keep a new board."""
        with transaction(self._engine) as connection:
            connection.execute(insert(boards).values(**_row(board)))

    def find(self, board_id: str) -> BoardRecord:
        """A board, deleted ones too."""
        with transaction(self._engine) as connection:
            row = connection.execute(
                select(boards).where(boards.c.id == storable(board_id))
            ).first()
        if row is None:
            raise Missing("board", board_id)
        return _record(row)

    def page(
        self,
        *,
        after: tuple[str, str] | None = None,
        limit: int,
        title: str = "",
        deleted: bool = False,
    ) -> list[BoardRecord]:
        """Boards from the one that was changed last on, after that with this time and id."""
        statement = select(boards).order_by(boards.c.updated_at.desc(), boards.c.id.desc())
        gone = boards.c.deleted_at.is_not(None) if deleted else boards.c.deleted_at.is_(None)
        statement = statement.where(gone).limit(limit)
        if title:
            wanted = func.lower(boards.c.title).contains(storable(title).lower(), autoescape=True)
            statement = statement.where(wanted)
        if after is not None:
            at, key = after
            earlier = and_(boards.c.updated_at == at, boards.c.id < key)
            statement = statement.where(or_(boards.c.updated_at < at, earlier))
        with transaction(self._engine) as connection:
            return [_record(row) for row in connection.execute(statement)]

    def change(self, board_id: str, changed: Callable[[BoardRecord], BoardRecord]) -> BoardRecord:
        """Change a board; what others change at the same time stays."""
        with transaction(self._engine) as connection:
            board = changed(lock_board(connection, board_id))
            save_board(connection, board)
        return board


class WorkflowAddresses:
    """The addresses of workflows that people added."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[str]:
        """Those that are not removed, in the order in which they were added."""
        statement = _addresses().where(workflow_addresses.c.deleted_at.is_(None))
        with transaction(self._engine) as connection:
            return list(connection.execute(statement).scalars())

    def add(self, address: str) -> None:
        """Add an address; one that was removed comes back."""
        statement = insert_into(self._engine, workflow_addresses).values(
            address=storable(address), created_at=now_text(), deleted_at=None
        )
        statement = statement.on_conflict_do_update(
            index_elements=["address"], set_={"deleted_at": None}
        )
        with transaction(self._engine) as connection:
            connection.execute(statement)

    def remove(self, address: str) -> None:
        """Take an address out of the list."""
        self._mark(address, now_text())

    def restore(self, address: str) -> None:
        """Put an address back into the list."""
        self._mark(address, None)

    def _mark(self, address: str, deleted_at: str | None) -> None:
        with transaction(self._engine) as connection:
            marked = connection.execute(
                update(workflow_addresses)
                .where(workflow_addresses.c.address == storable(address))
                .values(deleted_at=deleted_at)
            )
        if marked.rowcount != 1:
            raise InputError(f"Nobody added the address '{address}': add it first.")


def lock_board(connection: Connection, board_id: str) -> BoardRecord:
    """A board that nobody else changes until the transaction ends."""
    board_id = storable(board_id)
    # A write locks the row on both databases.
    connection.execute(update(boards).where(boards.c.id == board_id).values(updated_at=now_text()))
    row = connection.execute(select(boards).where(boards.c.id == board_id)).first()
    if row is None:
        raise Missing("board", board_id)
    return _record(row)


def save_board(connection: Connection, board: BoardRecord) -> None:
    """Keep a board that is locked."""
    board = board.model_copy(update={"updated_at": now_text()})
    row = {name: value for name, value in _row(board).items() if name != "id"}
    connection.execute(update(boards).where(boards.c.id == board.id).values(**row))


def count_again(connection: Connection, board: BoardRecord) -> BoardRecord:
    """A locked board with its rows and columns as its threads make them."""
    live = and_(threads.c.board_id == board.id, threads.c.deleted_at.is_(None))
    each = (
        select(threads.c.column_number, func.min(threads.c.row_number).label("first"))
        .where(live)
        .group_by(threads.c.column_number)
        .subquery()
    )
    of_columns = (
        select(threads.c.column_number, threads.c.record)
        .join(
            each,
            and_(
                each.c.column_number == threads.c.column_number,
                each.c.first == threads.c.row_number,
            ),
        )
        .where(live)
        .order_by(threads.c.column_number, threads.c.id)
    )
    columns: dict[int, ColumnRecord] = {}
    for row in connection.execute(of_columns):
        fields = raw_value(row.record)
        columns[row.column_number] = ColumnRecord(
            column=row.column_number,
            address=fields["address"],
            name=fields["name"],
            parameters=fields["parameters"],
        )
    rows = connection.execute(
        select(func.count(func.distinct(threads.c.row_number))).where(live)
    ).scalar_one()
    return board.model_copy(update={"columns": list(columns.values()), "rows": rows})


def _addresses() -> Select[Any]:
    return select(workflow_addresses.c.address).order_by(
        workflow_addresses.c.created_at, workflow_addresses.c.address
    )


def _row(board: BoardRecord) -> dict[str, Any]:
    columns = {name: getattr(board, name) for name in _COLUMNS}
    columns["title"] = storable(board.title)
    return {**columns, "record": json_text(board.model_dump(exclude={*_COLUMNS}))}


def _record(row: Any) -> BoardRecord:
    columns = {name: getattr(row, name) for name in _COLUMNS}
    return BoardRecord.model_validate({**raw_value(row.record), **columns})
