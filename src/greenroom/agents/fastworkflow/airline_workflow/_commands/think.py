"""The command `think`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import text


class Signature(AirlineSignature):
    """Write a thought down before going on. Nothing is looked up and nothing is changed."""

    class Input(BaseModel):
        """The thought."""

        thought: str = text("thought: what to reason about")

    plain_utterances: ClassVar[list[str]] = [
        "Let me reason about this first.",
        "Note for myself: basic economy cannot be changed.",
        "Before going on, consider what the policy says.",
        "I should go through the conditions one by one.",
        "Reflect on whether a refund is allowed here.",
        "Write down my plan: check the cabin, then the insurance.",
        "My reasoning so far: the flight has not left yet.",
        "Pause and weigh the options.",
    ]


class ResponseGenerator(AirlineTool):
    """Takes the thought down."""

    tool = "think"
