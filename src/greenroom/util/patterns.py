"""Regular expressions that others wrote: a match that takes too long is given up.

Python cannot stop a match. So patterns that may take long are matched in a process of their own,
which ends itself. Processes are kept and used again.
"""

from __future__ import annotations

import atexit
import json
import math
import re
import subprocess
import sys
import warnings
from contextlib import suppress
from functools import lru_cache
from multiprocessing.spawn import get_executable

import anyio.to_thread

MATCH_SECONDS = 5.0
_CHEAP_STEPS = 1_000_000
_BRANCHES = re.compile(r"[*+?{|]")
_REPEATED_GROUP = re.compile(r"\)[*+?{]")
# The clock of faulthandler runs while a match holds the interpreter.
_MATCHER = """\
import faulthandler, json, re, sys
try:
    for line in sys.stdin:
        pattern, text, flags, full, seconds = json.loads(line)
        compiled = re.compile(pattern, flags)
        faulthandler.dump_traceback_later(seconds, exit=True)
        found = (compiled.fullmatch if full else compiled.search)(text)
        faulthandler.cancel_dump_traceback_later()
        print(-1 if found is None else found.start(), flush=True)
except Exception:
    sys.exit(2)"""
_TOOK_TOO_LONG = 1  # the exit status that faulthandler gives


@lru_cache(maxsize=1024)
def compiled(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """A regular expression; ValueError if the pattern is invalid."""
    with warnings.catch_warnings():
        # What a later Python may read differently is no fault of the text that is compared.
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern, re.IGNORECASE if ignore_case else 0)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"'{pattern}' is no regular expression: {error}") from error


async def match_start(pattern: re.Pattern[str], text: str, *, full: bool) -> int:
    """Where a pattern matches, or -1; TimeoutError after MATCH_SECONDS."""
    if _is_cheap(pattern.pattern, text):
        found = pattern.fullmatch(text) if full else pattern.search(text)
        return -1 if found is None else found.start()
    asked = json.dumps([pattern.pattern, text, pattern.flags, full, MATCH_SECONDS])
    worker = _free_worker()
    try:
        start = await anyio.to_thread.run_sync(_ask, worker, asked, abandon_on_cancel=True)
    except BaseException:
        _end(worker)  # the thread of a cancelled match ends with it
        raise
    _idle.append(worker)
    return start


def _is_cheap(pattern: str, text: str) -> bool:
    """Whether few steps are certain: without repeated groups, each branch is one more factor."""
    branches = len(_BRANCHES.findall(pattern))
    return _REPEATED_GROUP.search(pattern) is None and (
        math.log(max(len(text), 2)) * (branches + 1) <= math.log(_CHEAP_STEPS)
    )


_Worker = subprocess.Popen[str]
_idle: list[_Worker] = []


def end_idle_workers() -> None:
    """End the processes that wait for work; others start when they are needed."""
    while _idle:
        _end(_idle.pop())


atexit.register(end_idle_workers)


def _free_worker() -> _Worker:
    while _idle:
        worker = _idle.pop()
        if worker.poll() is None:
            return worker
        _end(worker)
    interpreter = get_executable()
    if not interpreter or getattr(sys, "frozen", False):
        raise RuntimeError("a costly pattern needs a Python interpreter to be matched in")
    return subprocess.Popen(  # noqa: S603 - our own program
        [interpreter, "-I", "-S", "-c", _MATCHER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="ascii",
        start_new_session=True,  # Ctrl-C is for this process, which ends the others
    )


def _ask(worker: _Worker, asked: str) -> int:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{asked}\n")
    worker.stdin.flush()
    if answer := worker.stdout.readline():
        return int(answer)
    if worker.wait() == _TOOK_TOO_LONG:
        raise TimeoutError
    raise RuntimeError("the process that matches patterns ended")


def _end(worker: _Worker) -> None:
    worker.kill()
    worker.wait()
    for stream in (worker.stdin, worker.stdout):
        with suppress(OSError):  # a part of the question may not have been taken
            if stream is not None:
                stream.close()
