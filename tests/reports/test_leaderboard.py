from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from greenroom.reports.leaderboard import OFFICIAL_TASKS, published_rows
from greenroom.store.records import RunRecord

AS_PUBLISHED = {"model": "gpt-4o", "user_model": "gpt-4o", "user_strategy": "llm"}


def run(env: str = "retail", **fields: Any) -> RunRecord:
    values: dict[str, Any] = {
        "id": "r1",
        "name": "run",
        "created_at": datetime(2024, 5, 15, tzinfo=UTC),
        "greenroom_version": "0",
        "config": AS_PUBLISHED,
        "env": env,
        "task_split": "test",
        "agent_strategy": "tool-calling",
        "task_indices": list(range(OFFICIAL_TASKS.get(env, 10))),
        "num_trials": 4,
        "pack": {},
        "official_tasks": True,
    }
    return RunRecord(**(values | fields))


@pytest.mark.parametrize(("env", "count"), [("retail", 3 + 4), ("airline", 6 + 4)])
def test_the_rows_of_a_domain_are_there_with_the_best_first(env: str, count: int) -> None:
    rows = published_rows(run(env))
    assert len(rows) == count
    assert [row.pass_hat_k[1] for row in rows] == sorted(
        (row.pass_hat_k[1] for row in rows), reverse=True
    )
    for row in rows:
        if "FastWorkflow" in row.strategy:
            continue
        assert list(row.pass_hat_k) == [1, 2, 3, 4]
        # To succeed in all of more trials is never more likely.
        figures = list(row.pass_hat_k.values())
        assert figures == sorted(figures, reverse=True)
        assert "tau-bench" in row.source


def test_figures_are_the_published_ones() -> None:
    airline = {row.strategy: row.pass_hat_k for row in published_rows(run("airline"))}
    assert airline["TC (gpt-4o)"] == {1: 0.42, 2: 0.273, 3: 0.22, 4: 0.2}
    assert airline["ReAct (gpt-4o)"] == {1: 0.325, 2: 0.233, 3: 0.185, 4: 0.16}
    assert airline["Act (gpt-4o)"][4] == 0.14
    retail = {row.strategy: row.pass_hat_k for row in published_rows(run())}
    assert retail["TC (claude-3-5-sonnet-20241022)"] == {1: 0.692, 2: 0.576, 3: 0.509, 4: 0.462}


@pytest.mark.parametrize(
    "fields",
    [
        {"official_tasks": False},
        {"task_split": "train"},
        {"task_indices": list(range(114))},
        {"task_indices": list(range(116))},
        {"task_indices": []},
        {"env": "library"},
    ],
)
def test_other_tasks_have_nothing_to_stand_beside(fields: dict[str, Any]) -> None:
    assert published_rows(run(**fields)) == []


def test_the_order_of_tasks_plays_no_part() -> None:
    assert published_rows(run(task_indices=list(reversed(range(115)))))


def differs(strategy: str, env: str = "airline", **fields: Any) -> list[str]:
    return next(
        row.differs for row in published_rows(run(env, **fields)) if row.strategy == strategy
    )


def test_nothing_differs_where_all_is_the_same() -> None:
    assert differs("TC (gpt-4o)") == []
    assert differs("TC (gpt-4o)", config=AS_PUBLISHED | {"model": "openai/gpt-4o"}) == []
    assert differs("TC (gpt-4o)", num_trials=8) == []
    assert differs("ReAct (gpt-4o)", agent_strategy="react") == []


def test_what_differs_is_said() -> None:
    config = {"model": "mistral/large", "user_model": "gpt-4.1", "user_strategy": "verify"}
    assert differs("TC (gpt-4o)", config=config, agent_strategy="fastworkflow", num_trials=1) == [
        "user model: gpt-4o there, gpt-4.1 here",
        "user strategy: llm there, verify here",
        "agent model: gpt-4o there, mistral/large here",
        "agent strategy and prompts: Tau Bench's tool-calling there, fastworkflow here",
        "trials per task: at least 4 there, 1 here",
    ]


def test_a_run_without_models_differs_in_them() -> None:
    assert differs("TC (gpt-4o)", config={})[:3] == [
        "user model: gpt-4o there, none here",
        "user strategy: llm there, none here",
        "agent model: gpt-4o there, none here",
    ]


@pytest.mark.parametrize(
    ("env", "percents"),
    [
        (
            "retail",
            {
                "gpt-oss-20b": 83.47,
                "mistral-7b": 70.43,
                "claude-opus-4-1": 92.17,
                "claude-sonnet-4": 91.3,
            },
        ),
        (
            "airline",
            {"gpt-oss-20b": 78, "mistral-7b": 60, "claude-opus-4-1": 80, "claude-sonnet-4": 84},
        ),
    ],
)
def test_fastworkflows_figures_are_shares_of_all_tasks(
    env: str, percents: dict[str, float]
) -> None:
    rows = {row.strategy: row for row in published_rows(run(env)) if row.intervals}
    assert len(rows) == len(percents)
    for model, published in percents.items():
        row = rows[f"FastWorkflow ({model})"]
        # Published with two digits, cut or rounded.
        assert abs(100 * row.pass_hat_k[1] - published) < 0.01
        (interval,) = row.intervals.values()
        assert interval.low < row.pass_hat_k[1] < interval.high
        assert f"of {OFFICIAL_TASKS[env]} tasks, one trial each" in row.remark
        assert "fastworkflow" in row.source


def test_what_differs_from_fastworkflows_rows_is_said() -> None:
    same = {"model": "openrouter/gpt-oss-20b", "user_model": "gpt-4o"}
    name = "FastWorkflow (gpt-oss-20b)"
    assert differs(name, config=same, agent_strategy="fastworkflow", num_trials=1) == [
        "user model: not told there, gpt-4o here"
    ]
    assert differs(name)[1:] == [
        "agent model: gpt-oss-20b there, gpt-4o here",
        "agent strategy and prompts: FastWorkflow's there, tool-calling here",
        "trials per task: 1 there, 4 here",
    ]
