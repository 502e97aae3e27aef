"""The kinds of jobs: runs, evaluations, judgings, regradings; how each is written and read."""

from __future__ import annotations

from typing import Any

from greenroom.store.evaluation_records import (
    EvaluationRecord,
    ResultRecord,
    ResultSummary,
    ScoreSummary,
)
from greenroom.store.job_rows import JobKind
from greenroom.store.jobs import Jobs
from greenroom.store.judging_records import (
    JudgementRecord,
    JudgementSummary,
    JudgingRecord,
)
from greenroom.store.records import EpisodeRecord, EpisodeSummary, RunRecord, usage_counts
from greenroom.store.regrading_records import GradeRecord, GradeSummary, RegradingRecord
from greenroom.util.raw_json import raw_value

Runs = Jobs[RunRecord, EpisodeRecord, EpisodeSummary]
Evaluations = Jobs[EvaluationRecord, ResultRecord, ResultSummary]
Judgings = Jobs[JudgingRecord, JudgementRecord, JudgementSummary]
Regradings = Jobs[RegradingRecord, GradeRecord, GradeSummary]


def _episode_summary(row: Any) -> EpisodeSummary:
    counted: dict[str, Any] = raw_value(row.summary)
    return EpisodeSummary(
        task_index=row.item,
        trial=row.trial,
        outcome=row.outcome,
        reward=row.score,
        step_count=counted.get("steps", 0),
        turns=counted.get("turns", 0),
        seconds=row.seconds,
        cost=row.cost,
        usage=usage_counts(row.usage),
    )


def _episode_counts(episode: EpisodeRecord) -> dict[str, Any]:
    # The one import that points up: explaining a failure is analysis, and is kept with the episode.
    from greenroom.analysis.counts import counts_of

    always = {"steps": episode.step_count, "turns": episode.turns}
    try:
        counts = counts_of(episode)
    except Exception:
        # What cannot be counted is no reason to lose a result: the report will say what is wrong.
        return always
    return {"counted": counts.counted, **always, **counts.model_dump(exclude_defaults=True)}


def _result_summary(row: Any) -> ResultSummary:
    scores: dict[str, Any] = raw_value(row.summary)["scores"]
    return ResultSummary(
        row=row.item,
        repeat=row.trial,
        outcome=row.outcome,
        seconds=row.seconds,
        cost=row.cost,
        usage=usage_counts(row.usage),
        error=row.error,
        scores={
            alias: ScoreSummary(one["score"], one["passed"], one["broken"])
            for alias, one in scores.items()
        },
    )


def _judgement_summary(row: Any) -> JudgementSummary:
    said: dict[str, Any] = raw_value(row.summary)
    return JudgementSummary(
        task_index=row.item,
        trial=row.trial,
        outcome=row.outcome,
        author=said["author"],
        kind=said["kind"],
    )


def _grade_summary(row: Any) -> GradeSummary:
    return GradeSummary(
        task_index=row.item,
        trial=row.trial,
        outcome=row.outcome,
        before=raw_value(row.summary)["before"],
        reward=row.score,
    )


def _scores(record: ResultRecord) -> dict[str, Any]:
    return {
        "scores": {
            alias: {"score": one.score, "passed": one.passed, "broken": one.broken}
            for alias, one in record.scores.items()
        }
    }


def _mean_score(record: ResultRecord) -> float | None:
    given = [one.score for one in record.scores.values() if one.score is not None]
    return sum(given) / len(given) if given else None


RUNS: JobKind[RunRecord, EpisodeRecord, EpisodeSummary] = JobKind(
    name="run",
    job=RunRecord,
    cell=EpisodeRecord,
    columns=lambda run: {
        "subject": run.agent_strategy,
        "dataset": f"{run.env}/{run.task_split}",
        "parent_id": None if run.rewound_to is None else run.rewound_to.run_id,
    },
    score=lambda episode: episode.reward,
    summary=_episode_counts,
    read_summary=_episode_summary,
    body=frozenset({"steps", "messages", "printed"}),
    solved_at=1 - 1e-6,
    resume="greenroom resume",
    nests=True,
)

EVALUATIONS: JobKind[EvaluationRecord, ResultRecord, ResultSummary] = JobKind(
    name="evaluation",
    job=EvaluationRecord,
    cell=ResultRecord,
    columns=lambda evaluation: {
        "subject": evaluation.workflow,
        "dataset": f"{evaluation.test_set_name}@{evaluation.test_set_version}",
        "test_set_id": evaluation.test_set_id,
        "test_set_version": evaluation.test_set_version,
    },
    score=_mean_score,
    summary=_scores,
    read_summary=_result_summary,
    resume="greenroom evals resume",
)

JUDGINGS: JobKind[JudgingRecord, JudgementRecord, JudgementSummary] = JobKind(
    name="judging",
    job=JudgingRecord,
    cell=JudgementRecord,
    columns=lambda judging: {
        "subject": judging.judge,
        "dataset": judging.run_name,
        "parent_id": judging.run_id,
    },
    score=lambda judgement: None,
    summary=lambda judgement: {"author": judgement.author, "kind": judgement.kind},
    read_summary=_judgement_summary,
    resume="greenroom worker --judging",
)

REGRADINGS: JobKind[RegradingRecord, GradeRecord, GradeSummary] = JobKind(
    name="regrading",
    job=RegradingRecord,
    cell=GradeRecord,
    columns=lambda regrading: {
        "subject": regrading.judge or "no judge",
        "dataset": regrading.run_name,
        "parent_id": regrading.run_id,
    },
    score=lambda grade: grade.reward,
    summary=lambda grade: {"before": grade.before},
    read_summary=_grade_summary,
    solved_at=1 - 1e-6,
    resume="greenroom worker --regrading",
)
