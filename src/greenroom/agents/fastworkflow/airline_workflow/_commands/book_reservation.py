"""The command `book_reservation`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import (
    AIRPORT,
    CABIN,
    Flight,
    Passenger,
    Payment,
    items,
    number,
    text,
)


class Signature(AirlineSignature):
    """Make a new booking for a traveller, once every detail is confirmed."""

    class Input(BaseModel):
        """The whole journey, who flies, and who pays."""

        user_id: str = text("user_id: the id of the traveller who books")
        origin: str = text(
            "origin: the airport where the journey begins, three letters",
            pattern=AIRPORT,
            available_from=["list_all_airports"],
        )
        destination: str = text(
            "destination: the airport where the journey leads, three letters",
            pattern=AIRPORT,
            available_from=["list_all_airports"],
        )
        flight_type: str = text("flight_type: one_way or round_trip", pattern=r"one_way|round_trip")
        cabin: str = text("cabin: basic_economy, economy or business", pattern=CABIN)
        flights: list[Flight] = items(
            "flights: every flight of the journey in order, as a JSON list of objects with "
            'flight_number and date: [{"flight_number": "HAT012", "date": "YYYY-MM-DD"}]',
            available_from=["search_direct_flight", "search_onestop_flight"],
        )
        passengers: list[Passenger] = items(
            "passengers: everybody who flies, as a JSON list of objects with first_name, "
            'last_name and dob: [{"first_name": "...", "last_name": "...", "dob": "YYYY-MM-DD"}]'
        )
        payment_methods: list[Payment] = items(
            "payment_methods: what pays for it, as a JSON list of objects with payment_id and "
            'amount, which make up the price: [{"payment_id": "credit_card_123", "amount": 100}]',
            available_from=["get_user_details"],
        )
        total_baggages: int = number("total_baggages: how many bags are checked in")
        nonfree_baggages: int = number("nonfree_baggages: how many of the bags have to be paid for")
        insurance: str = text("insurance: yes or no", pattern=r"yes|no")

    plain_utterances: ClassVar[list[str]] = [
        "Book this trip for me.",
        "I would like to buy tickets from New York to Seattle.",
        "Reserve two seats in business on these flights.",
        "Make a new reservation and pay with my credit card.",
        "Please go ahead and book the round trip with insurance.",
        "I want to purchase a one-way ticket in economy.",
        "Use my certificate first and put the rest on the gift card: book it.",
        "Get me on that flight with three checked bags.",
        "Create a booking for me and my daughter.",
    ]


class ResponseGenerator(AirlineTool):
    """Books the journey."""

    tool = "book_reservation"
