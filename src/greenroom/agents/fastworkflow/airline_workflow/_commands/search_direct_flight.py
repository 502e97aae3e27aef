"""The command `search_direct_flight`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import AIRPORT, DATE, text


class Signature(AirlineSignature):
    """Find the flights without a stop between two airports on a day, with seats and prices."""

    class Input(BaseModel):
        """From where to where, and when."""

        origin: str = text(
            "origin: the airport of departure, three letters",
            pattern=AIRPORT,
            available_from=["list_all_airports"],
        )
        destination: str = text(
            "destination: the airport of arrival, three letters",
            pattern=AIRPORT,
            available_from=["list_all_airports"],
        )
        date: str = text("date: the day of departure as YYYY-MM-DD", pattern=DATE)

    plain_utterances: ClassVar[list[str]] = [
        "Find nonstop flights from Boston to Denver on May 20.",
        "Is there a direct flight from JFK to SEA tomorrow?",
        "I want to fly straight through, without changing planes.",
        "Show flights without a layover between these two airports.",
        "What does a nonstop from ORD to MIA cost on that day?",
        "Are there seats on any direct flight in the morning?",
        "Search direct connections for the 18th, no stops please.",
        "Which planes go directly from Atlanta to Las Vegas?",
        "I do not want to change planes: what is there on Friday?",
    ]


class ResponseGenerator(AirlineTool):
    """Looks through the timetable."""

    tool = "search_direct_flight"
