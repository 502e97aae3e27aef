"""What the commands take, in the shapes that FastWorkflow can extract.

FastWorkflow reads `<name>value</name>` for each field. A list is read as JSON, and each of its
objects becomes an item's model; an object that the model refuses is dropped without a word. So the
models here refuse nothing: what an item lacks is found afterwards, and told.

No field has examples: a value that equals one would be taken for a copy, and extracted anew by a
model. And the descriptions begin with the field's name, because agents are shown nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, Field

NOT_FOUND = "NOT_FOUND"
"""What stands in the place of a text that was not given."""

AIRPORT = r"[A-Z]{3}"
CABIN = r"basic_economy|economy|business"
DATE = r"\d{4}-\d{2}-\d{2}"
PAYMENT = r"(credit_card|gift_card|certificate)_\d+"


def text(
    description: str, *, pattern: str | None = None, available_from: Sequence[str] = ()
) -> Any:
    """A field that holds a text."""
    return Field(
        default=NOT_FOUND,
        description=description,
        pattern=f"^({pattern})$" if pattern else None,
        json_schema_extra=_extra(available_from),
    )


def number(description: str) -> Any:
    """A field that holds a number; it has no default, so that FastWorkflow asks for it."""
    return Field(description=description)


def items(description: str, *, available_from: Sequence[str] = ()) -> Any:
    """A field that holds a list."""
    return Field(
        default_factory=list, description=description, json_schema_extra=_extra(available_from)
    )


def _extra(available_from: Sequence[str]) -> dict[str, Any]:
    return {"available_from": list(available_from)} if available_from else {}


def _as_text(value: Any) -> str:
    return NOT_FOUND if value is None else str(value)


def _as_number(value: Any) -> int | float | None:
    """A number as it was written: 250 stays an integer, which the database can tell from 250.0."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                return _as_number(kind(value))
            except ValueError:
                continue
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


_Text = Annotated[str, BeforeValidator(_as_text)]
_Amount = Annotated[int | float | None, BeforeValidator(_as_number)]


class Item(BaseModel):
    """An object in a list. Whatever it is made of, making it does not fail."""

    def missing(self) -> list[str]:
        """The names of the fields that were not given."""
        return [name for name, value in self if value in (None, NOT_FOUND)]


class Flight(Item):
    """A flight on a day."""

    flight_number: _Text = NOT_FOUND
    date: _Text = NOT_FOUND


class Passenger(Item):
    """Somebody who flies."""

    first_name: _Text = NOT_FOUND
    last_name: _Text = NOT_FOUND
    dob: _Text = NOT_FOUND


class Payment(Item):
    """A part of the price and what pays for it."""

    payment_id: _Text = NOT_FOUND
    amount: _Amount = None


def incomplete_items(parameters: BaseModel) -> str:
    """What the objects in the lists lack, in a line each; empty where nothing is missing."""
    return "\n".join(
        f"{name}: item {place} has no usable {', '.join(item.missing())}."
        for name, values in parameters
        if isinstance(values, list)
        for place, item in enumerate(cast("list[Any]", values), 1)
        if isinstance(item, Item) and item.missing()
    )
