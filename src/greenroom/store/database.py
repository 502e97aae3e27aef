"""Open the database: SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

import math
import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from platformdirs import user_data_path
from sqlalchemy import (
    URL,
    Connection,
    CursorResult,
    Engine,
    Executable,
    Table,
    create_engine,
    event,
    func,
    make_url,
    select,
)
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    InterfaceError,
    OperationalError,
    SQLAlchemyError,
)

from greenroom.errors import InputError, redacted
from greenroom.util.sqlite_files import use_wal

URL_VARIABLE = "GREENROOM_DATABASE_URL"
WAIT_VARIABLE = "GREENROOM_DATABASE_WAIT"
LONGEST_WAIT = 300.0
"""Seconds: a job waits so long for its database, from the first call that failed."""
BUSY_SECONDS = 30.0
_LIMITS = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
"""A server that vanishes without a word is missed within half a minute: else it takes 15 minutes.

The names are those of PostgreSQL's library; the URL may say otherwise.
"""


class StoreError(InputError):
    """The database cannot be used; the text says why, and never holds a password."""


class StoreOutage(StoreError):
    """The database is away, locked or full for now: the same call may work later."""


def database_url(text: str | None = None) -> URL:
    """The database's URL: GREENROOM_DATABASE_URL, or a file in the user's data directory."""
    source = "The URL" if text else URL_VARIABLE
    text = text or os.environ.get(URL_VARIABLE)
    if not text:
        path = user_data_path("greenroom", appauthor=False) / "greenroom.db"
        return URL.create("sqlite", database=str(path))
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise StoreError(
            f"{source} is not a database URL: use sqlite:///FILE or "
            "postgresql://USER@HOST/DATABASE."
        ) from error
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise StoreError(
            f"{source} names a {url.get_backend_name()} database: Greenroom supports SQLite "
            "and PostgreSQL."
        )
    if url.drivername == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    return url


def longest_wait() -> float:
    """How long a job waits for its database: GREENROOM_DATABASE_WAIT seconds, or 5 minutes."""
    try:
        seconds = float(os.environ.get(WAIT_VARIABLE) or LONGEST_WAIT)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise StoreError(f"{WAIT_VARIABLE} should be a number of seconds, such as 300.")
    return seconds


def open_engine(url: URL) -> Engine:
    """An engine for the database; a missing SQLite file is created."""
    if url.get_backend_name() == "sqlite":
        return _open_sqlite(url)
    try:
        # Many workers share a server that has room for a hundred connections: each keeps two, and
        # has more while several threads want one.
        limits = {name: value for name, value in _LIMITS.items() if name not in url.query}
        return create_engine(
            url, pool_pre_ping=True, pool_size=2, max_overflow=13, connect_args=limits
        )
    except ModuleNotFoundError as error:
        raise StoreError(
            "PostgreSQL needs its driver: pip install 'greenroom[postgres]'."
        ) from error


def describe(url: URL) -> str:
    """The database's URL without its password."""
    return redacted(url.render_as_string(hide_password=True))


@contextmanager
def transaction(engine: Engine) -> Generator[Connection]:
    """A transaction; raise StoreError with a helpful text for database errors."""
    try:
        with engine.begin() as connection:
            yield connection
    except SQLAlchemyError as error:
        if sql_state(error) == _READ_ONLY:
            engine.dispose()  # another server may have taken over: it needs new connections
        raise _explained(engine.url, error) from error


@contextmanager
def streamed(engine: Engine, statement: Executable, at_a_time: int) -> Generator[CursorResult[Any]]:
    """The rows that a query finds, fetched a few at a time.

    Whoever stops in the middle leaves no cursor open.
    """
    with (
        transaction(engine) as connection,
        connection.execution_options(yield_per=at_a_time).execute(statement) as rows,
    ):
        yield rows


def sql_state(error: BaseException | None) -> str | None:
    """PostgreSQL's code of an error, if it has one."""
    return getattr(getattr(error, "orig", None), "sqlstate", None)


