"""The command `update_reservation_passengers`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import Passenger, items, text


class Signature(AirlineSignature):
    """Correct or replace the people on a booking, as many as before, once it is confirmed."""

    class Input(BaseModel):
        """Who flies from now on."""

        reservation_id: str = text(
            "reservation_id: the reservation's six letters and digits",
            available_from=["get_user_details"],
        )
        passengers: list[Passenger] = items(
            "passengers: everybody who flies, those who stay included, as a JSON list of objects "
            'with first_name, last_name and dob: [{"first_name": "...", "last_name": "...", '
            '"dob": "YYYY-MM-DD"}]',
            available_from=["get_reservation_details"],
        )

    plain_utterances: ClassVar[list[str]] = [
        "Someone else is going to fly in my place.",
        "Change the passenger's name on the booking.",
        "My last name is misspelt on the ticket.",
        "Replace my friend with my sister on this trip.",
        "The date of birth of a traveller is wrong, correct it.",
        "Put Omar Rossi on the reservation instead of me.",
        "I need to update who is travelling.",
        "Swap one of the passengers for another person.",
        "Fix the spelling of my first name in the reservation.",
    ]


class ResponseGenerator(AirlineTool):
    """Changes the passengers."""

    tool = "update_reservation_passengers"
