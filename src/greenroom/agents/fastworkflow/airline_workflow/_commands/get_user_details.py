"""The command `get_user_details`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import text


class Signature(AirlineSignature):
    """Show a traveller's profile: name, membership, payment methods and reservation ids."""

    class Input(BaseModel):
        """Whose profile it is."""

        user_id: str = text("user_id: the traveller's id, first name, last name and a number")

    plain_utterances: ClassVar[list[str]] = [
        "Show me the profile of this traveller.",
        "Which payment methods does the customer have on file?",
        "Look up my account, please.",
        "What is my membership level?",
        "List all reservations that belong to this user id.",
        "I need the customer's name, address and saved cards.",
        "Pull up the passenger's frequent flyer account.",
        "How much is left on my gift cards and certificates?",
        "Is this customer a silver or a gold member?",
    ]


class ResponseGenerator(AirlineTool):
    """Looks the traveller up."""

    tool = "get_user_details"
