"""One traveller's conversation: their wishes, how they refer to trips, and the lookups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from greenroom.domains.airline.generator.content import WORDING
from greenroom.domains.airline.generator.timetable import TODAY, day
from greenroom.domains.airline.generator.travellers import Airline, Traveller
from greenroom.domains.airline.tools import AIRPORTS
from greenroom.domains.generation import Unsuitable, Wish
from greenroom.domains.tasks import Action
from greenroom.domains.world import Record

Test = Callable[[Record], bool]


@dataclass
class Journey:
    """A traveller in a conversation; every reservation has one wish at most."""

    rng: Random
    airline: Airline
    traveller: Traveller
    forgetful: bool
    """The traveller names trips by their ends instead of their numbers."""
    taken: list[str] = field(default_factory=list[str])

    def say(self, text: str, /, **words: str) -> str:
        """One way to say something."""
        return WORDING.say(self.rng, text, **words)

    def take(self, suits: Test = lambda _: True, *, past: bool = False) -> Record:
        """A reservation that suits; it is taken from now on."""
        found = [
            reservation
            for reservation in self.traveller.reservations
            if reservation["reservation_id"] not in self.taken
            and (reservation["flights"][0]["date"] < day(TODAY)) == past
            and suits(reservation)
        ]
        if not found:
            raise Unsuitable
        chosen = self.rng.choice(found)
        self.taken.append(chosen["reservation_id"])
        return chosen

    def trip(self, reservation: Record) -> str:
        """How the traveller refers to a reservation."""
        text = "trip_by_ends" if self.forgetful else "trip_by_number"
        return self.say(
            text,
            number=reservation["reservation_id"],
            origin=AIRPORTS[reservation["origin"]],
            destination=AIRPORTS[reservation["destination"]],
            date=spoken_day(reservation["flights"][0]["date"]),
        )

    def card(self) -> tuple[Record, str]:
        """One of the traveller's credit cards, and its name."""
        methods = self.traveller.profile["payment_methods"].values()
        card = self.rng.choice([method for method in methods if method["source"] == "credit_card"])
        return card, self.say("card", digits=card["last_four"], brand=card["brand"].capitalize())

    def profile(self) -> Action:
        """Looking up the traveller's profile."""
        return Action("get_user_details", {"user_id": self.traveller.user_id})

    def found(self, reservation: Record) -> tuple[Action, ...]:
        """The lookup of a reservation."""
        return (on(reservation, "get_reservation_details"),)


Draw = Callable[[Journey], Wish]


def on(reservation: Record, tool: str, **arguments: Any) -> Action:
    """A call about a reservation."""
    return Action(tool, {"reservation_id": reservation["reservation_id"], **arguments})


def spoken_day(date: str) -> str:
    """A date within a sentence."""
    return f"May {int(date[-2:])}"


def spoken_cabin(cabin: str) -> str:
    """A cabin within a sentence."""
    return cabin.replace("_", " ")
