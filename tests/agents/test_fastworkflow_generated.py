"""Workflows that are generated from tools: what their commands take, and episodes with them."""

from __future__ import annotations

import json
import pickle
import sys
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.agents.fastworkflow.fastworkflow_tool_map import ToolMap
from greenroom.agents.fastworkflow.folders import find_workflow, package_folder
from greenroom.agents.fastworkflow.tool_values import UnfitValue, fitted
from greenroom.agents.fastworkflow.training import workflow_digest
from greenroom.agents.fastworkflow.workflow_from_tools import command_files, workflow_from_tools
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.domains.domain import Domain, load_domain
from greenroom.errors import InputError
from greenroom.model_server import running_server
from greenroom.reports import build_report
from greenroom.store import EpisodeRecord, open_store
from tests.agents.fastworkflow_planner import Order, plan
from tests.conftest import ROOT

LIBRARY = f"{ROOT}/examples/by_path/domain.py"


def tool(name: str, about: str = "", required: tuple[str, ...] = (), **parameters: Any) -> Any:
    schema = {"type": "object", "properties": parameters, "required": list(required)}
    return {"function": {"name": name, "description": about, "parameters": schema}}


TEXT = {"type": "string"}
ADDRESS = {
    "type": "object",
    "description": "Where to.",
    "properties": {"street": TEXT, "zip": TEXT, "floor": {"type": "integer"}},
    "required": ["street", "zip"],
}
ADDRESS_LIST = {"type": "array", "items": ADDRESS}
SHIP = tool(
    "shipParcel",
    "Ship a parcel.",
    ("from", "address", "size", "prices", "route", "insured", "colour"),
    **{
        "from": TEXT,
        "address": ADDRESS,
        "size": {"type": "integer", "enum": [1, 2]},
        "prices": {"type": "array", "items": {"type": "number"}},
        "route": {"type": "array", "items": {"type": "array", "items": TEXT}},
        "insured": {"type": "boolean"},
        "colour": {"type": "string", "enum": ["dark red", "blue (light)"]},
        "note": {"anyOf": [TEXT, {"type": "null"}]},
        "copies": {"type": ["integer", "null"]},
    },
)
ASK = tool("ask-desk", "Ask the desk.", (), tags={"type": "array", "items": TEXT})
PARCEL: dict[str, Any] = {
    "from": "Ann",
    "address": {"street": "Hill Road", "zip": "01234", "floor": 2},
    "size": 2,
    "prices": [250, 2.5],
    "route": [["A", "B"], ["C"]],
    "insured": True,
    "colour": "blue (light)",
}


def text_of(name: str, arguments: dict[str, Any]) -> str:
    return name + "".join(
        f" <{key}>{value if isinstance(value, str) else json.dumps(value)}</{key}>"
        for key, value in arguments.items()
    )


# The folder


def test_the_same_tools_give_the_same_files_under_the_same_path():
    first = workflow_from_tools("parcels", [SHIP, ASK])
    again = workflow_from_tools("parcels", [ASK, json.loads(json.dumps(SHIP))])
    assert first == again
    assert first.name == "parcels_workflow"
    assert sorted(path.name for path in first.rglob("*.py")) == ["ask_desk.py", "shipparcel.py"]
    other = workflow_from_tools("parcels", [SHIP])
    assert workflow_digest(other) != workflow_digest(first)
    # Nothing is left of the drafts.
    assert sorted(path.name[:1] for path in first.parent.parent.iterdir()) == ["p", "p"]


def test_retail_has_fastworkflows_own_workflow_and_a_path_wins(retail: Domain, tmp_path: Path):
    infos = retail.tool_infos
    assert find_workflow("retail", None, infos).is_relative_to(package_folder())
    (tmp_path / "_commands").mkdir()
    assert find_workflow("parcels", tmp_path, [SHIP]) == tmp_path
    assert find_workflow("parcels", None, [SHIP]) == workflow_from_tools("parcels", [SHIP])


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ([], "the domain has no tools"),
        ([tool("ask-desk"), tool("ask_desk")], "several tools for the command ask_desk"),
        ([tool("_hidden")], "'_hidden' cannot be a command"),
    ],
)
def test_tools_that_cannot_be_commands_are_told(tools: list[Any], problem: str):
    with pytest.raises(InputError, match=f"for parcels: .*{problem}.*--workflow-path"):
        command_files("parcels", tools)


def test_what_is_said_of_two_tools_is_an_utterance_of_neither():
    files = command_files("d", [tool("a_b", "Do it. Again."), tool("c", "Do it. Once.")])
    assert "'Do it.'" not in "".join(files.values())
    assert "'Again.'" in files["a_b.py"]


@given(st.text(min_size=1), st.dictionaries(st.text(min_size=1), st.text()))
def test_whatever_is_written_in_a_schema_is_in_the_file(about: str, words: dict[str, str]):
    parameters: Any = {"type": "object", "properties": {}, "words": [words, True, None, 1.5]}
    info = {"function": {"name": "t", "description": about, "parameters": parameters}}
    (source,) = command_files("d", [info]).values()
    found: dict[str, Any] = {"__name__": "generated"}
    exec(source, found)
    assert found["Signature"].parameters == parameters
    assert found["Signature"].__doc__ == about
    assert len(found["Signature"].plain_utterances) >= 8


