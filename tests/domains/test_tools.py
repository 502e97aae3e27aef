from __future__ import annotations

import sys
from typing import Annotated, Any, Literal, TypedDict, cast

import pytest

from greenroom.domains.airline import tools as airline_tools
from greenroom.domains.domain import Domain
from greenroom.domains.retail import tools as retail_tools
from greenroom.domains.tools import ToolInfo, Toolset
from greenroom.domains.world import Base, World
from greenroom.errors import InputError

tools = Toolset()


class Guest(TypedDict):
    name: Annotated[str, "Who comes."]
    age: int


@tools.add(writes=True)
def invite_guests(
    world: World,
    guests: Annotated[list[Guest], "Everybody."],
    mood: Annotated[Literal["merry", "calm"], "How."],
    budget: float = 1.0,
) -> str:
    """Invite guests.

    With a card.
    """
    world["guests"]["list"]["names"] = guests
    return f"{len(guests)} {mood} {budget}"


@tools.add(ends_episode=True)
def raise_trouble(world: World, note: str) -> Any:
    """Raise."""
    raise ValueError(note)


@tools.add()
def answer_json(world: World) -> dict[str, int]:
    """Answer with a record."""
    return {"n": 1}


@pytest.fixture
def world() -> World:
    return World(Base({"guests": {"list": {"names": []}}}))


def test_a_schema_comes_from_the_signature() -> None:
    assert tools["invite_guests"].info == {
        "type": "function",
        "function": {
            "name": "invite_guests",
            "description": "Invite guests.\n\nWith a card.",
            "parameters": {
                "type": "object",
                "properties": {
                    "guests": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "name": {"type": "string", "description": "Who comes."},
                                "age": {"type": "integer"},
                            },
                            "required": ["name", "age"],
                        },
                        "description": "Everybody.",
                    },
                    "mood": {"type": "string", "enum": ["merry", "calm"], "description": "How."},
                    "budget": {"type": "number"},
                },
                "required": ["guests", "mood"],
            },
        },
    }


def test_a_type_that_has_no_schema_is_refused() -> None:
    def look_back(world: World, when: complex) -> str:
        """Look."""
        return str(when)

    def look_on(world: World, where: list[complex]) -> str:
        """Look."""
        return str(where)

    for function in (look_back, look_on):
        with pytest.raises(InputError, match=f"of the tool {function.__name__}"):
            Toolset().add()(function)


def test_an_enumeration_of_numbers() -> None:
    odd = Toolset()

    @odd.add()
    def roll(world: World, sides: Literal[6, 20]) -> str:
        """Roll."""
        return str(sides)

    assert odd["roll"].info["function"]["parameters"]["properties"] == {
        "sides": {"type": "integer", "enum": [6, 20]}
    }


def test_defaults_need_not_be_given(world: World) -> None:
    result = tools["invite_guests"].call(world, {"guests": [], "mood": "calm"})
    assert result.observation == "0 calm 1.0"
    assert result.problem is None


def test_what_a_tool_raises_is_the_observation(world: World) -> None:
    result = tools["raise_trouble"].call(world, {"note": "no"})
    assert result.observation == "Error: no"
    assert result.problem == "ValueError: no"


def test_an_answer_that_is_no_text_becomes_json(world: World) -> None:
    assert tools["answer_json"].call(world, {}).observation == '{"n": 1}'


def test_a_record_keeps_a_copy_of_the_arguments(world: World) -> None:
    guests: list[Any] = [{"name": "Ada"}]
    tools["invite_guests"].call(world, {"guests": guests, "mood": "calm"})
    world["guests"]["list"]["names"][0]["name"] = "Eve"
    assert guests == [{"name": "Ada"}]


class InviteGuests:
    """A tool as Tau Bench writes them: the source of the texts that we answer with."""

    @staticmethod
    def invoke(data: Any, guests: Any, mood: Any, budget: Any = 1.0) -> str:
        return f"{data}{guests}{mood}{budget}"


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="later Pythons add a suggestion")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"mood": 1},
        {"guests": 1, "moood": 2},
        {"b": 1, "a": 2},
        {"guests": 1, "mood": 1, "extra": 3},
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_pythons_words(
    world: World, arguments: dict[str, Any]
) -> None:
    with pytest.raises(TypeError) as raised:
        InviteGuests.invoke(data=None, **arguments)
    result = tools["invite_guests"].call(world, arguments)
    assert result.observation == f"Error: {raised.value}"
    assert result.problem == str(raised.value)


def test_three_missing_arguments_are_listed_with_commas(world: World) -> None:
    observation = airline_tools["search_direct_flight"].call(world, {}).observation
    assert observation == (
        "Error: SearchDirectFlight.invoke() missing 3 required positional arguments: "
        "'origin', 'destination', and 'date'"
    )


def test_the_world_cannot_be_passed_as_an_argument(world: World) -> None:
    result = retail_tools["think"].call(world, {"data": {}, "thought": "hm"})
    assert "multiple values for keyword argument 'data'" in result.observation


def test_numbers_of_tools() -> None:
    assert len(retail_tools) == 16
    assert len(airline_tools) == 14
    assert list(retail_tools) == sorted(retail_tools)
    assert {n for n in airline_tools if airline_tools[n].ends_episode} == {
        "transfer_to_human_agents"
    }


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: _shape(item) for key, item in fields.items() if key != "description"}
    return value


@pytest.mark.official
def test_our_schemas_have_the_official_shape(
    official_retail: Domain, official_airline: Domain
) -> None:
    for domain in (official_retail, official_airline):
        official: dict[str, ToolInfo] = {
            info["function"]["name"]: info for info in domain.pack.tool_infos
        }
        assert sorted(official) == list(domain.tools)
        for name, tool in domain.tools.items():
            ours, theirs = tool.info["function"], official[name]["function"]
            assert _shape(ours["parameters"]) == _shape(theirs["parameters"]), name
            assert ours["description"] != theirs["description"], "our own words"
