"""Runs and evaluations as logs of Inspect, which its viewer and `read_eval_log` open.

A log is a ZIP file: a member for each sample, their summaries, and a header. Samples are written
one by one. A task is a sample, a trial is an epoch, and pass^k are metrics.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile

from greenroom._version import __version__
from greenroom.analysis.figures import Estimate
from greenroom.analysis.tally import usage_by_purse
from greenroom.errors import InputError
from greenroom.reports.inspect_samples import (
    REWARD,
    episode_sample,
    models_of,
    row_sample,
    stamp,
    summary,
    usage_by_model,
    usage_of,
)
from greenroom.reports.recorded_trajectories import OWN
from greenroom.reports.report import EvaluationReport, RunReport
from greenroom.reports.sections import Report
from greenroom.store.records import Usage
from greenroom.util.json_values import portable_text
from greenroom.util.pieces import Pieces

VERSION: Final = 2


def inspect_pieces(report: Report) -> Iterator[bytes]:
    """A run or an evaluation as an Inspect log, piece by piece."""
    if isinstance(report, RunReport):
        header = _run_header(report)
        samples = (episode_sample(report.run, episode) for episode in report.episodes)
    elif isinstance(report, EvaluationReport):
        header = _evaluation_header(report)
        samples = (row_sample(row) for row in report.results)
    else:
        raise InputError("A comparison is no log of Inspect: export its runs one by one.")
    return _zipped(header, samples)


def _zipped(header: dict[str, Any], samples: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    out = Pieces()
    summaries: list[dict[str, Any]] = []
    stats: dict[str, Any] = header["stats"]
    start = {name: header[name] for name in ("version", "eval", "plan")}
    with ZipFile(out, "w", ZIP_DEFLATED) as log:
        log.writestr("_journal/start.json", _json(start))
        for sample in samples:
            log.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", _json(sample))
            summaries.append(summary(sample))
            stats["completed_at"] = max(stats["completed_at"], sample["completed_at"])
            yield out.taken()
        log.writestr("summaries.json", _json(summaries))
        log.writestr("header.json", _json(header))
    yield out.taken()


def _json(value: Any) -> bytes:
    return portable_text(value).encode()


def _header(
    *,
    id: str,  # noqa: A002 - the job's
    name: str,
    created_at: datetime,
    task: str,
    model: str,
    samples: int,
    epochs: int,
    status: str,
    metrics: Mapping[str, Mapping[str, Estimate]],
    done: int,
    scored: Mapping[str, int],
    usage: Mapping[str, Usage],
    models: Mapping[str, str],
    metadata: Mapping[str, Any],
    solver: str,
) -> dict[str, Any]:
    """Everything about a job but its samples; metrics are by score and by name.

    `done` samples have a result, and `scored` says how many of them have each score.
    """
    plan: dict[str, Any] = {
        "name": "plan",
        "steps": [{"solver": solver, "params": {}}],
        "config": {},
    }
    return {
        "version": VERSION,
        "status": {"complete": "success", "running": "started"}.get(status, "cancelled"),
        "eval": {
            "eval_id": id,
            "run_id": id,
            "created": stamp(created_at),
            "task": task,
            "task_id": id,
            "task_version": 0,
            "task_display_name": name,
            "solver": solver,
            "dataset": {"name": task, "samples": samples},
            "model": model,
            "config": {"epochs": epochs},
            "packages": {"greenroom": __version__},
            "metadata": dict(metadata),
        },
        "plan": plan,
        "results": {
            "total_samples": samples * epochs,
            "completed_samples": done,
            "scores": [
                {
                    "name": score,
                    "scorer": score,
                    "scored_samples": scored[score],
                    "unscored_samples": done - scored[score],
                    "params": {},
                    "metrics": {
                        metric: _metric(metric, estimate)
                        for metric, estimate in found.items()
                        if math.isfinite(estimate.value)
                    },
                }
                for score, found in metrics.items()
            ],
        },
        "stats": {
            "started_at": stamp(created_at),
            "completed_at": stamp(created_at),
            "model_usage": usage_by_model(usage, models),
            "role_usage": {purse: usage_of(one) for purse, one in usage.items()},
        },
    }


def _metric(name: str, estimate: Estimate) -> dict[str, Any]:
    interval = {"low": estimate.low, "high": estimate.high, "method": estimate.method}
    return {"name": name, "value": estimate.value, "params": {}, "metadata": interval}


def _run_header(report: RunReport) -> dict[str, Any]:
    run, metrics = report.run, report.metrics
    shown = {
        name: one
        for name, one in metrics.named().items()
        if name.startswith(("pass^", "reward", "overall"))
    }
    return _header(
        id=run.id,
        name=run.name,
        created_at=run.created_at,
        task=run.env,
        model=str(run.config.get("model") or run.agent_strategy),
        samples=len(run.task_indices),
        epochs=run.num_trials,
        status=run.status,
        metrics={REWARD: shown},
        done=metrics.with_result,
        scored={REWARD: metrics.with_result},
        usage=usage_by_purse(one.usage for one in report.counted),
        models=models_of(run),
        metadata={
            OWN: {
                "run": run.name,
                "env": run.env,
                "task_split": run.task_split,
                "pack": run.pack,
                "agent_strategy": run.agent_strategy,
                "config": run.config,
                "coverage": metrics.main.coverage,
            }
        },
        solver=run.agent_strategy,
    )


def _evaluation_header(report: EvaluationReport) -> dict[str, Any]:
    evaluation, figures = report.evaluation, report.figures
    return _header(
        id=evaluation.id,
        name=evaluation.name,
        created_at=evaluation.created_at,
        task=evaluation.test_set,
        model=evaluation.workflow,
        samples=evaluation.row_count,
        epochs=evaluation.repeats,
        status=evaluation.status,
        metrics={one.alias: {"mean": one.mean} for one in figures.evaluators},
        done=figures.with_result,
        scored={one.alias: one.scored for one in figures.evaluators},
        usage=usage_by_purse(one.usage for one in report.results),
        models={},
        metadata={OWN: {"evaluation": evaluation.name, "config": evaluation.config}},
        solver=evaluation.workflow,
    )
