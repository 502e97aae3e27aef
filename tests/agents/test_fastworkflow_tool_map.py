"""From FastWorkflow's commands and parameters to the domain's tools and plain arguments."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from greenroom.agents.fastworkflow.fastworkflow_tool_map import (
    OPTIONAL_TOOLS,
    ToolMap,
    UnmappedCommand,
    plain_arguments,
    plain_value,
)
from greenroom.domains.domain import Domain
from greenroom.errors import InputError


def tool(name: str, **parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": parameters, "required": []},
        },
    }


TOOLS = [
    tool(
        "book",
        count={"type": "integer"},
        price={"type": "number"},
        insured={"type": "boolean"},
        seats={"type": "array", "items": {"type": "integer"}},
        guest={"type": "object", "properties": {"age": {"type": "integer"}}},
        note={"type": "string"},
    ),
    tool("think", thought={"type": "string"}),
]


class Colour(enum.Enum):
    RED = "red"


class Guest(BaseModel):
    name: str
    age: int = 0


class Parameters(BaseModel):
    order_id: str = Field(default="NOT_FOUND")
    item_ids: list[str] = Field(default_factory=list[str])
    note: str = ""
    colour: Colour | None = None
    guest: Guest | None = None


class Nothing(BaseModel):
    """The parameters of a command that takes none."""


@dataclass
class Plain:
    order_id: str
    count: int


def test_parameters_of_every_kind_become_plain_values():
    given_parameters = Parameters(
        order_id="#W1", item_ids=["1"], note="n", colour=Colour.RED, guest=Guest(name="Ada")
    )
    assert plain_arguments(given_parameters) == {
        "order_id": "#W1",
        "item_ids": ["1"],
        "note": "n",
        "colour": "red",
        "guest": {"name": "Ada", "age": 0},
    }
    assert plain_arguments(Plain("#W1", 2)) == {"order_id": "#W1", "count": 2}
    assert plain_arguments({"order_id": "#W1", "count": 2}) == {"order_id": "#W1", "count": 2}
    assert plain_arguments(None) == plain_arguments(Nothing()) == {}


def test_parameters_that_cannot_be_read_say_so():
    with pytest.raises(TypeError, match="int cannot be read"):
        plain_arguments(3)


def test_what_nobody_gave_is_not_passed_on():
    assert plain_arguments(Parameters()) == {}
    unchecked = Parameters.model_construct(order_id="#W1", item_ids=[], note="INVALID")
    assert plain_arguments(unchecked) == {"order_id": "#W1"}


def test_an_empty_value_that_is_no_default_is_passed_on():
    assert plain_arguments({"note": ""}) == {"note": ""}


def test_models_that_were_constructed_unchecked_are_read_without_a_warning():
    # Warnings are errors here; dumping such a model would warn.
    odd = Parameters.model_construct(order_id=7, item_ids="not a list")
    assert plain_arguments(odd) == {"order_id": 7, "item_ids": "not a list"}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_a_plain_value_stays_what_it_is(value: Any):
    assert plain_value(value) == value


def test_texts_become_what_the_tool_takes():
    action = ToolMap(TOOLS).action(
        "book",
        {
            "count": "3",
            "price": "2.5",
            "insured": "True",
            "seats": '["1", 2]',
            "guest": '{"age": "40"}',
            "note": "12",
        },
    )
    assert action["name"] == "book"
    assert action["arguments"] == {
        "count": 3,
        "price": 2.5,
        "insured": True,
        "seats": ["1", 2],
        "guest": {"age": "40"},
        "note": "12",
    }


def test_lists_and_objects_are_typed_within():
    arguments = ToolMap(TOOLS).action("book", {"seats": ["1", "x"], "guest": {"age": "40"}})
    assert arguments["arguments"] == {"seats": [1, "x"], "guest": {"age": 40}}


@pytest.mark.parametrize("text", ["three", "", "3.5", "true", "[1]", "null"])
def test_a_text_that_does_not_fit_is_left_to_the_tool_to_refuse(text: str):
    assert ToolMap(TOOLS).action("book", {"count": text})["arguments"] == {"count": text}


@given(st.integers(-(10**15), 10**15))
def test_every_whole_number_survives_being_text(number: int):
    action = ToolMap(TOOLS).action("book", {"count": str(number)})
    assert action["arguments"] == {"count": number}
    assert orjson.loads(orjson.dumps(action)) == action


def test_a_command_that_stands_for_no_tool_lists_those_that_do():
    with pytest.raises(UnmappedCommand, match=r"'fly' is not available here. Available: book"):
        ToolMap(TOOLS).action("Sky/fly", {})


def test_names_that_differ_are_mapped_both_ways():
    mapped = ToolMap(TOOLS, {"book": "make_booking"})
    assert mapped.action("Desk/make_booking", {})["name"] == "book"
    mapped.check(["make_booking"], "mine")
    with pytest.raises(UnmappedCommand):
        mapped.action("book", {})


def test_a_missing_tool_is_told_before_anything_runs():
    with pytest.raises(InputError, match="The workflow mine has no command for book"):
        ToolMap(TOOLS).check(["think", "look"], "mine")
    ToolMap(TOOLS).check(["book"], "mine")
    assert "think" in OPTIONAL_TOOLS


def test_a_map_of_tools_that_do_not_exist_is_refused():
    with pytest.raises(InputError, match="names fly, which the domain does not have"):
        ToolMap(TOOLS, {"fly": "flight"})


def test_the_retail_tools_map_to_themselves(retail: Domain):
    names = [info["function"]["name"] for info in retail.tool_infos]
    mapped = ToolMap(retail.tool_infos)
    assert [mapped.action(name, None)["name"] for name in names] == names