def test_a_commands_parameters_can_be_kept(monkeypatch: pytest.MonkeyPatch):
    path = workflow_from_tools("parcels", [SHIP]) / "_commands" / "shipparcel.py"
    spec = spec_from_file_location("generated_shipparcel", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    given = module.Signature.Input.model_construct(**PARCEL)
    assert pickle.loads(pickle.dumps(given)) == given


# Values


def test_values_are_read_as_the_schema_wants_them():
    written = "{'street': 'Hill Road', 'zip': 1234, 'floor': '2', 'planet': 'Earth'}"
    wanted = {"street": "Hill Road", "zip": "1234", "floor": 2}
    assert fitted(written, ADDRESS) == wanted
    assert fitted({"street": "H", "zip": "1", "floor": None}, ADDRESS) == {
        "street": "H",
        "zip": "1",
    }
    more = {**ADDRESS, "additionalProperties": True}
    assert fitted(written, more) == wanted | {"planet": "Earth"}


@pytest.mark.parametrize(
    ("value", "schema", "problem"),
    [
        ("Hill Road", ADDRESS, "'Hill Road' is no object."),
        ({"zip": "1", "floor": "high"}, ADDRESS, "has no usable street, floor."),
        (3, {"type": "integer", "enum": [1, 2]}, "3 is not one of 1, 2."),
        ([1, "x"], {"type": "array", "items": {"type": "integer"}}, "item 2 'x' is no integer."),
        ([[{"zip": "1"}]], {"type": "array", "items": ADDRESS_LIST}, "item 1 item 1 has no usable"),
    ],
)
def test_what_does_not_fit_is_told(value: Any, schema: Any, problem: str):
    with pytest.raises(UnfitValue) as told:
        fitted(value, schema)
    assert str(told.value).startswith(problem)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["street", "zip"]), inner),
    max_leaves=6,
)


@given(VALUES, st.sampled_from(list(SHIP["function"]["parameters"]["properties"].values())))
def test_what_fits_is_not_changed_again(value: Any, schema: Any):
    try:
        once = fitted(value, schema)
    except UnfitValue:
        return
    assert fitted(once, schema) == once


# With FastWorkflow


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_fastworkflow_takes_every_kind_of_parameter(tmp_path: Path):
    left_out = {"note": "NOT_FOUND", "copies": "NOT_FOUND"}
    orders = [
        Order(text_of("shipparcel", PARCEL | left_out)),
        Order(text_of("shipparcel", PARCEL | {"note": "fragile", "copies": 3})),
        # Without every parameter, FastWorkflow asks a model.
        Order(text_of("shipparcel", PARCEL), PARCEL | {"note": None, "copies": None}),
        Order(text_of("shipparcel", PARCEL | left_out | {"address": {"zip": "1"}})),
        Order(text_of("shipparcel", PARCEL | left_out | {"size": 3})),
        Order(text_of("shipparcel", PARCEL | left_out | {"colour": "red"})),
        Order(text_of("ask_desk", {"tags": ["a", "b"]})),
    ]
    workflow = workflow_from_tools("parcels", [SHIP, ASK])
    done = plan(workflow, orders, tmp_path)
    tools = ToolMap([SHIP, ASK])
    made = [tools.action(str(one.name), one.parameters) for one in done if one.success]
    assert made == [
        {"name": "shipParcel", "arguments": PARCEL},
        {"name": "shipParcel", "arguments": PARCEL | {"note": "fragile", "copies": 3}},
        {"name": "shipParcel", "arguments": PARCEL},
        {"name": "ask-desk", "arguments": {"tags": ["a", "b"]}},
    ]
    assert [one.success for one in done] == [True] * 3 + [False] * 3 + [True]
    assert [one.extractions for one in done] == [0, 0, 1, 0, 0, 0, 0]
    assert "address: has no usable street." in done[3].text
    assert "size: 3 is not one of 1, 2." in done[4].text
    assert "dark red|blue" in done[5].text


def played(
    env: str, domain: Domain, tasks: list[int], **more: Any
) -> tuple[list[EpisodeRecord], dict[str, list[str]]]:
    with running_server(domain) as server:
        store = open_store()
        config = check_config(
            {
                "agent_strategy": "fastworkflow",
                "agent_options": {"intent_models": "0"},
                "env": env,
                "task_ids": tasks,
                "model": "oracle",
                "api_base": server.api_base,
                "max_concurrency": 4,
                **more,
            }
        )
        run, prepared = start_run(store, config)
        anyio.run(partial(play_run, store, run, prepared))
    facts = build_report(store, store.runs.find(run.name)).agent_facts
    return sorted(store.runs.results(run.id), key=lambda episode: episode.task_index), facts


def actions(episode: EpisodeRecord) -> list[tuple[str, dict[str, Any]]]:
    return [(s.action.name, s.action.kwargs) for s in episode.steps if s.action.name != "respond"]


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_domain_in_a_file_is_played_without_a_workflow_of_its_own():
    episodes, facts = played(LIBRARY, load_domain(LIBRARY), [0], num_trials=2)
    assert [episode.outcome for episode in episodes] == ["success", "success"]
    for episode in episodes:
        assert actions(episode) == [("lend_book", {"member_id": "M-1", "book_id": "B-1"})]
        assert episode.tallies["commands resolved"] == {"exact": 1}
    assert facts["workflow"] == ["library_workflow"]


@pytest.mark.official
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_all_official_airline_tasks_are_played(official_airline: Domain, official_data: Path):
    tasks = list(range(len(official_airline.tasks("test"))))
    episodes, _ = played("airline", official_airline, tasks, data=str(official_data))
    assert len(episodes) == 50
    assert [episode.task_index for episode in episodes if episode.outcome != "success"] == []
    for episode in episodes:
        assert actions(episode) == [
            (action.name, action.kwargs)
            for action in episode.task.actions
            if action.name != "respond"
        ]
        assert set(episode.tallies["commands resolved"]) <= {"exact"}
