"""A plug-in for pytest: plays each test that the page of requirements names on broken code.

For every row that names it, a test is played while the modules that the row names are broken. What
came of it goes to the file REPORT: {row: {test: outcomes}}.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.broken_code import broken
from tests.specification_page import ROWS

REPORT = "GREENROOM_TEST_REPORT"

PLACES = pytest.StashKey[list[str]]()

_found: dict[str, dict[str, list[str]]] = {}


def pytest_sessionstart() -> None:
    # Nobody waits long for a broken server.
    socket.setdefaulttimeout(5)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    name = getattr(item, "originalname", item.name)
    for row in ROWS:
        if name in row.tests:
            outcomes = _found.setdefault(row.requirement, {}).setdefault(name, [])
            outcomes.append(_played(item, row.places))
    _teardown(item, nextitem)
    return True


def _played(item: Any, places: list[str]) -> str:
    item.stash[PLACES] = places
    item._initrequest()
    # The fixtures of its module are sound, and stay for the next time.
    reports = runtestprotocol(item, log=False, nextitem=item.parent)
    outcomes = {report.when: report.outcome for report in reports}
    if outcomes.get("call") != "passed":
        return outcomes.get("call", "skipped" if outcomes["setup"] == "skipped" else "not set up")
    # What it shows may happen in processes that fixtures have started before.
    item.stash[PLACES] = []
    _teardown(item, None)
    item._initrequest()
    with TemporaryDirectory() as folder, broken(places, Path(folder)):
        reports = runtestprotocol(item, log=False, nextitem=None)
    return "failed" if any(one.when != "teardown" and one.failed for one in reports) else "passed"


def _teardown(item: Any, nextitem: pytest.Item | None) -> None:
    item.session._setupstate.teardown_exact(nextitem)


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    places = pyfuncitem.stash[PLACES]
    with TemporaryDirectory() as folder, broken(places, Path(folder)) if places else nullcontext():
        yield


def pytest_sessionfinish() -> None:
    Path(os.environ[REPORT]).write_text(json.dumps(_found))
