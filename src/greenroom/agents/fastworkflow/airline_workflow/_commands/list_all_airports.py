"""The command `list_all_airports`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)


class Signature(AirlineSignature):
    """Show every airport that the airline serves: its three letters and its city."""

    class Input(BaseModel):
        """Nothing is needed."""

    plain_utterances: ClassVar[list[str]] = [
        "Which airports do you fly to?",
        "List every airport you serve.",
        "What are the airport codes of your cities?",
        "Give me all destinations of the airline.",
        "In which cities can I board one of your planes?",
        "What is the three-letter code for Chicago?",
        "Show the whole network of airports.",
        "Do you fly to Denver at all?",
    ]


class ResponseGenerator(AirlineTool):
    """Names the airports."""

    tool = "list_all_airports"
