"""The store: runs, evaluations, judgings, test sets, conversations and notes in one database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine

from greenroom.store.boards import Boards, WorkflowAddresses
from greenroom.store.database import database_url, describe, open_engine
from greenroom.store.jobs import Jobs
from greenroom.store.kinds import (
    EVALUATIONS,
    JUDGINGS,
    REGRADINGS,
    RUNS,
    Evaluations,
    Judgings,
    Regradings,
    Runs,
)
from greenroom.store.migrations import prepare_database
from greenroom.store.notes import Notes
from greenroom.store.test_sets import TestSets
from greenroom.store.threads import Threads
from greenroom.store.turns import Turns


class Store:
    """Everything that is kept. Safe to use from several threads and several processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        try:
            prepare_database(engine)
        except BaseException:
            engine.dispose()
            raise
        self.runs: Runs = Jobs(engine, RUNS)
        self.evaluations: Evaluations = Jobs(engine, EVALUATIONS)
        self.judgings: Judgings = Jobs(engine, JUDGINGS)
        self.regradings: Regradings = Jobs(engine, REGRADINGS)
        self.test_sets = TestSets(engine)
        self.boards = Boards(engine)
        self.threads = Threads(engine)
        self.turns = Turns(engine)
        self.addresses = WorkflowAddresses(engine)
        self.notes = Notes(engine)

    @property
    def engine(self) -> Engine:
        """The database's engine."""
        return self._engine

    @property
    def all_jobs(self) -> tuple[Jobs[Any, Any, Any], ...]:
        """Every kind of job, in the order in which workers look for work."""
        return self.runs, self.evaluations, self.judgings, self.regradings

    @property
    def location(self) -> str:
        """Where the database is, without a password."""
        return describe(self._engine.url)

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()


def open_store(url: str | None = None) -> Store:
    """The store at a URL, or the one that the environment names; created if it is not there yet."""
    return Store(open_engine(database_url(url)))
