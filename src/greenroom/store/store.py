"""The store: runs, evaluations, judgings and test sets in one database."""

from __future__ import annotations

from sqlalchemy import Engine

from greenroom.store.database import database_url, describe, open_engine
from greenroom.store.jobs import Jobs
from greenroom.store.kinds import EVALUATIONS, JUDGINGS, RUNS, Evaluations, Judgings, Runs
from greenroom.store.migrations import prepare_database
from greenroom.store.test_sets import TestSets


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
        self.test_sets = TestSets(engine)

    @property
    def engine(self) -> Engine:
        """The database's engine."""
        return self._engine

    @property
    def location(self) -> str:
        """Where the database is, without a password."""
        return describe(self._engine.url)

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()


def open_store() -> Store:
    """The store that the environment names, created if it is not there yet."""
    return Store(open_engine(database_url()))
