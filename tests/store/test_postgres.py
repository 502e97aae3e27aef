"""A PostgreSQL server as teams run it: roles with few rights, many that start at once, failover."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from threading import Thread

import psycopg
import pytest
from sqlalchemy import text

from greenroom.domains.domain import load_domain
from greenroom.model_server import running_server
from greenroom.store import Patience, open_store, schema_version
from greenroom.store.schema import SCHEMA_VERSION
from tests.cli.running import Greenroom
from tests.postgres import Postgres, running_postgres
from tests.store.samples import sample_run
from tests.store.test_migrations import former_database

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs" / "store.md"
ROLES = ("reader", "worker", "operator")
APP = """
from greenroom import workflow


@workflow
def double(n: int) -> int:
    return 2 * n
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Generator[Postgres]:
    """A server of its own: roles and settings are those of the whole server."""
    monkeypatch.chdir(tmp_path)
    with running_postgres() as running:
        monkeypatch.setenv("GREENROOM_DATABASE_URL", running.url())
        yield running


def statements(postgres: Postgres, *sql: str) -> None:
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(b"SET default_transaction_read_only = off")
        for one in sql:
            connection.execute(one.encode())


def documented_grants() -> list[str]:
    (block,) = re.findall(r"```sql\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for line in block.splitlines() if not line.startswith("--")]
    return [one.strip() for one in "\n".join(lines).split(";") if one.strip()]


def as_role(postgres: Postgres, role: str) -> str:
    return postgres.url().replace("greenroom:", f"{role}:", 1)


def test_the_documented_privileges_are_enough_and_no_more(
    server: Postgres, greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert greenroom("store", "show").status == 0  # the owner makes the tables
    statements(server, *(f"CREATE ROLE {role} LOGIN" for role in ROLES), *documented_grants())
    Path("app.py").write_text(APP, encoding="utf-8")
    monkeypatch.setenv("GREENROOM_DATABASE_URL", as_role(server, "operator"))
    with running_server(load_domain("retail")) as models:
        run = ("run", "--agent-strategy", "synthetic", "--num-trials", "2", "--name", "night")
        ask = ("identify", "before", "--judge-model", "judge", "--judge-api-base", models.api_base)
        begun: Sequence[Sequence[object]] = [
            ("run", "--agent-strategy", "synthetic", "--name", "before"),
            (*run, "--max-cost", "5", "--processes", "0"),
            (*ask, "--processes", "0"),
            ("regrade", "before", "--processes", "0"),
        ]
        for words in begun:
            assert greenroom(*words).status == 0
        store = open_store()
        store.test_sets.save("numbers", [{"n": n, "expected": 2 * n} for n in range(20)])
        words = ("eval", "app.py:double", "numbers", "-e", "exact_match", "--name", "doubled")
        assert greenroom(*words, "--processes", "0").status == 0
        # Whoever helps can begin nothing, delete nothing, and change no table.
        monkeypatch.setenv("GREENROOM_DATABASE_URL", as_role(server, "worker"))
        worked = greenroom("worker", "--json")
    assert worked.status == 0, worked.err
    kinds = [one["kind"] for one in worked.json["worked_on"]]
    assert kinds == ["run", "evaluation", "judging", "regrading"]
    for jobs, name in zip(
        store.all_jobs, ("night", "doubled", "before-judged-1", "before-regraded-1"), strict=True
    ):
        assert jobs.find(name).status == "complete"
    store.close()
    for words in (("runs", "delete", "night", "--yes"), ("runs", "pause", "night"), run):
        assert "permission denied" in greenroom(*words).err
    monkeypatch.setenv("GREENROOM_DATABASE_URL", as_role(server, "reader"))
    for words in (
        ("runs", "list"),
        ("runs", "show", "night"),
        ("runs", "export", "night"),
        ("runs", "attempts", "night", "--log"),
        ("runs", "watch", "night"),
        ("evals", "show", "doubled"),
        ("judgings", "show", "before-judged-1"),
        ("regradings", "show", "before-regraded-1"),
        ("compare", "before", "night"),
        ("store", "show"),
    ):
        assert greenroom(*words).status == 0, words
    assert "permission denied" in greenroom("worker", "--run", "night").err
    monkeypatch.setenv("GREENROOM_DATABASE_URL", as_role(server, "operator"))
    assert greenroom("runs", "pause", "night").status == 0
    assert greenroom("runs", "prune", "--run", "night", "--yes").status == 0
    assert greenroom("runs", "delete", "night", "--yes").status == 0
    # An older schema is brought up to date by its owner alone.
    statements(server, "UPDATE meta SET value = '5' WHERE key = 'schema_version'")
    refused = greenroom("runs", "list")
    assert refused.status == 2
    assert "let their owner run 'greenroom store show'" in refused.err


@pytest.mark.parametrize("older", [False, True])
def test_eight_processes_start_at_once(server: Postgres, tmp_path: Path, older: bool) -> None:
    if older:
        former_database(tmp_path, 2).dispose()
    command = [sys.executable, "-m", "greenroom", "store", "show", "--json"]
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    for process in started:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert f'"schema": {SCHEMA_VERSION}' in out
    store = open_store()
    assert schema_version(store.engine) == SCHEMA_VERSION
    assert len(store.runs.all()) == (3 if older else 0)
    store.close()


def test_a_server_that_has_become_a_standby_is_waited_out(
    server: Postgres, capfd: pytest.CaptureFixture[str]
) -> None:
    store = open_store()
    statements(server, "ALTER SYSTEM SET default_transaction_read_only = on")
    statements(server, "SELECT pg_reload_conf()")

    def is_read_only() -> bool:
        with store.engine.connect() as connection:
            return connection.execute(text("SHOW transaction_read_only")).scalar() == "on"

    until(is_read_only, "the change of the server")
    patience = Patience("greenroom resume sample")
    create = Thread(target=partial(patience.call, partial(store.runs.create, sample_run())))
    create.start()
    said = ""

    def waits() -> bool:
        nonlocal said
        said += capfd.readouterr().err
        return "Waiting for it, up to 300 seconds." in said

    until(waits, "the wait")
    assert "read-only" in said
    statements(server, "ALTER SYSTEM RESET default_transaction_read_only")
    statements(server, "SELECT pg_reload_conf()")
    create.join(60)
    assert "The database is back" in capfd.readouterr().err
    assert store.runs.find("sample").name == "sample"
    store.close()


@pytest.mark.parametrize(("more", "timeout"), [("", "30000"), ("&tcp_user_timeout=500", "500")])
def test_a_server_that_vanishes_is_missed_soon(postgres: Postgres, more: str, timeout: str) -> None:
    store = open_store(postgres.new_database() + more)
    with store.engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        found = driver.info.get_parameters()
    store.close()
    assert found["tcp_user_timeout"] == timeout
    assert int(found["keepalives_idle"]) < 30
    assert int(found["connect_timeout"]) < 30


@pytest.mark.parametrize(
    ("changed", "told"), [("nobody:", 'role "nobody"'), ("/nowhere", 'database "nowhere"')]
)
def test_a_server_that_refuses_is_not_waited_for(
    postgres: Postgres,
    greenroom: Greenroom,
    monkeypatch: pytest.MonkeyPatch,
    changed: str,
    told: str,
) -> None:
    name = "greenroom:" if changed.endswith(":") else "/postgres"
    monkeypatch.setenv("GREENROOM_DATABASE_URL", postgres.url().replace(name, changed, 1))
    refused = greenroom("worker")
    assert refused.status == 2
    assert f"{told} does not exist" in refused.err
    assert "Waiting" not in refused.err


def test_a_worker_keeps_two_connections_and_has_a_few_more_for_moments(
    server: Postgres, greenroom: Greenroom
) -> None:
    run = ("run", "--agent-strategy", "synthetic", "--num-trials", "10", "--name", "busy")
    assert greenroom(*run, "--max-concurrency", "60", "--processes", "0").status == 0
    command = [sys.executable, "-m", "greenroom", "worker", "--run", "busy"]
    worker = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    most = 0
    with psycopg.connect(server.url(), autocommit=True) as connection:
        while worker.poll() is None:
            row = connection.execute(
                b"SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' "
                b"AND pid <> pg_backend_pid()"
            ).fetchone()
            assert row is not None
            most = max(most, row[0])
    assert worker.returncode == 0
    assert 1 <= most <= 5, "four threads of the store, and one moment for the first look"


def until(happened: object, what: str) -> None:
    assert callable(happened)
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.05)
