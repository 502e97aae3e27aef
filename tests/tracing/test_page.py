"""The page on traces names every attribute and event there is, and where it is found."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.domains.domain import Domain
from greenroom.evaluation import check_evaluation_config, run_evaluation, start_evaluation
from greenroom.judging import JudgingConfig, run_judging, start_judging
from greenroom.model_server import running_server
from greenroom.store import Store
from greenroom.tracing import names
from tests.conftest import ROOT
from tests.models.stub_server import answers, fails, running_stub
from tests.tracing.collector import Collector

PAGE = (ROOT / "docs" / "traces.md").read_text()
ROW = re.compile(r"^\| `(\w+\.[\w.]+)` \| ([a-z_, ]+) \|", re.MULTILINE)
DOCUMENTED = {name: set(where.split(", ")) for name, where in ROW.findall(PAGE)}
EVENTS = {names.EVALUATION_RESULT, names.FAILED_ATTEMPT}
PURSE = re.compile(r"^greenroom\.(?:agent|user|judge)\.")
ECHO = """
from greenroom import workflow

@workflow
def echo(text: str) -> str:
    return text
"""
JOBS = ("run", "evaluation", "judging")


def known_names() -> set[str]:
    constants = (value for key, value in vars(names).items() if key.isupper())
    found = {value for value in constants if isinstance(value, str)}
    purses = {
        names.of_purse("PURSE", what) for what in ("calls", "cost", "input_tokens", "output_tokens")
    }
    return (found | purses) - EVENTS - {names.SCHEMA_URL}


def test_the_page_names_every_attribute() -> None:
    assert set(DOCUMENTED) == known_names()


def test_the_page_names_every_event_and_the_revision() -> None:
    assert all(f"`{name}`" in PAGE for name in EVENTS)
    assert f"`{names.SCHEMA_URL.rpartition('/')[2]}`" in PAGE


@pytest.mark.slow
def test_every_attribute_is_where_the_page_says(
    collector: Collector,
    kept: Store,
    retail: Domain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps([{"text": "hello", "expected": "hello"}]))
    asked = tmp_path / "app.py"
    asked.write_text(ECHO)
    with running_server(retail) as server:
        at = {"api_base": server.api_base, "user_api_base": server.api_base}
        run = {"agent_strategy": "tool-calling", "model": "oracle", "user_model": "user", **at}
        for _ in range(2):
            play(kept, {**run, "end_index": 1, "cache": True})
    failing = {"agent_strategy": "synthetic", "agent_options": {"success": 0.0}, "end_index": 1}
    run_record = play(kept, failing)

    async def evaluate_and_judge() -> None:
        fields = {"workflow": f"{asked}:echo", "test_set": str(rows), "evaluators": ["exact_match"]}
        evaluation, context = await start_evaluation(kept, check_evaluation_config(fields))
        await run_evaluation(kept, evaluation, context)
        async with running_stub() as stub:
            verdict = json.dumps({"author": "agent", "description": "d"})
            kind = json.dumps({"kind": "other", "description": "d"})
            stub.replies = [fails(500), answers(verdict), answers(kind)]
            config = JudgingConfig(judge_model="j", judge_api_base=stub.api_base)
            judging = start_judging(kept, run_record, config)
            await run_judging(kept, judging, config)

    anyio.run(evaluate_and_judge)

    seen: dict[str, set[str]] = {}
    for span in collector.spans:
        word = span.name.split()[0]
        note(seen, "job" if word in JOBS else word, span.attributes)
    for event in collector.events:
        note(seen, "event", event.attributes)
    for name, where in seen.items():
        assert where <= DOCUMENTED[name] or "all" in DOCUMENTED[name], name
    assert {"job", "episode", "row", "judge"} <= {one for where in seen.values() for one in where}


def play(store: Store, fields: dict[str, Any]) -> Any:
    run, prepared = start_run(store, check_config(fields))
    anyio.run(lambda: play_run(store, run, prepared))
    return store.runs.find(run.name)


def note(seen: dict[str, set[str]], where: str, attributes: dict[str, Any]) -> None:
    for name in attributes:
        seen.setdefault(PURSE.sub("greenroom.PURSE.", name), set()).add(where)
