"""The command `update_reservation_flights`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import (
    CABIN,
    PAYMENT,
    Flight,
    items,
    text,
)


class Signature(AirlineSignature):
    """Move a booking to other flights or to another cabin, once the traveller confirms."""

    class Input(BaseModel):
        """What the journey becomes, and what pays the difference."""

        reservation_id: str = text(
            "reservation_id: the reservation's six letters and digits",
            available_from=["get_user_details"],
        )
        cabin: str = text(
            "cabin: basic_economy, economy or business; also if it stays as it is", pattern=CABIN
        )
        flights: list[Flight] = items(
            "flights: every flight of the changed journey, those that stay included, as a JSON "
            'list of objects with flight_number and date: [{"flight_number": "HAT012", "date": '
            '"YYYY-MM-DD"}]',
            available_from=["get_reservation_details", "search_direct_flight"],
        )
        payment_id: str = text(
            "payment_id: the credit card or gift card for the difference in price",
            pattern=PAYMENT,
            available_from=["get_user_details"],
        )

    plain_utterances: ClassVar[list[str]] = [
        "Move my trip to a later day.",
        "Change my flights to the earlier ones.",
        "I want to upgrade this booking to business class.",
        "Switch the return flight to HAT110 on May 23.",
        "Can I fly a day sooner on the same reservation?",
        "Put us in economy instead of basic economy and charge my card.",
        "Downgrade the cabin and refund the difference.",
        "Replace the connection with the nonstop that you found.",
        "Rebook me onto another flight and keep the reservation.",
    ]


class ResponseGenerator(AirlineTool):
    """Changes the flights."""

    tool = "update_reservation_flights"
