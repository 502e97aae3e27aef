"""tau2's bank against recorded traces, hashes, policies and schemas of the original."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from hashlib import sha256
from typing import Any

import pytest

from greenroom.domains.tau2.banking.discovery import AGENT_DISCOVERABLE, USER_DISCOVERABLE
from greenroom.domains.tau2.banking.tables import NOTES, TABLES, hash_world
from greenroom.domains.worlds import Worlds
from tests.domains.tau2.banking_play import BANK, bank, differences, task_named, traces


@pytest.mark.tau2_data
def test_a_trace_of_every_kind_is_answered_as_recorded() -> None:
    chosen = {(trace["kind"], trace["variant"]): trace for trace in traces()}
    assert len({kind for kind, _ in chosen}) == 9
    assert {
        trace["id"]: differences(trace) for trace in chosen.values() if differences(trace)
    } == {}


@pytest.mark.tau2_data
@pytest.mark.slow
def test_every_call_of_every_trace_is_answered_as_recorded() -> None:
    calls = Counter(step["name"] for trace in traces() for step in trace["steps"] if "call" in step)
    assert (len(traces()), calls.total()) == (124, 1601)
    found = {trace["id"]: differences(trace) for trace in traces()}
    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.tau2_data
def test_the_hashed_text_is_the_official_one() -> None:
    base = bank().pack.base
    content = {
        name: {
            "data": {key: base.record(name, key) for key in base.ids(name)},
            "notes": base.record(NOTES, name)["text"],
        }
        for name in TABLES
    }
    official = gzip.decompress((BANK / "initial_db.canonical.json.gz").read_bytes()).strip()
    assert json.dumps(content, sort_keys=True).encode() == official
    assert hash_world(bank().worlds().agent) == sha256(official).hexdigest()


@pytest.mark.tau2_data
@pytest.mark.parametrize(
    ("number", "after_gold", "after_set_up"),
    [
        ("001", "6f72038a35653e04", None),
        ("016", "4224ac4a830ead3e", None),
        ("026", "d69ca148378f5e47", "8cc675f848a08cb4"),
        ("040", "bee47fe8cbd74a2a", "b2a99526cef6bd20"),
        ("051", "077fed21ef79a3f3", "6d0eee7044bd6229"),
        ("058", "3cf9bc8d7c33be1e", None),
        ("074", "73376465f5d613b6", None),
        ("085", "8b5f563f87ef4a86", "e881e638610c5a46"),
        ("098", "37b9e5750cd9addc", "98e6dbdd91a16838"),
    ],
)
def test_gold_actions_lead_to_the_recorded_hashes(
    number: str, after_gold: str, after_set_up: str | None
) -> None:
    task = task_named(f"task_{number}")
    assert task is not None

    def short(worlds: Worlds) -> str:
        return hash_world(worlds.agent)[:16]

    assert short(bank().worlds(task)) == (after_set_up or "af324a7d72aced58")
    assert short(bank().play_out(task.actions, task).worlds) == after_gold


@pytest.mark.tau2_data
@pytest.mark.parametrize(
    "retrieval", ["alltools", "bm25", "bm25_grep", "grep_only", "no_knowledge"]
)
def test_policies_are_the_rendered_ones(retrieval: str) -> None:
    expected = (BANK / f"rendered/policy_{retrieval}.md").read_text()
    assert bank(retrieval).policy == expected
    task = task_named("task_001")
    assert task is not None
    assert bank(retrieval).policy_for(task) == expected


@pytest.mark.tau2_data
def test_documents_stand_in_the_policy_all_or_those_of_the_task() -> None:
    whole = json.loads((BANK / "rendered/policy_full_kb.json").read_text())
    policy = bank("full_kb").policy
    assert len(policy) == whole["characters"]
    assert sha256(policy.encode()).hexdigest() == whole["sha256"]
    task = task_named("task_001")
    assert task is not None
    expected = (BANK / "rendered/policy_golden_retrieval_task_001.md").read_text()
    assert bank("golden_retrieval").policy_for(task) == expected
    assert "(No documents provided)" in bank("golden_retrieval").policy


def _facts(party: str) -> list[dict[str, Any]]:
    return json.loads((BANK / "tool_facts.json").read_text())[party]


@pytest.mark.tau2_data
@pytest.mark.parametrize(("theirs", "ours"), [("assistant", "agent"), ("user", "user")])
def test_tools_have_the_kinds_and_signatures_of_the_original(theirs: str, ours: Any) -> None:
    edition = bank().edition
    facts = {fact["name"]: fact for fact in _facts(theirs)}
    tools = edition.tools if ours == "agent" else edition.user_tools
    assert tools is not None
    assert set(tools) == set(facts)
    for name, fact in facts.items():
        tool = tools[name]
        assert (tool.kind, tool.replayed) == (fact["type"], fact["mutates_state"]), name
        assert tool.listed != fact["discoverable"], name
        assert f"{tool.owner}.{name}" == fact["qualname"]
        given = [part.split(":")[0] for part in _parameters(fact["signature"])]
        assert list(tool.parameters) == given, name


def _parameters(signature: str) -> list[str]:
    inside = signature[1 : signature.index(") ->")]
    # The only brackets are those of enumerations and of optional numbers.
    parts, depth, start = list[str](), 0, 0
    for place, character in enumerate(inside):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append(inside[start:place].strip())
            start = place + 1
    return [*parts, inside[start:].strip()] if inside else []


@pytest.mark.tau2_data
@pytest.mark.parametrize("retrieval", ["alltools", "bm25", "bm25_grep", "grep_only"])
def test_models_are_told_of_search_tools_first(retrieval: str) -> None:
    told = bank(retrieval).tool_infos
    searching = json.loads((BANK / f"tools_retrieval_{retrieval}.json").read_text())
    # Of the original's three, only the search by words works without a network.
    searching = searching[:1] if retrieval == "alltools" else searching
    assert told == [*searching, *json.loads((BANK / "tools.json").read_text())]
    hidden = {*AGENT_DISCOVERABLE, *USER_DISCOVERABLE}
    assert len(hidden) == 48
    assert not hidden & {info["function"]["name"] for info in told}


@pytest.mark.tau2_data
def test_the_user_is_told_of_the_tools_of_the_task() -> None:
    tasks = bank().tasks()
    for task in tasks:
        told = [info["function"]["name"] for info in bank().user_tool_infos(task)]
        assert sorted(told) == sorted(task.user_tools or ())
    assert len(tasks) == 97
