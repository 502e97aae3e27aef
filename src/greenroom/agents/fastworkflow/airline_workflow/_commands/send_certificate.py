"""The command `send_certificate`."""

from __future__ import annotations

from typing import ClassVar, Union

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import number, text


class Signature(AirlineSignature):
    """Give a traveller a travel voucher as a gesture. It is money: the policy has to grant it."""

    class Input(BaseModel):
        """Who gets how much."""

        user_id: str = text("user_id: the id of the traveller who gets it")
        # FastWorkflow tells a union only by this spelling, and tries its types in order.
        amount: Union[int, float] = number(  # noqa: UP007
            "amount: what it is worth, in dollars"
        )

    plain_utterances: ClassVar[list[str]] = [
        "Compensate me for the delayed flight.",
        "Send the customer a voucher of 100 dollars.",
        "I expect something for the cancelled flight.",
        "Issue a travel certificate as an apology.",
        "Give this member a goodwill credit of 50 dollars.",
        "My flight was hours late, what do I get for it?",
        "Grant the traveller a certificate worth 200.",
        "I want compensation for the trouble you caused.",
    ]


class ResponseGenerator(AirlineTool):
    """Sends the certificate."""

    tool = "send_certificate"
