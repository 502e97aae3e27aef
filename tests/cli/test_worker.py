"""`greenroom worker` among several jobs: one that it cannot help with does not hold it up."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.cli.running import Greenroom
from tests.postgres import Postgres

AGENTS = """
from greenroom import report_usage
from greenroom.domains import Action


async def paid(stage):
    report_usage(cost=1.0)
    await stage.step(Action("transfer_to_human_agents", {"summary": "no"}))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents.py").write_text(AGENTS, encoding="utf-8")
    return tmp_path


def begin(greenroom: Greenroom, name: str, *more: str) -> None:
    words = ("run", "--task-ids", "3", "5", "7", "--max-concurrency", "1", "--name", name)
    assert greenroom(*words, "--processes", "0", *more).status == 0


@pytest.mark.slow
def test_what_cannot_be_helped_with_keeps_nobody_from_the_others(
    greenroom: Greenroom, folder: Path
) -> None:
    begin(greenroom, "paused", "--agent-strategy", "synthetic")
    assert greenroom("runs", "pause", "paused").status == 0
    begin(greenroom, "gone", "--agent-strategy", "agents.py:paid")
    begin(greenroom, "last", "--agent-strategy", "synthetic")
    (folder / "agents.py").unlink()
    worked = greenroom("worker", "--json")
    assert worked.status == 2
    assert "gone: " in worked.err
    assert "agents.py" in worked.err
    assert [(one["name"], one["results"]) for one in worked.json["worked_on"]] == [("last", 3)]


@pytest.mark.slow
def test_a_budget_that_is_spent_keeps_nobody_from_the_others(greenroom: Greenroom) -> None:
    begin(greenroom, "dear", "--agent-strategy", "agents.py:paid", "--max-cost", "1.5")
    begin(greenroom, "last", "--agent-strategy", "synthetic")
    worked = greenroom("worker", "--json")
    assert worked.status == 3
    assert "dear: The budget of $1.50 is spent" in worked.err
    assert [(one["name"], one["results"]) for one in worked.json["worked_on"]] == [
        ("dear", 2),
        ("last", 3),
    ]


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://me:secret@127.0.0.1/x", "Others can read a password in a command"),
        ("postgresql://127.0.0.1/x?password=secret", "Others can read a password in a command"),
        ("nightly", "The URL is not a database URL"),
        ("mysql://me@127.0.0.1/x", "The URL names a mysql database"),
    ],
)
def test_urls_that_are_refused(greenroom: Greenroom, url: str, told: str) -> None:
    refused = greenroom("worker", url)
    assert refused.status == 2
    assert told in refused.err
    assert "secret" not in refused.err


@pytest.mark.parametrize(("ahead", "how"), [(100.0, "ahead of"), (-100.0, "behind")])
def test_a_machine_whose_clock_is_wrong_does_not_share(
    greenroom: Greenroom,
    postgres: Postgres,
    monkeypatch: pytest.MonkeyPatch,
    ahead: float,
    how: str,
) -> None:
    monkeypatch.setenv("GREENROOM_DATABASE_URL", postgres.new_database())
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + ahead)
    refused = greenroom("worker")
    assert refused.status == 2
    assert re.search(rf"is (99|10\d) seconds {how} the database's: set it right", refused.err)


def test_it_helps_with_one_or_with_all(greenroom: Greenroom) -> None:
    assert "not more" in greenroom("worker", "--run", "a", "--evaluation", "b").err
    assert "--wait takes whatever comes" in greenroom("worker", "--run", "a", "--wait").err
    assert "Nothing waits for a worker" in greenroom("worker").err
