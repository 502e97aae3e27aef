"""The command `update_reservation_baggages`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import PAYMENT, number, text


class Signature(AirlineSignature):
    """Change how many bags are checked in with a booking, once the traveller confirms."""

    class Input(BaseModel):
        """How many bags there are to be, and what pays for them."""

        reservation_id: str = text(
            "reservation_id: the reservation's six letters and digits",
            available_from=["get_user_details"],
        )
        total_baggages: int = number(
            "total_baggages: how many bags are checked in from now on, those so far included"
        )
        nonfree_baggages: int = number(
            "nonfree_baggages: how many of all the bags have to be paid for"
        )
        payment_id: str = text(
            "payment_id: the credit card or gift card that pays for them",
            pattern=PAYMENT,
            available_from=["get_user_details"],
        )

    plain_utterances: ClassVar[list[str]] = [
        "Add a checked bag to my trip.",
        "I am going to bring two more suitcases.",
        "Can I check in another piece of luggage?",
        "Increase the baggage on my reservation to four.",
        "I need extra luggage and will pay with my gift card.",
        "How about one more bag for the flight home? Please add it.",
        "Put three bags on the booking, one of them paid.",
        "We have more luggage than we thought, add it.",
        "Update the number of suitcases I check in.",
    ]


class ResponseGenerator(AirlineTool):
    """Changes the baggage."""

    tool = "update_reservation_baggages"
