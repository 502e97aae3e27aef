"""Runs that are too long for memory or a page: what is held, what is streamed, what is told."""

from __future__ import annotations

import csv
import io
import json
import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.large_store import make_evaluations, make_runs, open_folder

from greenroom.reports import html_limits, shared_sections
from greenroom.reports.build import build_report
from greenroom.reports.forms import pieces, render
from greenroom.reports.html import render_html
from greenroom.reports.json_report import parse_report
from greenroom.reports.report import EvaluationReport, RunReport
from greenroom.reports.sections import Failures

pytestmark = pytest.mark.slow

EPISODES = 96 * 24
ROWS = 1_500
MOST_FAILURES = 100
PAGE_BYTES = 20_000_000


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunReport]:
    folder = tmp_path_factory.mktemp("large")
    make_runs(folder, ["large"], tasks=96, trials=24)
    store = open_folder(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_sections, "MOST_FAILURES", MOST_FAILURES)
        yield build_report(store, store.runs.find("large"))
    store.close()


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvaluationReport]:
    folder = tmp_path_factory.mktemp("rows")
    make_evaluations(folder, ["rows"], rows=ROWS)
    store = open_folder(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_sections, "MOST_FAILURES", MOST_FAILURES)
        yield build_report(store, store.evaluations.find("rows"))
    store.close()


def test_a_report_explains_a_bounded_number_of_failures_and_counts_all(report: RunReport) -> None:
    failed = EPISODES - report.metrics.outcomes["success"]
    assert report.errors.failures == sum(report.errors.by_kind.values()) == failed
    assert len(report.errors.diagnoses) == MOST_FAILURES < failed
    section = report.section("failures")
    assert isinstance(section, Failures)
    assert section.total == failed
    # Every task that failed in its first trial is among them.
    shown = {one.task_index for one in report.errors.diagnoses}
    first = {one.task_index for one in report.episodes if one.trial == 0 and not one.solved}
    assert first <= shown


def test_a_page_holds_what_can_be_read_and_says_so(
    report: RunReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_limits, "_MOST_CELLS", 960)
    page = render_html(report)
    assert len(page.encode()) < PAGE_BYTES
    told = re.search(r"This page holds ([\d,]+) of 2,304 conversations", page)
    assert told
    assert 500 <= int(told[1].replace(",", "")) <= 960
    assert "14 more trials not on this page" in page


@pytest.mark.parametrize("size", [2_000_000, 30_000_000])
def test_a_page_of_long_texts_stays_small(report: RunReport, size: int) -> None:
    first = report.episodes[0]
    long = first.model_copy(update={"opening": "<é>" * (size // 3)})
    short = report.model_copy(update={"episodes": [long, *report.episodes[1:20]]})
    assert len(render_html(short).encode()) < PAGE_BYTES


@pytest.mark.parametrize("form", ["jsonl", "tau-bench"])
def test_an_export_is_written_record_by_record(report: RunReport, form: str) -> None:
    tracemalloc.start()
    size = sum(len(piece) for piece in pieces(report, form))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 10_000_000
    assert peak < 5_000_000


def test_the_results_of_an_evaluation_stay_in_the_store(evaluated: EvaluationReport) -> None:
    section = evaluated.section("failures")
    assert isinstance(section, Failures)
    assert section.total == sum(kind.count for kind in section.kinds) == 2 * ROWS // 3
    assert len(section.failures) == MOST_FAILURES
    assert len(evaluated.results) == evaluated.figures.with_result == ROWS
    for form in ("jsonl", "csv", "json"):
        tracemalloc.start()
        text = sum(len(piece) for piece in pieces(evaluated, form))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < text / 2, form


def test_every_export_holds_every_result(evaluated: EvaluationReport) -> None:
    rows = list(range(1, ROWS + 1))
    assert [one.row for one in evaluated.results] == rows
    back = parse_report(str(render(evaluated, "json")), EvaluationReport)
    assert [one.row for one in back.results] == rows
    assert back.sections == evaluated.sections
    table = csv.DictReader(io.StringIO(str(render(evaluated, "csv")), newline=""))
    assert [int(one["row"]) for one in table] == rows


def test_every_export_holds_every_episode(report: RunReport, tmp_path: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    keys = [one.key for one in report.episodes]
    assert len(keys) == len(set(keys)) == EPISODES
    assert [one.key for one in parse_report(str(render(report, "json"))).episodes] == keys
    lines = [json.loads(line) for line in str(render(report, "jsonl")).splitlines()]
    assert [(one["task_index"], one["trial"]) for one in lines] == keys
    rows = json.loads(str(render(report, "tau-bench")))
    assert [(one["task_id"], one["trial"]) for one in rows] == keys
    table = csv.DictReader(io.StringIO(str(render(report, "csv")), newline=""))
    assert [(int(one["task_index"]), int(one["trial"])) for one in table] == keys
    file = tmp_path / "runs.parquet"
    file.write_bytes(bytes(render(report, "parquet")))  # pyright: ignore[reportArgumentType]
    found = parquet.read_table(file, columns=["task_index", "trial"]).to_pylist()
    assert [(one["task_index"], one["trial"]) for one in found] == keys
