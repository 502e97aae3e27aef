"""Result files read with Tau Bench's own types, in which no field of a reward may be missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from greenroom.cli import tau_bench_run
from tests.integrations.double.tau_bench.types import (
    EnvInfo,
    EnvRunResult,
    RewardActionInfo,
    RewardOutputInfo,
)


def rows_of_run(log_dir: Path, *words: str) -> list[dict[str, Any]]:
    """The rows that run.py writes."""
    flags = tau_bench_run.parse(["--max-concurrency", "4", "--log-dir", str(log_dir), *words])
    tau_bench_run.play(flags)
    (file,) = log_dir.glob("*.json")
    return json.loads(file.read_text())


def parts_of(row: dict[str, Any]) -> RewardActionInfo | RewardOutputInfo:
    """The part of the reward that Tau Bench reads from a row."""
    result = EnvRunResult.model_validate(row)
    info = EnvInfo.model_validate(result.info)
    assert info.reward_info is not None
    assert info.reward_info.reward == result.reward
    return info.reward_info.info


def hashes(rows: list[dict[str, Any]]) -> dict[int, str]:
    parts = {row["task_id"]: parts_of(row) for row in rows}
    assert all(
        isinstance(part, RewardOutputInfo) == bool(row["info"]["task"]["outputs"])
        for part, row in zip(parts.values(), rows, strict=True)
    )
    found = {
        i: part.gt_data_hash for i, part in parts.items() if isinstance(part, RewardActionInfo)
    }
    assert all(len(text) == 64 for text in found.values())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["oracle", "synthetic"])
def test_rows_of_builtin_tasks_fit_tau_benchs_types(tmp_path: Path, agent: str) -> None:
    rows = rows_of_run(tmp_path, "--end-index", "12", "--agent-strategy", agent)
    assert len(rows) == 12
    assert hashes(rows)


@pytest.mark.official
@pytest.mark.parametrize("env", ["retail", "airline"])
def test_rows_of_official_tasks_fit_and_name_tau_benchs_own_hashes(
    tmp_path: Path, official_data: Path, env: str
) -> None:
    words = ("--env", env, "--data", str(official_data), "--agent-strategy", "oracle")
    found = hashes(rows_of_run(tmp_path, *words, "--end-index", "30"))
    traces = map(json.loads, (official_data / "conformance.jsonl").read_text().splitlines())
    recorded = {
        trace["task_index"]: trace["reward_info"]["gt_data_hash"]
        for trace in traces
        if (trace["env"], trace.get("split", "test")) == (env, "test")
        and "gt_data_hash" in (trace["reward_info"] or {})
    }
    both = found.keys() & recorded.keys()
    assert both
    assert {i: found[i] for i in both} == {i: recorded[i] for i in both}
