"""The command `cancel_reservation`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import text


class Signature(AirlineSignature):
    """Call a whole booking off and pay the money back, once the traveller confirms."""

    class Input(BaseModel):
        """Which reservation it is."""

        reservation_id: str = text(
            "reservation_id: the reservation's six letters and digits",
            available_from=["get_user_details"],
        )

    plain_utterances: ClassVar[list[str]] = [
        "Cancel my whole trip.",
        "I no longer want to fly: cancel the booking and refund me.",
        "Please call off reservation Z7GOZK.",
        "I have to drop my flight because I am ill.",
        "Get rid of this reservation and give me my money back.",
        "We are not travelling after all, cancel everything.",
        "Undo the booking that I made this morning.",
        "Can you cancel my flights and return the payment?",
        "Delete the reservation, I changed my mind.",
    ]


class ResponseGenerator(AirlineTool):
    """Cancels the reservation."""

    tool = "cancel_reservation"
