"""What is said while an attempt is under way: lines of Python's logging, tracebacks, prints."""

from __future__ import annotations

import logging
import sys
import time
import traceback
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import IO, Any

from greenroom.errors import redacted

MOST_CHARACTERS = 10_000
"""Of a log; the last ones are kept."""
_PIECE = 1_000
"""As many go at once."""


class AttemptLog:
    """What one attempt says. Safe to use from the threads that the attempt starts."""

    def __init__(self) -> None:
        self._pieces = deque[str]()
        self._kept = self._left_out = 0
        self._lock = Lock()

    def add(self, text: str) -> None:
        """Add a text; the oldest ones go where there are too many."""
        # Half of a secret would not be known as one: a text that may be cut holds none.
        kept = (redacted(text) if len(text) > _PIECE else text)[-MOST_CHARACTERS:]
        with self._lock:
            self._left_out += len(text) - len(kept)
            starts = range(0, len(kept), _PIECE)
            self._pieces.extend(kept[start : start + _PIECE] for start in starts)
            self._kept += len(kept)
            while self._kept > MOST_CHARACTERS and len(self._pieces) > 1:
                gone = len(self._pieces.popleft())
                self._kept -= gone
                self._left_out += gone

    @property
    def text(self) -> str:
        """All of it, without secrets; empty if nothing was said."""
        with self._lock:
            text, left_out = "".join(self._pieces), self._left_out
        if not text.strip():
            return ""
        first = f"... {left_out:,} characters left out\n" if left_out else ""
        return first + redacted(text).rstrip()


_current: ContextVar[AttemptLog | None] = ContextVar("attempt_log", default=None)
_listening = Lock()


@contextmanager
def attempt_log() -> Generator[AttemptLog]:
    """Collect what is said in the block, and in what it starts."""
    _listen()
    log = AttemptLog()
    token = _current.set(log)
    try:
        yield log
    finally:
        _current.reset(token)


def log_error(error: BaseException) -> None:
    """Add the traceback of an error to the log of the attempt that is under way, if one is."""
    if (log := _current.get()) is not None:
        log.add("".join(traceback.format_exception(error)))


def log_text(text: str) -> None:
    """Add a text to the log of the attempt that is under way, if one is."""
    if text and (log := _current.get()) is not None:
        log.add(text if text.endswith("\n") else f"{text}\n")


class _Records:
    """Makes the records of Python's logging, and notes those of an attempt.

    A handler would keep `logging.basicConfig` of an agent's module from doing anything.
    """

    def __init__(self) -> None:
        self._make = logging.getLogRecordFactory()

    def __call__(self, *arguments: Any, **named: Any) -> logging.LogRecord:
        record = self._make(*arguments, **named)
        # One that is made of another's fields has no message yet.
        if record.msg and (log := _current.get()) is not None:
            log.add(_line(record))
        return record


def _line(record: logging.LogRecord) -> str:
    try:
        message = record.getMessage()
    except Exception:  # the arguments do not fit: logging itself complains of that
        message = str(record.msg)
    moment = time.strftime("%H:%M:%S", time.gmtime(record.created))
    line = f"{moment} {record.levelname} {record.name}: {message}\n"
    if record.exc_info and record.exc_info[1] is not None:
        line += "".join(traceback.format_exception(record.exc_info[1]))
    return line


def _listen() -> None:
    if not isinstance(logging.getLogRecordFactory(), _Records):
        with _listening:
            if not isinstance(logging.getLogRecordFactory(), _Records):
                logging.setLogRecordFactory(_Records())


class _Overheard:
    """A stream whose texts go into the log of the attempt that prints them, too."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if (log := _current.get()) is not None:
            log.add(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def overheard_prints() -> Generator[None]:
    """In the block, what attempts print goes into their logs, too."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Overheard(before[0]), _Overheard(before[1])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
