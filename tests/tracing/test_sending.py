"""A collector that is away, slow or wrong never breaks a run, and nobody pays for one without."""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import sys
import threading
import time
from typing import Any

import anyio
import pytest

from greenroom.benchmark import check_config, play_run, reopen_run, start_run
from greenroom.store import Store, open_store
from greenroom.tracing import names, sending, spans
from tests.conftest import ROOT
from tests.tracing.collector import Collector, running_collector

CONFIG = {"agent_strategy": "oracle", "end_index": 6, "max_concurrency": 3}

PLAYS = """
import sys, anyio
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.store import open_store
store = open_store()
run, prepared = start_run(store, check_config({"agent_strategy": "oracle", "end_index": 2}))
anyio.run(lambda: play_run(store, run, prepared))
assert len(list(store.runs.results(run.id))) == 2
print(sorted(name for name in sys.modules if name.split(".")[0] == "opentelemetry"))
"""


def play(store: Store, **changes: Any) -> int:
    """Play a run: how many episodes were solved."""
    run, prepared = start_run(store, check_config(CONFIG | changes))
    anyio.run(lambda: play_run(store, run, prepared))
    return sum(one.solved for one in store.runs.results(run.id))


def printed(code: str, **variables: str) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, check=True
    )
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"OTEL_SERVICE_NAME": "x"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": " "},
    ],
)
def test_without_a_collector_nothing_of_opentelemetry_is_imported(
    variables: dict[str, str],
) -> None:
    assert printed(PLAYS, **variables) == "[]\n"


@pytest.mark.slow
def test_without_the_packages_a_run_goes_on_with_a_hint() -> None:
    hidden = "import sys; sys.modules['opentelemetry.sdk'] = None\n"
    said = printed(hidden + PLAYS, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert "pip install 'greenroom[otel]'" in said


def test_a_protocol_that_is_not_spoken_is_told(
    kept: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    assert play(kept) == 6
    assert spans.active is None
    assert "not by grpc" in caplog.text


def test_wrong_variables_are_told_and_do_not_end_the_run(
    kept: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "-1")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "5")
    assert play(kept) == 6
    assert "No traces are sent" in caplog.text


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


@pytest.mark.slow
def test_a_collector_that_is_away_costs_two_warnings(
    kept: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://name:hush-hush@127.0.0.1:9/x")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic aHVzaC1odXNo")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    assert play(kept) == 6
    assert play(kept) == 6
    first, *later = warnings(caplog)
    assert first.startswith("Traces do not arrive at http://")
    assert all("spans did not arrive" in one for one in later)
    assert "hush" not in caplog.text
    assert "aHVzaC1odXNo" not in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 401, 404, 413, 429, 500, 503])
def test_a_collector_that_refuses_costs_warnings(
    collector: Collector,
    kept: Store,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    collector.status, collector.answer = status, b"no"
    assert play(kept) == 6
    assert warnings(caplog)[0].startswith("Traces do not arrive at http://")
    assert len(warnings(caplog)) <= 2


@pytest.mark.parametrize("answer", [b"<html>", b"\xff" * 100_000])
def test_a_collector_that_answers_nonsense_is_none_of_our_concern(
    collector: Collector, kept: Store, answer: bytes
) -> None:
    collector.answer = answer
    assert play(kept) == 6
    assert len(collector.named("episode")) == 6


@pytest.mark.slow
def test_a_collector_that_hangs_holds_nothing_up_for_long(
    collector: Collector, kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The run ends while the collector still holds the first request.
    monkeypatch.setattr(spans, "SECONDS_TO_FLUSH", 0.2)
    monkeypatch.setattr(sending, "SECONDS_TO_FLUSH", 0.2)
    held = threading.Event()
    collector.before = lambda: held.wait(60)
    try:
        assert play(kept) == 6
        assert collector.spans == []
        spans.end()
    finally:
        held.set()


def test_what_a_slow_collector_does_not_take_is_dropped_and_counted(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "50")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10")
    held = threading.Event()
    collector.before = lambda: held.wait(60)
    spans.begin()
    for _ in range(1000):
        with spans.opened("piece", {}):
            pass
    held.set()
    spans.end()

    lost = 1000 - len(collector.spans)
    assert 900 <= lost < 1000
    assert warnings(caplog) == [f"{lost} of 1,000 spans did not arrive."]


@pytest.mark.slow
def test_spans_without_a_collector_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(sending, "SECONDS_TO_FLUSH", 0.01)
    spans.begin()
    for number in range(30_000):
        with spans.opened("episode", {names.TASK: number}, apart=True):
            pass
    gc.collect()
    alive = sum(type(one).__name__ in ("_Span", "Span") for one in gc.get_objects())
    assert alive < 12_000  # those that wait, and those that are being sent
    spans.end()


@pytest.mark.slow
def test_a_killed_run_leaves_whole_episodes_and_the_next_one_links_to_it(
    collector: Collector,
) -> None:
    killed = subprocess.run(
        [sys.executable, "-m", "tests.tracing.victim", "2"],
        cwd=ROOT,
        env=os.environ | {"OTEL_BSP_SCHEDULE_DELAY": "100"},
        check=False,
    )
    assert killed.returncode == -9
    until = time.monotonic() + 30
    while len(collector.named("episode")) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(collector.named("episode")) == 3
    assert collector.named("run") == []  # it never ended
    before = {link for one in collector.named("episode") for link in one.links}

    store = open_store()
    run, prepared = reopen_run(store, "victim")
    anyio.run(lambda: play_run(store, run, prepared))
    store.close()
    assert set(collector.one("run").links) == before
    assert len(collector.named("episode")) == 5


def test_headers_and_names_come_from_the_variables(
    kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_collector() as traces, running_collector() as logs:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{traces.address}/v1/traces")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", f"{logs.address}/v1/logs")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=ours")
        monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
        assert play(kept) == 6
        spans.end()
    assert {one.service for one in traces.spans} == {"nightly"}
    assert traces.headers[0]["x-tenant"] == "ours"
    assert (traces.events, logs.spans, len(logs.events)) == ([], [], 6)


def test_a_sampler_takes_whole_episodes_or_none(
    collector: Collector, kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    assert play(kept, num_trials=5) == 30
    episodes = {one.trace for one in collector.named("episode")}
    assert 0 < len(episodes) < 30
    inner = {one.trace for one in collector.spans if names.CONVERSATION in one.attributes}
    assert inner == episodes
    assert {one.trace for one in collector.events} == episodes
