"""`attempts`: what broke in the night can be read in the morning."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.store import open_store
from tests.cli.running import Greenroom

AGENT = """
import logging

from greenroom.domains import Action
from greenroom.errors import OutsideFault

log = logging.getLogger("shop")
seen = set()


async def shaky(stage):
    place = stage.opening
    print("hello from the agent")
    if place not in seen:
        seen.add(place)
        log.warning("the key is %s", "opensesame-1234")
        raise OutsideFault("the shop is closed")
    find_order({})


def find_order(orders):
    return orders["#W1"]
"""
APP = """
from greenroom import workflow


@workflow
def half(n: int) -> int:
    return n // 0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOP_API_KEY", "opensesame-1234")
    (tmp_path / "agents.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    return tmp_path


def test_logs_of_attempts_are_read(greenroom: Greenroom) -> None:
    begun = ("run", "--agent-strategy", "agents.py:shaky", "--name", "night")
    greenroom(*begun, "--task-ids", "3", "5", "--max-concurrency", "1", "--processes", "0")
    assert greenroom("worker", "--run", "night").status == 0
    logs = greenroom("runs", "attempts", "night", "--log", "--json").json
    assert [(one["task"], one["ended"]) for one in logs] == [
        (3, "infrastructure_error"),
        (3, "crashed"),
        (5, "infrastructure_error"),
        (5, "crashed"),
    ]
    first, second = logs[:2]
    assert "WARNING shop: the key is [SHOP_API_KEY]" in first["log"]
    assert "OutsideFault: the shop is closed" in first["log"]
    assert "opensesame" not in str(logs)
    assert "the key is" not in second["log"]
    assert 'return orders["#W1"]' in second["log"]
    assert "KeyError: '#W1'" in second["log"]
    assert "hello from the agent" in second["log"]
    shown = greenroom("runs", "attempts", "night", "--task", "5", "--trial", "0", "--log").out
    assert shown.count("Task 5, trial 0, begun ") == 2
    assert "Task 3" not in shown
    assert "    KeyError: '#W1'" in shown
    assert greenroom("runs", "attempts", "night", "--trial", "0").status == 2
    # The broken attempts are listed as before, and the logs go with the conversations.
    assert len(greenroom("runs", "attempts", "night", "--json").json) == 2
    assert greenroom("runs", "prune", "--run", "night", "--yes").status == 0
    assert "has said anything" in greenroom("runs", "attempts", "night", "--log").out


def test_what_breaks_a_workflow_is_read(greenroom: Greenroom) -> None:
    store = open_store()
    store.test_sets.save("numbers", [{"n": 4, "expected": 2}])
    store.close()
    asked = ("eval", "app.py:half", "numbers", "-e", "exact_match", "--name", "halved")
    assert greenroom(*asked).status in (0, 1)
    (one,) = greenroom("evals", "attempts", "halved", "--row", "1", "--log", "--json").json
    assert (one["row"], one["repeat"], one["ended"]) == (1, 1, "crashed")
    assert "return n // 0" in one["log"]
    assert "ZeroDivisionError" in one["log"]
    assert greenroom("evals", "delete", "halved", "--yes").status == 0
