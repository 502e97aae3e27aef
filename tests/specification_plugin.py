"""A plug-in for pytest: plays each test that the page of requirements names on broken code.

For every row that names it, a test is played while the modules that the row names are broken. What
came of it goes to the file REPORT: {row: {test: outcomes}}.
"""

from __future__ import annotations

import json
import os
import socket
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
    played: Any = item
    for row in ROWS:
        if name in row.tests:
            item.stash[PLACES] = row.places
            played._initrequest()
            # The fixtures of its module stay for the next time.
            reports = runtestprotocol(item, log=False, nextitem=played.parent)
            _found.setdefault(row.requirement, {}).setdefault(name, []).append(_outcome(reports))
    played.session._setupstate.teardown_exact(nextitem)
    return True


def _outcome(reports: list[pytest.TestReport]) -> str:
    outcomes = {report.when: report.outcome for report in reports}
    return outcomes.get("call", "skipped" if outcomes["setup"] == "skipped" else "not set up")


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    # Fixtures are sound: what fails is the test itself.
    with TemporaryDirectory() as folder, broken(pyfuncitem.stash[PLACES], Path(folder)):
        yield


def pytest_sessionfinish() -> None:
    Path(os.environ[REPORT]).write_text(json.dumps(_found))
