"""The tasks of tau2-bench that an agent solves by doing nothing, against its own evaluator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from greenroom.domains.domain import load_domain
from greenroom.domains.validation import solved_by_nothing
from tests.conftest import TAU2_DATA as TAU2


@pytest.mark.slow
@pytest.mark.official
@pytest.mark.parametrize("env", ["retail", "airline", "telecom", "mock", "banking_knowledge"])
def test_tasks_solved_by_nothing_are_those_whose_empty_trajectory_is_rewarded(env: str) -> None:
    domain = load_domain(env, Path(TAU2))
    lines = (TAU2 / "evaluate.jsonl").read_text().splitlines()
    every = [json.loads(line) for line in lines]
    recorded = {one["task_id"]: one["empty"] for one in every if one["domain"] == env}
    tasks = domain.tasks()
    expected = [
        index
        for index, task in enumerate(tasks)
        if recorded[str(task.id)].get("reward") == 1
        and not (task.judged and "judged" in task.basis)
    ]
    assert solved_by_nothing(domain) == expected
