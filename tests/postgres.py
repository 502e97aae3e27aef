"""A real PostgreSQL server for tests, started as an unprivileged user and gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

import pytest

MISSING = "no PostgreSQL server here (Debian: apt-get install postgresql)"


def program(name: str) -> str | None:
    """A program of the server, on the path or where Debian keeps it."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(map(str, folders)))


class Postgres:
    """A running server that is reached by a socket in its folder."""

    def __init__(self, folder: Path, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self._folder = folder
        self._start = start

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._process = self._start()
        _wait_until_ready(self, self._process)

    def stop(self) -> None:
        """Stop the server at once; connections are cut."""
        self._process.send_signal(signal.SIGQUIT)  # nothing has to be written to the disk
        self._process.wait(timeout=20)

    def url(self, schema: str = "public") -> str:
        """The address of its database, where tables are those of one schema."""
        place = urlencode({"host": self._folder, "options": f"-csearch_path={schema}"})
        return f"postgresql://greenroom:not-a-secret@/postgres?{place}"

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self._folder / ".s.PGSQL.5432"

    def new_database(self) -> str:
        """The address of an empty schema: a database of its own takes a hundred times as long."""
        import psycopg

        name = f"test_{uuid4().hex[:12]}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return self.url(name)


@contextmanager
def running_postgres() -> Generator[Postgres]:
    """Start a server with an empty database of its own."""
    initdb, server = program("initdb"), program("postgres")
    if initdb is None or server is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING, pytrace=False)
        pytest.skip(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="greenroom-pg-", dir="/tmp"))
    user = _unprivileged(folder)
    data = folder / "data"
    try:
        subprocess.run(
            [initdb, "-D", data, "-U", "greenroom", "--auth=trust", "--no-sync"],
            check=True,
            capture_output=True,
            user=user,
            cwd=folder,
        )
        options = ("-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}")
        postgres = Postgres(
            folder,
            lambda: subprocess.Popen(
                [server, "-D", data, *options, "-c", "fsync=off", "-c", "autovacuum=off"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                user=user,
                cwd=folder,
            ),
        )
        postgres.start()
        try:
            yield postgres
        finally:
            postgres.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder: Path) -> str | None:
    # The server refuses to run as root.
    if os.geteuid() != 0:
        return None
    name = next(
        n for n in ("postgres", "nobody") if n in {entry.pw_name for entry in pwd.getpwall()}
    )
    shutil.chown(folder, name)
    return name


def _wait_until_ready(server: Postgres, process: subprocess.Popen[bytes]) -> None:
    import psycopg

    for _ in range(300):
        assert process.poll() is None, "the PostgreSQL server did not start"
        try:
            psycopg.connect(server.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the PostgreSQL server did not answer")
