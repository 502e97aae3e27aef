"""What several tests share."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import pytest_timeout  # pyright: ignore[reportMissingTypeStubs]
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
TAU2_DATA = Path(os.environ.get("GREENROOM_TAU2_DATA") or ROOT / "../shared/data/tau2")
NO_TAU2_DATA = f"no data of tau2-bench at {TAU2_DATA}: set GREENROOM_TAU2_DATA to its directory"

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell: the programs that tests interrupt would ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    # Started by nohup: the programs that tests hang up on would go on.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile(
    "greenroom", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("quick", parent=settings.get_profile("greenroom"), max_examples=15)
settings.load_profile("greenroom")

WHOLLY_SLOW = {
    "agents/test_a2a_agent.py": "agents of the A2A SDK, served",
    "agents/test_fastworkflow_agent.py": "FastWorkflow itself, trained",
    "agents/test_fastworkflow_bridge.py": "FastWorkflow itself, in processes of its own",
    "agents/test_fastworkflow_versions.py": "another FastWorkflow, which is fetched first",
    "agents/test_five_ways.py": "twenty tasks in every way, with the real frameworks",
    "agents/test_framework_hints.py": "real frameworks, which take seconds to load",
    "agents/test_frameworks.py": "LangGraph, pydantic-ai and OpenAI's Agents SDK, over HTTP",
    "agents/test_frameworks_rewound.py": "real frameworks, and each episode again from each turn",
    "agents/test_from_langgraph.py": "LangGraph, which takes seconds to load",
    "agents/test_from_dspy.py": "dspy, which takes seconds to load",
    "agents/test_hostile_commands.py": "programs that print gigabytes, hang and fork",
    "agents/test_many_at_once.py": "two hundred episodes over HTTP",
    "analysis/test_simulations.py": "a thousand repetitions of each setting",
    "benchmark/test_sessions_of_clients.py": "clients of OpenAI, Agenta and the AI SDK",
    "benchmark/test_worker_kills.py": "workers are killed, and their database, too",
    "cli/test_processes.py": "commands start worker processes, and lose them",
    "cli/test_ray.py": "a Ray cluster, whose processes and nodes are killed",
    "store/test_postgres.py": "PostgreSQL servers of their own, and many processes",
    "cli/test_shared_jobs.py": "starts commands and workers",
    "chaos/test_clock.py": "jobs in processes whose clock jumps",
    "chaos/test_full_disk.py": "jobs in processes that run out of disk",
    "chaos/test_half_open.py": "jobs in processes, and connections that hang",
    "chaos/test_killed.py": "jobs in processes, whose servers are killed",
    "chaos/test_provider_outages.py": "jobs in processes that wait for their provider",
    "chaos/test_signals.py": "jobs in processes that are stopped",
    "chaos/test_store_outages.py": "jobs in processes, whose database is stopped",
    "evaluation/test_runs_servers.py": "servers that stall, over seconds",
    "judges/test_checks.py": "judges behind HTTP, asked hundreds of times",
    "playground/test_accessibility.py": "a browser on every page",
    "playground/test_agenta.py": "a server of Agenta, in another environment",
    "playground/test_bounds.py": "thousands of episodes, rows and messages in a browser",
    "playground/test_build.py": "Node writes the types anew",
    "playground/test_chat_pages.py": "a browser",
    "playground/test_completion_pages.py": "a browser",
    "playground/test_deleted.py": "a browser, and pages that look every ten seconds",
    "playground/test_evaluation_pages.py": "a browser",
    "playground/test_hostile_text.py": "a browser on every page",
    "playground/test_note_pages.py": "a browser",
    "playground/test_processes.py": "playgrounds in processes of their own, which are killed",
    "playground/test_rewind_pages.py": "pages in a browser, over both stores",
    "playground/test_run_pages.py": "a browser, and a run of 2,000 episodes",
    "playground/test_simulated_user_pages.py": "a browser",
    "playground/test_testset_pages.py": "a browser",
    "playground/test_thread_pages.py": "a browser",
    "playground/test_tour.py": "a browser goes through the tour",
    "playground/test_typed_pages.py": "fields are typed in and measured in a browser",
    "reports/test_browser.py": "a browser",
    "reports/test_large_runs.py": "runs of thousands of episodes are exported in every form",
    "strange/test_commands.py": "strange values through every command",
    "strange/test_evaluations.py": "strange values through whole evaluations",
    "strange/test_runs.py": "strange agents through whole runs",
    "strange/test_wire.py": "strange values through servers",
    "test_packaging.py": "a wheel is built and installed",
    "test_planted_secrets.py": "every command, against a server",
    "tracing/test_gateway.py": "agents with clients of their own, over HTTP",
    "training/test_other_tools.py": "verifiers and OpenEnv, in another environment",
    "trials/test_outages.py": "jobs that wait for their store",
    "workflows/test_agenta_interop.py": "servers and clients of Agenta, in another environment",
    "workflows/test_serving_exhaustion.py": "hundreds of clients that hold on to a server",
    "workflows/test_serving_generated.py": "inputs that take seconds to generate",
    "workflows/test_use_chat.py": "useChat under Node, which is fetched first",
}
"""The modules that `make check` leaves out as a whole, and what makes all of their tests slow."""

SLOW_SECONDS = 180
"""How long a slow test may take."""


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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep all that is imported and collected out of the garbage collector's way.

    It would look through these million objects again and again, for a fifth of all time. Through
    what tests make it looks less often than usual: that was another sixth.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 100)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests through litellm are slow: importing it takes seconds in each process.

    So are those on PostgreSQL, each with a schema of its own, except where the store itself is
    tested: what is above it does not know its database.

    A slow test has more time and a second try, which is listed: a busy machine is late at times.
    """
    of_the_store = Path(__file__).parent / "store"
    for item in items:
        params: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
        on_postgres = params.get("any_database") == "postgres"
        if params.get("transport") == "litellm" or (
            on_postgres and not item.path.is_relative_to(of_the_store)
        ):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.flaky(reruns=1))
            if not item.get_closest_marker("timeout"):
                item.add_marker(pytest.mark.timeout(SLOW_SECONDS))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if getattr(item, "execution_count", 1) > 1:
        # The time of the first try ended with it, and pytest-timeout knows of no second one.
        limit: Any = pytest_timeout._get_item_settings(item)  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
        item.config.pluginmanager.hook.pytest_timeout_set_timer(item=item, settings=limit)
    needed = {"official": (OFFICIAL_DATA, NO_OFFICIAL_DATA), "tau2_data": (TAU2_DATA, NO_TAU2_DATA)}
    for mark, (directory, problem) in needed.items():
        if item.get_closest_marker(mark) and not (directory / "retail").is_dir():
            if os.environ.get("CI"):
                pytest.fail(problem, pytrace=False)
            pytest.skip(problem)


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
    collectors = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    for name in ("GREENROOM_DATA", "GREENROOM_DEBUG", *collectors):
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
