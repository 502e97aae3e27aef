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

from greenroom.agents.fastworkflow.airline_workflow import WORKFLOW_PATH
from greenroom.agents.fastworkflow.airline_workflow.airline_commands import airline
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import (
    NOT_FOUND,
    Flight,
    Passenger,
    Payment,
    incomplete_items,
)
from greenroom.domains.airline import tools
from greenroom.domains.domain import Domain
from greenroom.domains.tasks import Action
from greenroom.errors import DataError
from tests.agents.fastworkflow_planner import Order, Outcome, plan

COMMANDS = sorted((WORKFLOW_PATH / "_commands").glob("*.py"))
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


def command_module(path: Path) -> Any:
    spec = spec_from_file_location(f"airline_command_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_every_tool_has_a_command() -> None:
    assert [path.stem for path in COMMANDS] == list(tools)
    assert len(COMMANDS) == 14


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_takes_what_its_tool_takes(path: Path) -> None:
    module = command_module(path)
    taken: type[BaseModel] = module.Signature.Input
    parameters: dict[str, Any] = tools[path.stem].info["function"]["parameters"]["properties"]
    assert list(taken.model_fields) == list(parameters)
    assert module.ResponseGenerator.tool == path.stem
    for name, field in taken.model_fields.items():
        # Agents are shown the description alone, and a value that equals an example is not taken.
        assert (field.description or "").startswith(f"{name}: ")
        assert field.examples is None


def test_the_items_of_lists_have_the_fields_that_the_tools_want() -> None:
    properties = tools["book_reservation"].info["function"]["parameters"]["properties"]
    for name, item in (
        ("flights", Flight),
        ("passengers", Passenger),
        ("payment_methods", Payment),
    ):
        assert list(item.model_fields) == properties[name]["items"]["required"]


def test_no_two_commands_share_an_utterance() -> None:
    said = [u for path in COMMANDS for u in command_module(path).Signature.plain_utterances]
    assert len(said) == len({utterance.lower() for utterance in said})
    assert all(len(command_module(p).Signature.plain_utterances) >= 8 for p in COMMANDS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.sampled_from([Flight, Passenger, Payment]), st.data())
def test_an_item_takes_anything_and_says_what_is_missing(item: type[Any], data: Any) -> None:
    names = sorted(item.model_fields)
    values = data.draw(st.dictionaries(st.sampled_from(names) | st.text(), JSON))
    made = item(**values)
    for name in names:
        if values.get(name) in (None, NOT_FOUND):
            assert name in made.missing()
    assert set(made.missing()) <= set(names)


@pytest.mark.parametrize(
    ("given_amount", "amount"),
    [(250, 250), (250.0, 250.0), ("250", 250), ("2.5", 2.5), (True, None), ("much", None)],
)
def test_an_amount_stays_as_it_was_written(given_amount: Any, amount: Any) -> None:
    made = Payment.model_validate({"payment_id": "gift_card_1", "amount": given_amount})
    assert (made.amount, type(made.amount)) == (amount, type(amount))
    assert ("amount" in made.missing()) == (amount is None)


def test_an_amount_without_end_is_none() -> None:
    assert Payment.model_validate({"amount": float("inf")}).amount is None
    assert Payment.model_validate({"amount": "nan"}).amount is None


def test_what_lists_lack_is_told_item_by_item() -> None:
    class Input(BaseModel):
        reservation_id: str
        flights: list[Flight]

    whole = Flight(flight_number="HAT001", date="2024-05-20")
    assert incomplete_items(Input(reservation_id="A", flights=[whole])) == ""
    partly = Input(reservation_id="A", flights=[whole, Flight(date="2024-05-20"), Flight()])
    assert incomplete_items(partly).splitlines() == [
        "flights: item 2 has no usable flight_number.",
        "flights: item 3 has no usable flight_number, date.",
    ]


def test_without_data_it_is_said_where_to_get_some() -> None:
    airline.cache_clear()
    with pytest.raises(DataError, match="GREENROOM_DATA"):
        airline()


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_commands_are_resolved_or_refused_for_a_reason(tmp_path: Path) -> None:
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
        Order(
            text_of(Action("search_direct_flight", {"origin": "Boston", "destination": "SEA"}))
            + " <date>2024-05-20</date>"
        ),
        Order("list_all_airports", run=True),
    ]
    done = plan(WORKFLOW_PATH, orders, tmp_path)
    assert [arrived(one) for one in done[:2]] == [expected(BOOKING), expected(certificate)]
    assert arrived(done[2]) == ("list_all_airports", "{}")
    # In words, a model finds the parameters: once is enough.
    assert (arrived(done[3]), done[3].extractions) == (expected(BOOKING), 1)
    assert sum(one.extractions for one in done) == 1
    assert not any(one.success for one in done[4:])
    assert "passengers: item 1 has no usable dob." in done[4].text
    assert "flights" in done[5].text
    assert "JSON list" in done[5].text
    assert "origin" in done[6].text
    assert "pattern ^([A-Z]{3})$" in done[6].text
    # Carried out without data, it says so.
    assert "GREENROOM_DATA" in done[7].text


@pytest.mark.official
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_every_official_action_arrives_as_it_was_written(
    tmp_path: Path, official_airline: Domain
) -> None:
    actions = [action for task in official_airline.tasks("test") for action in task.actions]
    done = plan(WORKFLOW_PATH, [Order(text_of(action)) for action in actions], tmp_path)
    assert len(actions) == 158
    assert [arrived(one) for one in done] == [expected(action) for action in actions]
    # None of them takes a model.
    assert [one.extractions for one in done] == [0] * len(actions)


@pytest.mark.official
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_fastworkflow_alone_runs_the_tools_in_a_world_per_session(
    tmp_path: Path, official_data: Path, official_airline: Domain
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
    done = plan(WORKFLOW_PATH, orders, tmp_path, GREENROOM_DATA=str(official_data))
    before, cancelled, after, elsewhere, sum_, nowhere = (one.text for one in done)
    world = official_airline.play_out([Action("cancel_reservation", {"reservation_id": "Z7GOZK"})])
    assert cancelled == after == world.world["reservations"].text("Z7GOZK")
    assert before == elsewhere
    assert "cancelled" not in before
    assert sum_ == "14.0"
    assert nowhere == "Error: reservation not found"
    assert all(one.success for one in done)
