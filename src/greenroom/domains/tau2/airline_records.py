"""The records of tau2's airline database.

The names of the classes and the order of their fields are tau2's: both show in what tools answer.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from greenroom.domains.tau2.records import Database

FlightType = Literal["round_trip", "one_way"]
CabinClass = Literal["business", "economy", "basic_economy"]


class Name(BaseModel):
    """A traveller's name."""

    first_name: str
    last_name: str


class Address(BaseModel):
    """Where a traveller lives."""

    address1: str
    address2: str | None = None
    city: str
    country: str
    state: str
    zip: str


class Payment(BaseModel):
    """A part of a price and what paid for it."""

    payment_id: str
    amount: int


class CreditCard(BaseModel):
    """A credit card."""

    source: Literal["credit_card"]
    id: str
    brand: str
    last_four: str


class GiftCard(BaseModel):
    """A gift card and what is left on it."""

    source: Literal["gift_card"]
    id: str
    amount: float


class Certificate(BaseModel):
    """A certificate and what it is worth."""

    source: Literal["certificate"]
    id: str
    amount: float


class Passenger(BaseModel):
    """Somebody who flies."""

    first_name: str
    last_name: str
    dob: str


class User(BaseModel):
    """A traveller."""

    user_id: str
    name: Name
    address: Address
    email: str
    dob: str
    payment_methods: dict[str, CreditCard | GiftCard | Certificate]
    saved_passengers: list[Passenger]
    membership: Literal["gold", "silver", "regular"]
    reservations: list[str]


class AvailableDay(BaseModel):
    """A day on which a flight can be booked."""

    status: Literal["available"]
    available_seats: dict[CabinClass, int]
    prices: dict[CabinClass, int]


class LandedDay(BaseModel):
    """A day on which a flight has landed."""

    status: Literal["landed"]
    actual_departure_time_est: str
    actual_arrival_time_est: str


class CancelledDay(BaseModel):
    """A day on which a flight is cancelled."""

    status: Literal["cancelled"]


class FlyingDay(BaseModel):
    """A day on which a flight is under way."""

    status: Literal["flying"]
    actual_departure_time_est: str
    estimated_arrival_time_est: str


class ExpectedDay(BaseModel):
    """A day on which a flight is about to leave."""

    status: Literal["delayed", "on time"]
    estimated_departure_time_est: str
    estimated_arrival_time_est: str


class Flight(BaseModel):
    """A flight, day by day."""

    flight_number: str
    origin: str
    destination: str
    scheduled_departure_time_est: str
    scheduled_arrival_time_est: str
    dates: dict[str, AvailableDay | LandedDay | CancelledDay | FlyingDay | ExpectedDay]


class FlightInfo(BaseModel):
    """A flight on a day, as agents name it."""

    flight_number: str
    date: str


class ReservationFlight(BaseModel):
    """A flight of a reservation."""

    flight_number: str
    origin: str
    destination: str
    date: str
    price: int


class Reservation(BaseModel):
    """A reservation."""

    reservation_id: str
    user_id: str
    origin: str
    destination: str
    flight_type: FlightType
    cabin: CabinClass
    flights: list[ReservationFlight]
    passengers: list[Passenger]
    payment_history: list[Payment]
    created_at: str
    total_baggages: int
    nonfree_baggages: int
    insurance: Literal["yes", "no"]
    status: Literal["cancelled"] | None = None


class FlightDB(Database):
    """The whole database."""

    flights: dict[str, Flight]
    users: dict[str, User]
    reservations: dict[str, Reservation]
