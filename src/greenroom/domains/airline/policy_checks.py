"""What the airline's policy forbids, and its tools let pass."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from greenroom.domains.policy_checks import Moment, PolicyCheck
    from greenroom.domains.tasks import Action
    from greenroom.domains.world import Record

_NOW: Final = datetime.fromisoformat("2024-05-15T15:00:00")
_MOST_PASSENGERS: Final = 5
_MOST_PAYMENTS: Final = {"certificate": 1, "credit_card": 1, "gift_card": 3}
_PER_PASSENGER: Final = (50, 100)
_FREE_BAGS: Final = {
    membership: re.compile(rf"\b{membership}\b" + r"[^\d]{1,60}?\b(\d)\b" * 3, re.IGNORECASE)
    for membership in ("regular", "silver", "gold")
}
"""Where a policy says how many bags are free in each cabin: packs differ."""
_CABINS: Final = ("basic_economy", "economy", "business")


def one_traveller(moment: Moment) -> str | None:
    """Reservations of one traveller alone change in a conversation."""
    if not moment.action.name.startswith(("update_", "cancel_")):
        return None
    owner = _owner(moment, moment.action)
    first = next((one for act in moment.earlier if (one := _owner(moment, act))), owner)
    if owner == first:
        return None
    return f"changes a reservation of {owner}, while the conversation is with {first}"


def may_cancel(moment: Moment) -> str | None:
    """A cancellation needs a day, a cancelled flight, business, or insurance; and nothing flown."""
    reservation = _reservation(moment)
    if moment.action.name != "cancel_reservation" or reservation is None:
        return None
    flown = [one["flight_number"] for one in reservation["flights"] if _is_flown(moment, one)]
    if flown:
        return f"cancels a journey of which {flown[0]} is flown"
    booked, cabin = datetime.fromisoformat(reservation["created_at"]), _cabin(moment, reservation)
    allowed = (
        _NOW - booked <= timedelta(days=1)
        or cabin == "business"
        or reservation.get("insurance") == "yes"  # the reason is for the conversation
        or any(_status(moment, one) == "cancelled" for one in reservation["flights"])
    )
    if allowed:
        return None
    return (
        f"cancels {reservation['reservation_id']}, which is {_words(cabin)} without "
        f"insurance, was booked on {booked:%Y-%m-%d}, and has no flight that the airline cancelled"
    )


def may_change_flights(moment: Moment) -> str | None:
    """Basic economy keeps its flights; others keep where they begin and end."""
    reservation, action = _reservation(moment), moment.action
    if action.name != "update_reservation_flights" or reservation is None:
        return None
    before = [(one["flight_number"], one["date"]) for one in reservation["flights"]]
    after = [(one["flight_number"], one["date"]) for one in action.kwargs["flights"]]
    if before == after:
        return None
    if _cabin(moment, reservation) == "basic_economy":
        return f"changes the flights of {reservation['reservation_id']}, which is basic economy"
    ways = [way for number, _ in after if (way := _way(moment, number)) is not None]
    if len(ways) < len(after) or not ways:
        return None
    origin, destination = reservation["origin"], reservation["destination"]
    last = origin if reservation["flight_type"] == "round_trip" else destination
    reached = {arrival for _, arrival in ways}
    if (ways[0][0], ways[-1][1]) == (origin, last) and destination in reached:
        return None
    stops = [ways[0][0], *(arrival for _, arrival in ways)]
    back = " and back" if last == origin else ""
    return f"changes a journey from {origin} to {destination}{back} into {' to '.join(stops)}"


def bags_stay(moment: Moment) -> str | None:
    """Checked bags can be added, and not removed."""
    reservation, action = _reservation(moment), moment.action
    if action.name != "update_reservation_baggages" or reservation is None:
        return None
    before, after = reservation["total_baggages"], action.kwargs["total_baggages"]
    return f"takes the checked bags down from {before} to {after}" if after < before else None


def bags_are_paid(moment: Moment) -> str | None:
    """As many bags are paid for as the traveller has no allowance for."""
    action = moment.action
    if action.name == "book_reservation":
        user_id, cabin = action.kwargs["user_id"], action.kwargs["cabin"]
        passengers = action.kwargs["passengers"]
    elif action.name == "update_reservation_baggages":
        reservation = _reservation(moment)
        if reservation is None:
            return None
        user_id, passengers = reservation["user_id"], reservation["passengers"]
        cabin = _cabin(moment, reservation)
    else:
        return None
    user = moment.record("users", user_id)
    told = None if user is None else _FREE_BAGS[user["membership"]].search(moment.policy)
    if user is None or told is None:
        return None
    each = int(told[1 + _CABINS.index(cabin)])
    total, paid = action.kwargs["total_baggages"], action.kwargs["nonfree_baggages"]
    wanted = max(0, total - each * len(passengers))
    if paid == wanted:
        return None
    return (
        f"charges for {paid} of {total} bags; a {user['membership']} member in {_words(cabin)} has "
        f"{each} free for each of {len(passengers)}, so it should be {wanted}"
    )


def booking_fits(moment: Moment) -> str | None:
    """A booking has at most five passengers, a certificate, a credit card and three gift cards."""
    action = moment.action
    if action.name != "book_reservation":
        return None
    passengers = len(action.kwargs["passengers"])
    if passengers > _MOST_PASSENGERS:
        return f"books for {passengers} passengers, and at most {_MOST_PASSENGERS} are allowed"
    user = moment.record("users", action.kwargs["user_id"])
    methods: dict[str, Any] = {} if user is None else user["payment_methods"]
    used = Counter(
        methods.get(one["payment_id"], {}).get("source") for one in action.kwargs["payment_methods"]
    )
    for source, most in _MOST_PAYMENTS.items():
        if used[source] > most:
            return f"pays by {used[source]} of {_words(source)}, and at most {most} is allowed"
    return None


def may_compensate(moment: Moment) -> str | None:
    """A certificate is for members, the insured and business, at 50 or 100 dollars each."""
    action = moment.action
    if action.name != "send_certificate":
        return None
    user = moment.record("users", action.kwargs["user_id"])
    if user is None:
        return None
    journeys = list(_journeys(moment, user))
    member = user["membership"] in ("silver", "gold")
    served = [
        one
        for one in journeys
        if member or one.get("insurance") == "yes" or one["cabin"] == "business"
    ]
    if not served:
        return f"compensates {action.kwargs['user_id']}, a regular member without insurance"
    amount = action.kwargs["amount"]
    if any(amount == each * len(one["passengers"]) for one in served for each in _PER_PASSENGER):
        return None
    sizes = sorted({len(one["passengers"]) for one in served})
    return (
        f"sends a certificate of {amount}, and no reservation has so many passengers: they have "
        f"{', '.join(map(str, sizes))}, at 50 or 100 dollars each"
    )


def _owner(moment: Moment, action: Action) -> str | None:
    """Whose reservation or profile a call changes or shows."""
    reservation = moment.record("reservations", action.kwargs.get("reservation_id"))
    if reservation is not None:
        return reservation["user_id"]
    user_id = action.kwargs.get("user_id")
    return user_id if moment.record("users", user_id) is not None else None


def _reservation(moment: Moment) -> Record | None:
    return moment.record("reservations", moment.action.kwargs.get("reservation_id"))


def _journeys(moment: Moment, user: Record) -> Iterator[Record]:
    for name in user["reservations"]:
        found = moment.record("reservations", name)
        if found is not None:
            yield found


def _cabin(moment: Moment, reservation: Record) -> str:
    """The cabin after what was changed; Tau Bench leaves the booked one in the record."""
    for action in reversed(moment.earlier):
        same = action.kwargs.get("reservation_id") == reservation["reservation_id"]
        if same and action.name == "update_reservation_flights":
            return action.kwargs["cabin"]
    return reservation["cabin"]


def _status(moment: Moment, flight: Mapping[str, Any]) -> str | None:
    found = moment.record("flights", flight["flight_number"])
    day = None if found is None else found["dates"].get(flight["date"])
    return None if day is None else day["status"]


def _is_flown(moment: Moment, flight: Mapping[str, Any]) -> bool:
    return _status(moment, flight) in ("landed", "flying")


def _way(moment: Moment, number: str) -> tuple[str, str] | None:
    found = moment.record("flights", number)
    return None if found is None else (found["origin"], found["destination"])


def _words(name: str) -> str:
    return name.replace("_", " ")


CHECKS: Final[tuple[PolicyCheck, ...]] = (
    one_traveller,
    may_cancel,
    may_change_flights,
    bags_stay,
    bags_are_paid,
    booking_fits,
    may_compensate,
)

__all__ = ["CHECKS"]
