from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from greenroom.agents.fastworkflow.tool_values import UnfitValue, fitted
from greenroom.agents.fastworkflow.workflow_from_tools import workflow_from_tools
from greenroom.domains.airline import tools
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.tasks import Action
from greenroom.domains.world import World
from tests.agents.fastworkflow_planner import Order, Outcome, plan

BOOKING = Action(
    "book_reservation",
    {
        "user_id": "mia_li_3668",
        "origin": "JFK",
        "destination": "SEA",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": "HAT136", "date": "2024-05-20"}],
        "passengers": [{"first_name": "Mia", "last_name": "Li", "dob": "1990-04-05"}],
        "payment_methods": [
            {"payment_id": "certificate_7504069", "amount": 250},
            {"payment_id": "credit_card_4421486", "amount": 5.5},
        ],
        "total_baggages": 3,
        "nonfree_baggages": 0,
        "insurance": "no",
    },
)


FLIGHTS, PASSENGERS, PAYMENTS = (
    tools["book_reservation"].info["function"]["parameters"]["properties"][name]
    for name in ("flights", "passengers", "payment_methods")
)


@pytest.fixture
def workflow() -> Path:
    """The workflow that is generated for the airline's tools."""
    return workflow_from_tools("airline", tools.infos)


def command_module(path: Path) -> Any:
    spec = spec_from_file_location(f"airline_command_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands_of(workflow: Path) -> dict[str, Any]:
    return {
        path.stem: command_module(path) for path in sorted((workflow / "_commands").glob("*.py"))
    }


def text_of(action: Action) -> str:
    """A command as agents are told to write it: a name, and values between tags."""
    return action.name + "".join(
        f" <{name}>{value if isinstance(value, str) else json.dumps(value)}</{name}>"
        for name, value in action.kwargs.items()
    )


def arrived(outcome: Outcome) -> tuple[str | None, str]:
    # As text: 250 and 250.0 are two things in a database.
    return outcome.name, json.dumps(outcome.parameters)


def expected(action: Action) -> tuple[str | None, str]:
    return action.name, json.dumps(dict(action.kwargs))


def test_every_tool_has_a_command(workflow: Path) -> None:
    assert workflow.name == "airline_workflow"
    commands = commands_of(workflow)
    assert list(commands) == list(tools)
    assert len(commands) == 14


@pytest.mark.parametrize("name", list(tools))
def test_a_command_takes_what_its_tool_takes(workflow: Path, name: str) -> None:
    module = command_module(workflow / "_commands" / f"{name}.py")
    taken: type[BaseModel] = module.Signature.Input
    info: dict[str, Any] = tools[name].info["function"]
    assert list(taken.model_fields) == list(info["parameters"]["properties"])
    assert module.ResponseGenerator.tool == name
    assert module.Signature.__doc__ == info["description"]
    for parameter, field in taken.model_fields.items():
        # Agents are shown the description alone, and a value that equals an example is not taken.
        assert (field.description or "").startswith(f"{parameter}: ")
        assert field.examples is None


def test_lists_say_which_fields_their_items_have(workflow: Path) -> None:
    fields = commands_of(workflow)["book_reservation"].Signature.Input.model_fields
    for name, schema in (
        ("flights", FLIGHTS),
        ("passengers", PASSENGERS),
        ("payment_methods", PAYMENTS),
    ):
        (item,) = json.loads(fields[name].description.partition(" As JSON: ")[2])
        assert list(item) == schema["items"]["required"]


def test_no_two_commands_share_an_utterance(workflow: Path) -> None:
    own = [module.Signature.plain_utterances for module in commands_of(workflow).values()]
    said = [utterance.lower() for utterances in own for utterance in utterances]
    assert len(said) == len(set(said))
    assert all(len(utterances) >= 8 for utterances in own)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@pytest.mark.slow
@given(st.sampled_from([FLIGHTS, PASSENGERS, PAYMENTS]), st.data())
def test_an_item_takes_what_fits_and_says_what_is_missing(schema: Any, data: Any) -> None:
    names: list[str] = schema["items"]["required"]
    values = data.draw(st.dictionaries(st.sampled_from(names) | st.text(), JSON))
    try:
        (made,) = fitted([values], schema)
    except UnfitValue as problem:
        unusable = str(problem).removeprefix("item 1 has no usable ").removesuffix(".").split(", ")
        assert set(unusable) <= set(names)
        assert {name for name in names if values.get(name) in (None, "NOT_FOUND")} <= set(unusable)
    else:
        assert list(made) == names
        assert all(made[name] is not None for name in names)


@pytest.mark.parametrize(
    ("given_amount", "amount"), [(250, 250), (250.0, 250.0), ("250", 250), ("2.5", 2.5)]
)
def test_an_amount_stays_as_it_was_written(given_amount: Any, amount: Any) -> None:
    (made,) = fitted([{"payment_id": "gift_card_1", "amount": given_amount}], PAYMENTS)
    assert (made["amount"], type(made["amount"])) == (amount, type(amount))


@pytest.mark.parametrize("amount", [True, "much", float("inf"), "nan", None])
def test_what_is_no_amount_is_unusable(amount: Any) -> None:
    with pytest.raises(UnfitValue, match=r"^item 1 has no usable amount\.$"):
        fitted([{"payment_id": "gift_card_1", "amount": amount}], PAYMENTS)


def test_what_lists_lack_is_told_item_by_item(workflow: Path) -> None:
    signature = commands_of(workflow)["update_reservation_flights"].Signature

    def checked(*flights: dict[str, Any]) -> tuple[bool, str]:
        # As FastWorkflow makes them: unchecked.
        given = signature.Input.model_construct(reservation_id="A", flights=list(flights))
        return signature.validate_extracted_parameters(None, "", given)

    whole = {"flight_number": "HAT001", "date": "2024-05-20"}
    assert checked(whole) == (True, "")
    ok, problems = checked(whole, {"date": "2024-05-20"}, {})
    assert not ok
    assert problems.splitlines() == [
        "flights: item 2 has no usable flight_number.",
        "flights: item 3 has no usable flight_number, date.",
    ]


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_commands_are_resolved_or_refused_for_a_reason(tmp_path: Path, workflow: Path) -> None:
    passengers = {
        "reservation_id": "Z7GOZK",
        "passengers": [{"first_name": "Mia", "last_name": "Li"}],
    }
    flights = Action(
        "update_reservation_flights",
        {
            "reservation_id": "Z7GOZK",
            "cabin": "business",
            "flights": {"flight_number": "HAT136", "date": "2024-05-20"},
            "payment_id": "gift_card_1",
        },
    )
    certificate = Action("send_certificate", {"user_id": "mia_li_3668", "amount": 150.5})
    orders = [
        Order(text_of(BOOKING)),
        Order(text_of(certificate)),
        Order("list_all_airports"),
        Order("book_reservation for Mia Li, the nonstop, as discussed", dict(BOOKING.kwargs)),
        Order(text_of(Action("update_reservation_passengers", passengers))),
        Order(text_of(flights)),
        Order(text_of(Action(BOOKING.name, {**BOOKING.kwargs, "cabin": "first class"}))),
        Order("list_all_airports", run=True),
    ]
    done = plan(workflow, orders, tmp_path)
    assert [arrived(one) for one in done[:2]] == [expected(BOOKING), expected(certificate)]
    assert arrived(done[2]) == ("list_all_airports", "{}")
    # In words, a model finds the parameters: once is enough.
    assert (arrived(done[3]), done[3].extractions) == (expected(BOOKING), 1)
    assert sum(one.extractions for one in done) == 1
    assert not any(one.success for one in done[4:7])
    assert "passengers: item 1 has no usable dob." in done[4].text
    assert "flights" in done[5].text
    assert "JSON list" in done[5].text
    assert "cabin" in done[6].text
    assert "pattern ^(basic_economy|economy|business)$" in done[6].text
    # Carried out without data of its own, it works on the built-in pack.
    airline = load_domain("airline")
    airports = airline.tools["list_all_airports"].call(World(airline.pack.base), {}).observation
    assert done[7].success
    assert airports in done[7].text


@pytest.mark.official
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_every_official_action_arrives_as_it_was_written(
    tmp_path: Path, official_airline: Domain
) -> None:
    workflow = workflow_from_tools("airline", official_airline.tool_infos)
    actions = [action for task in official_airline.tasks("test") for action in task.actions]
    done = plan(workflow, [Order(text_of(action)) for action in actions], tmp_path)
    assert len(actions) == 158
    assert [arrived(one) for one in done] == [expected(action) for action in actions]
    # None of them takes a model.
    assert [one.extractions for one in done] == [0] * len(actions)


@pytest.mark.official
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_fastworkflow_alone_runs_the_tools_in_a_world_per_session(
    tmp_path: Path, workflow: Path, official_data: Path, official_airline: Domain
) -> None:
    look = text_of(Action("get_reservation_details", {"reservation_id": "Z7GOZK"}))
    cancel = text_of(Action("cancel_reservation", {"reservation_id": "Z7GOZK"}))
    orders = [
        Order(look, run=True, session="one"),
        Order(cancel, run=True, session="one"),
        Order(look, run=True, session="one"),
        Order(look, run=True, session="two"),
        Order(text_of(Action("calculate", {"expression": "2 * (3 + 4)"})), run=True),
        Order(text_of(Action("cancel_reservation", {"reservation_id": "NOWHERE"})), run=True),
    ]
    done = plan(workflow, orders, tmp_path, GREENROOM_DATA=str(official_data))
    before, cancelled, after, elsewhere, sum_, nowhere = (one.text for one in done)
    world = official_airline.play_out([Action("cancel_reservation", {"reservation_id": "Z7GOZK"})])
    assert cancelled == after == world.world["reservations"].text("Z7GOZK")
    assert before == elsewhere
    assert "cancelled" not in before
    assert sum_ == "14.0"
    assert nowhere == "Error: reservation not found"
    assert all(one.success for one in done)
