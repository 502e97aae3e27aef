"""What the parameters of the airline tools mean."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

ReservationId = Annotated[str, "The reservation's six characters, for example 'K7Q2MD'."]
UserId = Annotated[str, "The traveller's id, for example 'maya_lindholm_4821'."]
PaymentId = Annotated[
    str,
    "One of the traveller's payment methods, for example 'credit_card_1234567', "
    "'gift_card_1234567' or 'certificate_1234567'.",
]
Cabin = Literal["basic_economy", "economy", "business"]


class Flight(TypedDict):
    """A flight on a day."""

    flight_number: Annotated[str, "The flight's number, for example 'HAT012'."]
    date: Annotated[str, "The day of departure as YYYY-MM-DD."]


class Passenger(TypedDict):
    """Somebody who flies."""

    first_name: Annotated[str, "The passenger's first name."]
    last_name: Annotated[str, "The passenger's last name."]
    dob: Annotated[str, "The passenger's date of birth as YYYY-MM-DD."]


class Payment(TypedDict):
    """A part of the price and what pays for it."""

    payment_id: PaymentId
    amount: Annotated[float, "How much of the price it pays."]
