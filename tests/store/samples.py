"""Records made for tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from greenroom.store import (
    ActionRecord,
    EpisodeRecord,
    EvaluationRecord,
    JobRecord,
    Jobs,
    LeaseOwner,
    ResultRecord,
    RewardRecord,
    RunRecord,
    ScoreRecord,
    StepRecord,
    TaskRecord,
    TestSetVersion,
    Usage,
)

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def sample_run(name: str = "sample", **changes: Any) -> RunRecord:
    """A run of two tasks with two trials each."""
    fields: dict[str, Any] = {
        "id": f"id-{name}",
        "name": name,
        "created_at": MOMENT,
        "greenroom_version": "0",
        "config": {},
        "env": "retail",
        "task_split": "test",
        "agent_strategy": "oracle",
        "task_indices": [0, 1],
        "num_trials": 2,
        "pack": {"name": "p", "version": "1", "source": "s", "licence": "MIT"},
        "policy": "Be kind.",
    }
    return RunRecord(**(fields | changes))


def sample_episode(task_index: int = 0, trial: int = 0, **changes: Any) -> EpisodeRecord:
    """An episode with a tool call and a reply."""
    action = ActionRecord(name="light", kwargs={"lamp": "hall"}, writes=True)
    fields: dict[str, Any] = {
        "task_index": task_index,
        "trial": trial,
        "outcome": "success",
        "reward": 1.0,
        "task": TaskRecord(instruction="Light the hall.", actions=[action]),
        "opening": "Hello.",
        "steps": [
            StepRecord(action=action, observation='{"lit": true}', source="light", turn=1),
            StepRecord(
                action=ActionRecord(name="respond", kwargs={"content": "Done ‹✓›."}),
                observation="###STOP###",
                source="user",
                turn=1,
            ),
        ],
        "details": RewardRecord(database=True),
        "started_at": MOMENT,
        "seconds": 0.5,
        "usage": {"agent": Usage(calls=1, prompt_tokens=10, completion_tokens=5, cost=0.25)},
    }
    return EpisodeRecord(**(fields | changes))


def sample_evaluation(version: TestSetVersion, **changes: Any) -> EvaluationRecord:
    """An evaluation of all rows of a test set, twice."""
    fields: dict[str, Any] = {
        "id": "id-evaluation",
        "name": "evaluation",
        "created_at": MOMENT,
        "greenroom_version": "0",
        "workflow": "http://127.0.0.1:8000",
        "is_chat": True,
        "test_set_id": version.test_set_id,
        "test_set_name": version.name,
        "test_set_version": version.version,
        "evaluators": [{"name": "exact_match", "alias": "exact_match", "settings": {}}],
        "row_count": version.row_count,
        "repeats": 2,
    }
    return EvaluationRecord(**(fields | changes))


def sample_result(row: int = 0, repeat: int = 0, **changes: Any) -> ResultRecord:
    """A row that was answered and scored."""
    fields: dict[str, Any] = {
        "row": row,
        "repeat": repeat,
        "outcome": "answered",
        "outputs": {"role": "assistant", "content": "Paris"},
        "scores": {
            "exact_match": ScoreRecord(
                score=1.0, passed=True, compared="Paris", against="Paris", reason="equal"
            )
        },
        "started_at": MOMENT,
        "seconds": 0.5,
        "usage": {"judge": Usage(calls=1, prompt_tokens=10, completion_tokens=5, cost=0.25)},
    }
    return ResultRecord(**(fields | changes))


def hold(jobs: Jobs[Any, Any, Any], job: JobRecord, owner: LeaseOwner) -> None:
    """Take a job for a process, with nothing to do."""
    jobs.workers.join(job.id, job.name, owner, lambda _: [])
