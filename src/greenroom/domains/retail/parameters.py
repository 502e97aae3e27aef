"""What the parameters of the retail tools mean."""

from __future__ import annotations

from typing import Annotated, Any

OrderId = Annotated[str, "The order number with its leading '#', for example '#W1234567'."]
UserId = Annotated[str, "The customer's id, for example 'maya_lindholm_4821'."]
PaymentMethodId = Annotated[
    str,
    "One of the customer's payment methods, for example 'gift_card_1234567' or "
    "'credit_card_1234567'; their profile lists them.",
]
Address1 = Annotated[str, "Street and number."]
Address2 = Annotated[str, "Flat, floor or suite; empty if there is none."]
City = Annotated[str, "The city."]
State = Annotated[str, "The state's two letters, for example 'OR'."]
Country = Annotated[str, "The country, for example 'USA'."]
ZipCode = Annotated[str, "The postal code, for example '97205'."]


def address_record(
    address1: Any, address2: Any, city: Any, state: Any, country: Any, zip_code: Any
) -> dict[str, Any]:
    """An address as the database keeps it."""
    return {
        "address1": address1,
        "address2": address2,
        "city": city,
        "state": state,
        "country": country,
        "zip": zip_code,
    }
