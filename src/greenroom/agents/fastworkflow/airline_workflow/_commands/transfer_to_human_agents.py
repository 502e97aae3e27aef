"""The command `transfer_to_human_agents`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import text


class Signature(AirlineSignature):
    """Hand the traveller over to a person, which ends the conversation.

    Only for those who ask for a person, or whose request no command can serve.
    """

    class Input(BaseModel):
        """What the person has to know."""

        summary: str = text("summary: what the traveller needs, in a sentence or two")

    plain_utterances: ClassVar[list[str]] = [
        "I want to talk to a real person.",
        "Connect me with a human, please.",
        "Let me speak to your supervisor.",
        "You cannot help me: get somebody who can.",
        "Put me through to the service desk.",
        "Escalate my case to a representative.",
        "Hand this conversation over to a colleague.",
        "No more bots, I need an employee on the line.",
    ]


class ResponseGenerator(AirlineTool):
    """Hands over."""

    tool = "transfer_to_human_agents"
