"""What tests of traces share."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from greenroom.store import Store, open_store
from greenroom.tracing import spans
from tests.tracing.collector import Collector, running_collector


@pytest.fixture(autouse=True)
def no_other_traces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Generator[None]:
    """No test sees the variables of OpenTelemetry, the answers or the spans of another."""
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("TRACEPARENT", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("greenroom.models.retries.BASE_SECONDS", 0.001)
    monkeypatch.setattr("greenroom.trials.engine._FIRST_WAIT_SECONDS", 0.001)
    yield
    spans.end()


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Generator[Collector]:
    """A collector that OpenTelemetry's variables name."""
    with running_collector() as running:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.address)
        yield running


@pytest.fixture
def kept() -> Generator[Store]:
    """An empty store."""
    store = open_store()
    yield store
    store.close()
