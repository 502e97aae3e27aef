"""tau2-bench's recorded traces and evaluations against our environments and our grading."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from greenroom.benchmark.tau2_conformance import (
    Tau2Trace,
    check_tau2_conformance,
    evaluation_differences,
    find_task,
    is_tau2_kit,
    read_tau2_traces,
)
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.steps import Trajectory
from greenroom.domains.tasks import Task
from greenroom.domains.tau2.recorded import TrajectoryBuilder
from greenroom.errors import DataError
from tests.cli.running import Greenroom
from tests.conftest import TAU2_DATA as DATA

KIT = DATA / "conformance-tau2.jsonl"
DOMAINS = ("retail", "airline", "telecom", "banking_knowledge", "mock")


@cache
def traces() -> list[Tau2Trace]:
    return read_tau2_traces(KIT)


@cache
def domain_named(name: str) -> Domain:
    return load_domain(name, DATA)


def differing(chosen: list[Tau2Trace]) -> list[str]:
    report, tally = check_tau2_conformance(chosen, DATA)
    assert report.total == len(chosen)
    calls = sum(step.say is None for trace in chosen for step in trace.steps)
    assert report.mismatches or sum(tally.calls.values()) == calls
    return [f"{mismatch.trace}: {mismatch.what}" for mismatch in report.mismatches]


@pytest.mark.slow
@pytest.mark.tau2_data
def test_a_trace_of_every_kind_and_domain() -> None:
    kinds = {(trace.domain, trace.id.rpartition("-")[0], trace.kind): trace for trace in traces()}
    assert {trace.domain for trace in kinds.values()} == set(DOMAINS)
    assert differing(list(kinds.values())) == []


@pytest.mark.tau2_data
@pytest.mark.slow
def test_all_traces() -> None:
    assert len(traces()) == 510
    assert differing(traces()) == []


@pytest.mark.slow
@pytest.mark.tau2_data
@pytest.mark.parametrize(
    ("place", "value", "what"),
    [
        (("hash_at_start", 0), "0", "hashes of the data"),
        (("hash_after_init", 1), "0", "hashes after the set-up"),
        (("steps", 0, "content"), "x", "text"),
        (("steps", 0, "error"), True, "error"),
        (("steps", 0, "hash", 1), "0", "hashes"),
        (("evaluation", "reward"), 0.5, "evaluation: reward"),
        (("evaluation", "reward_if_nl_rejected"), 0.5, "evaluation: reward_if_nl_rejected"),
        (("evaluation", "reward_basis"), [], "evaluation: reward_basis"),
        (("evaluation", "reward_breakdown"), {}, "evaluation: reward_breakdown"),
        (("evaluation", "parts", "DB"), 0.5, "evaluation: parts"),
        (("evaluation", "env_assertions", 0, "met"), None, "evaluation: env_assertions"),
        (("evaluation", "action_checks", 0, "match"), None, "evaluation: action_checks"),
        (("evaluation", "action_checks", 0, "tool_type"), "x", "evaluation: action_checks"),
        (("evaluation", "hash_gold", 0), "0", "evaluation: hash_gold"),
        (("evaluation", "hash_replayed", 1), "0", "evaluation: hash_replayed"),
    ],
)
def test_every_part_is_compared(place: tuple[Any, ...], value: Any, what: str) -> None:
    plain = next(one for one in traces() if one.id == "telecom-0000").model_dump()
    target: Any = plain
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    (found,) = differing([Tau2Trace.model_validate(plain)])
    assert found.endswith(what)


@pytest.mark.tau2_data
def test_an_assertion_that_raises_is_named() -> None:
    trace = next(one for one in traces() if one.id == "mock-0009").model_copy(deep=True)
    assert differing([trace]) == []
    assert trace.evaluation is not None
    trace.evaluation["evaluation_error"] = "ValueError: something else"
    assert differing([trace]) == ["mock-0009: evaluation_error"]


@pytest.mark.tau2_data
def test_the_command(greenroom: Greenroom, tmp_path: Path) -> None:
    result = greenroom("conformance", str(KIT), "--domain", "mock")
    assert result.status == 0
    assert "24/24 traces match" in result.out
    assert "78 of mock" in result.out
    header, *lines = KIT.read_text().splitlines()
    mock = [json.loads(line) for line in lines if '"domain": "mock"' in line][:2]
    mock[1]["steps"][0]["content"] = "something else"
    file = tmp_path / "traces.jsonl"
    file.write_text("\n".join([header, *map(json.dumps, mock)]))
    failed = greenroom("conformance", str(file), "--data", str(DATA), "--json")
    assert failed.status == 1
    answer = failed.json
    assert (answer["traces"], answer["matching"]) == (2, 1)
    (mismatch,) = answer["mismatches"]
    assert mismatch["trace"] == mock[1]["id"]
    assert mismatch["expected"] == "something else"


@pytest.mark.tau2_data
def test_files_that_are_no_kit(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    for text in ("", "{", "[]", '{"kit": "x"}'):
        file.write_text(text)
        assert not is_tau2_kit(file)
    file.write_text('{"kit": "tau2 conformance"}\n{"id": "x"}\n')
    with pytest.raises(DataError, match="line 2 is no trace: domain: Field required"):
        read_tau2_traces(file)
    file.write_text('{"kit": "tau2 conformance"}\n{\n')
    with pytest.raises(DataError, match="line 2 is not valid JSON"):
        read_tau2_traces(file)
    with pytest.raises(DataError, match="no traces of 'golf'"):
        read_tau2_traces(KIT, "golf")


def gold(domain: Domain, task: Task) -> Trajectory:
    """The task's own actions, and an answer that says all that is to be said."""
    builder, worlds = TrajectoryBuilder(), domain.worlds(task)
    for action in task.actions:
        result = domain.call(worlds, action)
        builder.call(action, result.observation, failed=result.failed)
    for output in task.outputs:
        builder.say("agent", output)
    return builder.trajectory


def evaluation_problems(record: dict[str, Any]) -> Iterator[str]:
    domain = domain_named(record["domain"])
    task = find_task(domain, record["task_id"])
    for name, trajectory in (("gold", gold(domain, task)), ("empty", Trajectory())):
        for what, expected, actual in evaluation_differences(
            domain, task, trajectory, record[name]
        ):
            yield f"{task.id} {name}: {what}: {expected} {actual}"


def records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / "evaluate.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.tau2_data
def test_gold_and_empty_trajectories_of_some_tasks() -> None:
    chosen = [
        record
        for name in DOMAINS
        for record in [one for one in records() if one["domain"] == name][::12]
    ]
    assert len(chosen) > 30
    assert [problem for record in chosen for problem in evaluation_problems(record)] == []


@pytest.mark.tau2_data
@pytest.mark.slow
def test_gold_and_empty_trajectories_of_all_base_tasks() -> None:
    all_records = records()
    assert len(all_records) == 385
    assert [problem for record in all_records for problem in evaluation_problems(record)] == []


@pytest.mark.tau2_data
@pytest.mark.slow
def test_gold_and_empty_trajectories_of_all_telecom_tasks() -> None:
    lines = gzip.decompress((DATA / "evaluate-telecom-full.jsonl.gz").read_bytes()).splitlines()
    assert len(lines) == 2285
    assert [problem for line in lines for problem in evaluation_problems(json.loads(line))] == []
