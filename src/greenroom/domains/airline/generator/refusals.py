"""Requests that the policy forbids, and that the traveller then drops; and the way to a person."""

from __future__ import annotations

from typing import Final

from greenroom.domains.airline.generator.journey import Draw, Journey, Test, spoken_day
from greenroom.domains.airline.generator.wishes import (
    full_name,
    is_compensated,
    is_free_to_cancel,
    other_day,
    was_cancelled,
)
from greenroom.domains.airline.tools import AIRPORTS
from greenroom.domains.generation import Wish
from greenroom.domains.tasks import Action
from greenroom.domains.world import Record


def _refused(journey: Journey, reservation: Record, text: str, **words: str) -> Wish:
    said = journey.say(text, trip=journey.trip(reservation), **words)
    return Wish(said, journey.found(reservation))


def cancel_uninsured(journey: Journey) -> Wish:
    """A cheap trip without insurance stays booked after a day."""
    reservation = journey.take(lambda r: not is_free_to_cancel(r) and r["insurance"] == "no")
    reason = journey.rng.choice(("any", "health", "weather"))
    return _refused(journey, reservation, "refuse_cancel", why=journey.say(f"reason_{reason}"))


def cancel_without_cause(journey: Journey) -> Wish:
    """Insurance does not pay for a change of plans."""
    reservation = journey.take(lambda r: not is_free_to_cancel(r) and r["insurance"] == "yes")
    return _refused(journey, reservation, "refuse_cancel", why=journey.say("reason_any"))


def change_basic_economy(journey: Journey) -> Wish:
    """Flights in basic economy stay as they are."""
    reservation = journey.take(lambda r: r["cabin"] == "basic_economy" and len(r["flights"]) == 1)
    date = spoken_day(other_day(journey, reservation)[1])
    return _refused(journey, reservation, "refuse_change", date=date)


def _matching(suits: Test, text: str) -> Draw:
    def draw(journey: Journey) -> Wish:
        return _refused(journey, journey.take(suits), text)

    return draw


def leave_one_out(journey: Journey) -> Wish:
    """The number of passengers stays the same."""
    reservation = journey.take(lambda r: len(r["passengers"]) > 1)
    name = full_name(reservation["passengers"][-1])
    return _refused(journey, reservation, "refuse_fewer_passengers", name=name)


def bring_one_more(journey: Journey) -> Wish:
    """Nobody joins a reservation later."""
    name = full_name(journey.rng.choice(journey.traveller.profile["saved_passengers"]))
    return _refused(journey, journey.take(), "refuse_more_passengers", name=name)


def upgrade_one(journey: Journey) -> Wish:
    """All passengers of a reservation fly in one cabin."""
    reservation = journey.take(lambda r: len(r["passengers"]) > 1 and r["cabin"] != "business")
    name = full_name(journey.rng.choice(reservation["passengers"]))
    return _refused(journey, reservation, "refuse_upgrade_one", name=name)


def go_elsewhere(journey: Journey) -> Wish:
    """The ends of a trip stay the same."""
    reservation = journey.take(lambda r: r["cabin"] != "basic_economy")
    others = [a for a in AIRPORTS if a not in (reservation["origin"], reservation["destination"])]
    city = AIRPORTS[journey.rng.choice(others)]
    return _refused(journey, reservation, "refuse_destination", city=city)


def compensate_regular(journey: Journey) -> Wish:
    """Regular members in a cheap cabin without insurance get no certificate."""
    reservation = journey.take(
        lambda r: was_cancelled(journey, r) and not is_compensated(journey, r), past=True
    )
    return _refused(journey, reservation, "refuse_compensation")


DROPPED: Final[tuple[Draw, ...]] = (
    cancel_uninsured,
    cancel_without_cause,
    change_basic_economy,
    _matching(lambda r: r["insurance"] == "no", "refuse_insurance"),
    _matching(lambda r: r["insurance"] == "yes", "refuse_insurance_refund"),
    _matching(lambda r: r["total_baggages"] > 0, "refuse_fewer_bags"),
    leave_one_out,
    bring_one_more,
    upgrade_one,
    go_elsewhere,
    compensate_regular,
)

_BEYOND_THE_DESK: Final = (
    ("file a claim for a suitcase that never arrived", "a claim for lost baggage"),
    ("arrange a charter flight for your choir", "a charter flight"),
    ("ask for the recording of an earlier call", "the recording of a call"),
    ("have a cello carried in the cabin", "an instrument in the cabin"),
    ("get proof of travel for your tax office", "proof of travel"),
    ("have two accounts of yours merged", "two accounts to be merged"),
    ("talk about advertising in the cabin magazine", "advertising"),
    ("report a broken seat to the technicians", "a report of a broken seat"),
    ("apply for a job as a flight attendant", "a job as a flight attendant"),
    ("hire a lounge for a birthday", "a lounge for a birthday"),
    ("have a lost umbrella looked for", "a search for an umbrella"),
    ("visit the cockpit with a school class", "a visit to the cockpit"),
    ("film a short documentary on board", "leave to film on board"),
    ("praise a pilot in writing", "a letter of praise for a pilot"),
    ("have miles from another program credited", "miles from another program"),
    ("order twenty model planes", "twenty model planes"),
)


def handover(journey: Journey) -> Wish:
    """A request that needs a person, to come after everything else."""
    matter, summary = journey.rng.choice(_BEYOND_THE_DESK)
    transfer = Action("transfer_to_human_agents", {"summary": f"The traveller asks for {summary}."})
    return Wish(journey.say("then_a_person", matter=matter), (transfer,))
