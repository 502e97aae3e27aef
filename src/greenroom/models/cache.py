"""Answers that were paid for, kept so that the same question is not paid for twice."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import anyio
import orjson

from greenroom.errors import DataError
from greenroom.models.types import Completion, ModelRequest, ModelSettings
from greenroom.util.caches import cache_root
from greenroom.util.json_values import encoded
from greenroom.util.sqlite_files import use_wal

_T = TypeVar("_T")

_BUSY_SECONDS = 30.0
_FORMAT = 1
"""Part of every key: answers in another format are not found."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY,
    model TEXT NOT NULL,
    answer BLOB NOT NULL,
    kept_at REAL NOT NULL
) WITHOUT ROWID
"""


def answer_key(settings: ModelSettings, request: ModelRequest, scope: str) -> bytes:
    """The key of an answer: another one for every change to what shapes it.

    The scope keeps apart what must not share an answer, such as the trials of a task. The order of
    keys counts: it is in what the model reads.
    """
    shaping = [
        _FORMAT,
        scope,
        settings.model,
        settings.provider,
        settings.api_base,
        settings.temperature,
        settings.max_tokens,
        settings.reasoning_effort,
        request.messages,
        request.tools,
        request.response_format,
        request.seed,
        request.stop,
    ]
    # Only where they are given: other answers are found under the keys that they always had.
    more = [request.tool_choice, request.parallel_tool_calls, request.max_tokens]
    if any(one is not None for one in more):
        shaping += more
    return sha256(encoded(shaping)).digest()


class AnswerCache:
    """Answers in an SQLite file, which several processes may share.

    The database is used in a thread of its own, so that the event loop never waits for the disk.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="greenroom-answers")
        self._database: sqlite3.Connection | None = None

    async def get(self, key: bytes) -> Completion | None:
        """The answer that is kept under the key, as it was, marked as coming from here."""
        return await self._run(lambda database: _get(database, key))

    async def put(self, key: bytes, model: str, completion: Completion) -> None:
        """Keep an answer; the first that was kept stays."""
        answer = encoded(asdict(completion))
        row = (key, model, answer, time.time())
        statement = (
            "INSERT OR IGNORE INTO answers (key, model, answer, kept_at) VALUES (?, ?, ?, ?)"
        )
        await self._run(lambda database: database.execute(statement, row))

    async def clear(self) -> int:
        """Forget everything; how many answers there were."""
        return await self._run(lambda database: database.execute("DELETE FROM answers").rowcount)

    def close(self) -> None:
        """Close the file; can be called again."""
        if self._database is not None:
            self._thread.submit(self._database.close).result()
            self._database = None
        self._thread.shutdown()

    async def _run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    def _do(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        try:
            if self._database is None:
                self._database = _open(self.path)
            with self._database:
                return work(self._database)
        except (OSError, sqlite3.Error) as error:
            said = error.strerror if isinstance(error, OSError) else error
            raise DataError(f"{self.path} cannot be used as a cache of answers: {said}.") from error


def answer_cache() -> AnswerCache:
    """The answers in the user's cache."""
    return AnswerCache(cache_root() / "answers.db")


def clear_answers() -> None:
    """Forget all answers in the user's cache."""
    cache = answer_cache()
    try:
        anyio.run(cache.clear)
    finally:
        cache.close()


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        use_wal(database, _BUSY_SECONDS)
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(_SCHEMA)
    except BaseException:
        database.close()
        raise
    return database


def _get(database: sqlite3.Connection, key: bytes) -> Completion | None:
    row = database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    return replace(Completion(**orjson.loads(row[0])), from_cache=True, retries=0, seconds=0.0)
