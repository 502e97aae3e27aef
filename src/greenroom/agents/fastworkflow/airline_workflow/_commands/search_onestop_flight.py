"""The command `search_onestop_flight`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import AIRPORT, DATE, text


class Signature(AirlineSignature):
    """Find the connections with a single change of planes between two airports on a day."""

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
        "Find connections with one stop from Boston to Seattle.",
        "A layover is fine: what is there from JFK to SFO on May 21?",
        "Show itineraries where I change planes once.",
        "Are there one-stop options that are cheaper?",
        "Search connecting flights from MCO to LAX for that day.",
        "I can stop over somewhere on the way to Phoenix.",
        "Which one-stop routes leave in the afternoon?",
        "If nothing goes straight there, look for a connection with a single stop.",
        "Give me the trips with exactly one transfer.",
    ]


class ResponseGenerator(AirlineTool):
    """Looks through the timetable."""

    tool = "search_onestop_flight"
