"""The tools of retail, airline and mock are tau2's, and ground truths fail where tau2's do.

Recorded calls, hashes and rewards are compared in `tests/benchmark/test_tau2_conformance.py`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from greenroom.domains.domain import load_domain
from greenroom.domains.tools import Toolset
from tests.conftest import TAU2_DATA as DATA


@pytest.mark.tau2_data
@pytest.mark.parametrize("name", ["retail", "airline", "mock"])
def test_tools_are_those_of_tau2_in_its_order(name: str) -> None:
    facts = json.loads((DATA / name / "tool_facts.json").read_text())
    domain = load_domain(name, DATA)
    edition = domain.edition
    for party, tools in (("assistant", edition.tools), ("user", edition.user_tools or Toolset())):
        assert {fact["name"] for fact in facts[party]} == set(tools)
        for fact in facts[party]:
            tool = tools[fact["name"]]
            assert (tool.kind, tool.replayed) == (fact["type"], fact["mutates_state"])
            assert f"{tool.owner}.{tool.name}" == fact["qualname"]
    shown = [info["function"]["name"] for info in domain.tool_infos]
    assert shown == [fact["name"] for fact in facts["assistant"]]


@pytest.mark.tau2_data
@pytest.mark.parametrize(("name", "failing"), [("retail", 15), ("airline", 0), ("mock", 0)])
def test_ground_truths_fail_where_tau2s_do(name: str, failing: int) -> None:
    domain = load_domain(name, DATA)
    found: dict[str | None, list[Any]] = {}
    for task in domain.tasks():
        failures = domain.play_out(task.actions, task).failures
        if failures:
            found[task.id] = [[failure.index, failure.observation] for failure in failures]
    expected: dict[str, list[Any]] = {}
    with (DATA / "evaluate.jsonl").open() as lines:
        for row in map(json.loads, lines):
            if row.get("domain") == name and row.get("gold_calls_that_fail"):
                calls: list[dict[str, Any]] = row["gold_calls_that_fail"]
                expected[row["task_id"]] = [[call["index"], call["content"]] for call in calls]
    assert found == expected
    assert len(found) == failing
