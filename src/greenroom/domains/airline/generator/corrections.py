"""Wishes that the traveller corrects half-way; only what they want in the end is done."""

from __future__ import annotations

from typing import Final

from greenroom.domains.airline.generator.journey import Draw, Journey, on, spoken_day
from greenroom.domains.airline.generator.travellers import person
from greenroom.domains.airline.generator.wishes import (
    bag_words,
    full_name,
    is_changeable,
    is_free_to_cancel,
    moved,
    other_day,
    packed,
    renamed,
    renaming,
    searching,
)
from greenroom.domains.generation import Unsuitable, Wish


def another_number_of_bags(journey: Journey) -> Wish:
    """So many bags, then another number."""
    reservation = journey.take()
    card, words = journey.card()
    first, extra = journey.rng.sample((1, 2, 3), 2)
    text = journey.say(
        "correct_bags",
        trip=journey.trip(reservation),
        first=bag_words(first),
        bags=bag_words(extra),
        card=words,
    )
    return Wish(text, (*journey.found(reservation), packed(journey, reservation, extra, card)))


def another_day(journey: Journey) -> Wish:
    """One day, then another."""
    reservation = journey.take(is_changeable)
    card, words = journey.card()
    first = other_day(journey, reservation)[1]
    flight, date = other_day(journey, reservation, but=[first])
    text = journey.say(
        "correct_day",
        trip=journey.trip(reservation),
        first=spoken_day(first),
        date=spoken_day(date),
        card=words,
    )
    search = searching(reservation["origin"], reservation["destination"], date)
    change = moved(reservation, flight, date, card)
    return Wish(text, (*journey.found(reservation), search, change))


def another_trip(journey: Journey) -> Wish:
    """It is another trip that is to be cancelled."""
    wrong, reservation = (journey.take(is_free_to_cancel) for _ in range(2))
    text = journey.say(
        "correct_trip",
        wrong=journey.trip(wrong),
        trip=journey.trip(reservation),
        why=journey.say("reason_any"),
    )
    return Wish(text, (*journey.found(reservation), on(reservation, "cancel_reservation")))


def another_spelling(journey: Journey) -> Wish:
    """The new name was given wrongly."""
    reservation, passenger, new = renaming(journey)
    wrong = person(journey.rng)["last_name"]
    if wrong in (new, passenger["last_name"]):
        raise Unsuitable
    text = journey.say(
        "correct_name",
        trip=journey.trip(reservation),
        old=full_name(passenger),
        wrong=wrong,
        new=new,
    )
    return Wish(text, (*journey.found(reservation), renamed(reservation, passenger, new)))


CORRECTED: Final[tuple[Draw, ...]] = (
    another_number_of_bags,
    another_day,
    another_trip,
    another_spelling,
)
