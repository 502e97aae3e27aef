"""The command `get_reservation_details`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import text


class Signature(AirlineSignature):
    """Show what was booked: flights, cabin, passengers, baggage, insurance and payments."""

    class Input(BaseModel):
        """Which reservation it is."""

        reservation_id: str = text(
            "reservation_id: the reservation's six letters and digits",
            available_from=["get_user_details"],
        )

    plain_utterances: ClassVar[list[str]] = [
        "What is in my reservation?",
        "Show me the details of this booking.",
        "Which flights are on reservation K7Q2MD?",
        "Check who the passengers of my booking are.",
        "Did I buy insurance with this reservation?",
        "Look up the itinerary under this confirmation code.",
        "How was this reservation paid for?",
        "When was my trip booked, and in which cabin?",
        "How many bags are included in my booking?",
    ]


class ResponseGenerator(AirlineTool):
    """Looks the reservation up."""

    tool = "get_reservation_details"