def database_time(connection: Connection) -> float:
    """Seconds since 1970 by the clock of the database, which all processes share."""
    # SQLite's processes share a machine. Those of PostgreSQL may have clocks that differ.
    if connection.dialect.name != "postgresql":
        return time.time()
    clock = func.extract("epoch", func.clock_timestamp())
    return float(connection.execute(select(clock)).scalar_one())


def insert_into(engine: Engine, table: Table) -> Any:
    """An insert statement of the database's dialect, for ON CONFLICT clauses."""
    # The engine has loaded its own dialect; the other one would take time at each start.
    return import_module(f"sqlalchemy.dialects.{engine.dialect.name}").insert(table)


def insert_or_replace(engine: Engine, table: Table, *, key: list[str], where: Any = None) -> Any:
    """An insert that replaces the row with the same key if `where` holds for it."""
    statement = insert_into(engine, table)
    replaced = [column.name for column in table.columns if column.name not in (*key, "id")]
    return statement.on_conflict_do_update(
        index_elements=key,
        set_={name: statement.excluded[name] for name in replaced},
        where=where,
    )


def _open_sqlite(url: URL) -> Engine:
    busy = min(BUSY_SECONDS, longest_wait())
    limits: dict[str, Any] = {"timeout": busy, "check_same_thread": False}
    if url.database and not url.database.startswith((":memory:", "file:")):
        path = Path(url.database)
        create_private(path)
        if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            address = _read_only(path)
            return create_engine(url, creator=lambda: sqlite3.connect(address, uri=True, **limits))
    engine = create_engine(url, connect_args={"timeout": busy})

    def prepare(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        tables = {name for (name,) in cursor.execute(_TABLES)}
        # WAL lets readers and a writer work side by side; FULL makes every commit durable. The
        # file of another program is left as it is.
        if not tables or "meta" in tables:
            use_wal(connection, busy)
        for setting in ("synchronous=FULL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    event.listen(engine, "connect", prepare)
    return engine


_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"


def create_private(path: Path) -> None:
    """Create a file that only its owner can read, if there is none; likewise its directory."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path.parent} cannot be created: {error.strerror}.") from error
    # What cannot be created is explained when it is opened. A file that is there is left alone:
    # closing it would drop the locks of all connections that this process has to it.
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _read_only(path: Path) -> str:
    # A file without changes of its own beside it can be read where nothing can be created.
    wal = Path(f"{path}-wal")
    pending = wal.exists() and wal.stat().st_size > 0
    return f"{path.absolute().as_uri()}?mode=ro{'' if pending else '&immutable=1'}"


_SQLITE_PROBLEMS = {
    "readonly database": "it is read-only. Make the file and its directory writable",
    "disk is full": "the disk is full. Make room",
    "disk I/O error": "its disk does not take it. Check space, quota and health of the disk",
    "unable to open": "the file cannot be opened. Check that its directory exists and is yours",
    "database is locked": "another process keeps it locked. Wait for it, or stop it",
    "not a database": "the file is not an SQLite database. Name another in " + URL_VARIABLE,
    "malformed": "the file is damaged. Restore a backup ('greenroom store backup' makes them)",
}


_READ_ONLY = "25006"
# A server that refuses to be talked to gives no code. One in another language is waited for.
_REFUSALS = ("authentication failed", "no password supplied", "does not exist", "no pg_hba.conf")
_PASSING = ("database is locked", "disk is full", "disk I/O error")


def _explained(url: URL, error: SQLAlchemyError) -> StoreError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    text = " ".join(str(cause).split())
    where = f"The database {describe(url)} cannot be used: "
    kind = StoreOutage if _is_outage(url, error, text) else StoreError
    for sign, explanation in _SQLITE_PROBLEMS.items():
        if sign in text:
            return kind(f"{where}{explanation}.")
    if url.password:
        text = text.replace(str(url.password), "***")
    return kind(f"{where}{redacted(text)[:300].rstrip('.')}.")


def _is_outage(url: URL, error: SQLAlchemyError, text: str) -> bool:
    if url.get_backend_name() == "sqlite":
        return any(sign in text for sign in _PASSING)
    if sql_state(error) is None and any(sign in text for sign in _REFUSALS):
        return False
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    passing = isinstance(error, (OperationalError, InterfaceError))
    return lost or passing or sql_state(error) == _READ_ONLY
