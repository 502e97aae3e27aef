"""What several tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from greenroom import store as stores
from greenroom.domains.domain import Domain, load_domain
from greenroom.store import Store, open_store
from greenroom.util import imports
from greenroom.util.characters import writable
from tests.cli.running import Greenroom
from tests.postgres import Postgres, running_postgres

ROOT = Path(__file__).parents[1]
OFFICIAL_DATA = Path(os.environ.get("GREENROOM_DATA") or ROOT / "../shared/data/tau-bench")
NO_OFFICIAL_DATA = (
    f"no official Tau Bench data at {OFFICIAL_DATA}: set GREENROOM_DATA to a pack directory"
)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell: the programs that tests interrupt would ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "greenroom", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("quick", parent=settings.get_profile("greenroom"), max_examples=15)
settings.load_profile("greenroom")

WHOLLY_SLOW = {
    "analysis/test_simulations.py": "a thousand repetitions of each setting",
    "agents/test_fastworkflow_agent.py": "FastWorkflow itself, trained",
    "agents/test_fastworkflow_bridge.py": "FastWorkflow itself, in processes of its own",
    "agents/test_fastworkflow_versions.py": "another FastWorkflow, which is fetched first",
    "benchmark/test_sessions_of_clients.py": "clients of OpenAI, Agenta and the AI SDK",
    "chaos/test_clock.py": "jobs in processes whose clock jumps",
    "chaos/test_full_disk.py": "jobs in processes that run out of disk",
    "chaos/test_half_open.py": "jobs in processes, and connections that hang",
    "chaos/test_killed.py": "jobs in processes, whose servers are killed",
    "chaos/test_provider_outages.py": "jobs in processes that wait for their provider",
    "chaos/test_signals.py": "jobs in processes that are stopped",
    "chaos/test_store_outages.py": "jobs in processes, whose database is stopped",
    "reports/test_browser.py": "a browser",
    "reports/test_large_runs.py": "runs of thousands of episodes are exported in every form",
    "test_planted_secrets.py": "every command, against a server",
    "test_packaging.py": "a wheel is built and installed",
    "workflows/test_agenta_interop.py": "servers and clients of Agenta, in another environment",
    "workflows/test_serving_generated.py": "inputs that take seconds to generate",
    "workflows/test_use_chat.py": "useChat under Node, which is fetched first",
}
"""The modules that `make check` leaves out as a whole, and what makes all of their tests slow."""


def is_quick(config: pytest.Config) -> bool:
    """Whether slow tests are left out."""
    return "not slow" in config.option.markexpr


def pytest_configure(config: pytest.Config) -> None:
    if not is_quick(config):
        config.pluginmanager.import_plugin("schemathesis", consider_entry_points=True)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out at once what is slow as a whole: its imports take seconds too."""
    wholly_slow = {Path(__file__).parent / name for name in WHOLLY_SLOW}
    return True if is_quick(config) and collection_path in wholly_slow else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests through litellm are slow: importing it takes seconds in each process."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and callspec.params.get("transport") == "litellm":
            item.add_marker(pytest.mark.slow)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("official") and not (OFFICIAL_DATA / "retail").is_dir():
        if os.environ.get("CI"):
            pytest.fail(NO_OFFICIAL_DATA, pytrace=False)
        pytest.skip(NO_OFFICIAL_DATA)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Clean what a test printed: one half of a surrogate pair would end the whole session."""
    report = yield
    report.sections = [(name, writable(text)) for name, text in report.sections]
    if report.longrepr is not None and not isinstance(report.longrepr, tuple):
        text = str(report.longrepr)
        if text != writable(text):
            report.longrepr = writable(text)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = len(terminalreporter.stats.get("skipped", []))
    if skipped:
        terminalreporter.write_line(f"{skipped} tests were skipped; the reasons are listed above.")


@pytest.fixture
def greenroom(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Generator[Greenroom]:
    """The command. Each opens the store for itself, which in life ends with its process."""
    opened: list[Store] = []

    def noted(*given: Any, **options: Any) -> Store:
        opened.append(open_store(*given, **options))
        return opened[-1]

    monkeypatch.setattr(stores, "open_store", noted)
    yield Greenroom(capsys)
    for store in opened:
        store.close()


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the settings, the cache or the runs of whoever runs it."""
    imports._LOADED.clear()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{tmp_path}/runs.db")
    for name in ("GREENROOM_DATA", "GREENROOM_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GREENROOM_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def official_data() -> Path:
    """The directory of the official data; for tests that carry the mark `official`."""
    return OFFICIAL_DATA


@pytest.fixture(scope="session")
def official_retail(official_data: Path) -> Domain:
    return load_domain("retail", official_data)


@pytest.fixture(scope="session")
def official_airline(official_data: Path) -> Domain:
    return load_domain("airline", official_data)


@pytest.fixture(scope="session")
def retail() -> Domain:
    """The retail domain with its built-in data."""
    return load_domain("retail")


@pytest.fixture(scope="session")
def postgres() -> Generator[Postgres]:
    """A PostgreSQL server, for as long as the tests run."""
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def any_database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each kind of database in turn: fresh, and named by the environment."""
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        monkeypatch.setenv("GREENROOM_DATABASE_URL", server.new_database())
    return str(request.param)


@pytest.fixture
def store(any_database: str) -> Generator[Store]:
    """An empty store, on each kind of database in turn."""
    opened = open_store()
    yield opened
    opened.close()
