"""The carrier's database: its records, and how they are read from the file of a pack.

Fields stand in the order in which tools print them. Reading fills in defaults and turns whole
numbers into floats where a field is a float, so that the hash of the data is tau2's.
"""

from __future__ import annotations

from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from greenroom.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.domains.world import Record


class StrictRecord(BaseModel):
    """A record that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid")


class Plan(StrictRecord):
    """What a line may use, and what it costs."""

    plan_id: str
    name: str
    data_limit_gb: float
    price_per_month: float
    data_refueling_price_per_gb: float


class Device(StrictRecord):
    """A device that a line belongs to."""

    device_id: str
    device_type: Literal["phone", "router", "tablet", "watch", "other"]
    model: str
    imei: str | None = None
    is_esim_capable: bool
    activated: bool = False
    activation_date: datetime | None = None
    last_esim_transfer_date: datetime | None = None


class Line(StrictRecord):
    """A phone number with its plan, its device and what it has used."""

    line_id: str
    phone_number: str
    status: Literal["Active", "Suspended", "Pending Activation", "Closed"] = "Pending Activation"
    plan_id: str
    device_id: str | None = None
    data_used_gb: float = 0.0
    data_refueling_gb: float = 0.0
    roaming_enabled: bool = False
    contract_end_date: date | None = None
    last_plan_change_date: date | None = None
    last_sim_replacement_date: date | None = None
    suspension_start_date: date | None = None


class LineItem(StrictRecord):
    """One amount on a bill."""

    description: str
    amount: float
    date: date
    item_type: str


class Bill(StrictRecord):
    """What a customer has to pay for a month."""

    bill_id: str
    customer_id: str
    period_start: date
    period_end: date
    issue_date: date
    total_due: float
    due_date: date
    line_items: list[LineItem] = []
    status: Literal["Draft", "Issued", "Awaiting Payment", "Paid", "Overdue", "Disputed"] = "Draft"


class Address(StrictRecord):
    """Where a customer lives."""

    street: str
    city: str
    state: str
    zip_code: str


class PaymentMethod(StrictRecord):
    """How a customer pays."""

    method_type: Literal["Credit Card", "Debit Card", "PayPal"]
    account_number_last_4: str
    expiration_date: str


class Customer(StrictRecord):
    """A customer with lines and bills."""

    customer_id: str
    full_name: str
    date_of_birth: str
    email: str
    phone_number: str
    address: Address
    account_status: Literal["Active", "Suspended", "Pending Verification", "Closed"] = (
        "Pending Verification"
    )
    payment_methods: list[PaymentMethod] = []
    line_ids: list[str] = []
    bill_ids: list[str] = []
    created_at: datetime | date = date(2025, 1, 1)
    last_extension_date: date | None = None
    goodwill_credit_used_this_year: float = 0.0


class _Carrier(StrictRecord):
    plans: list[Plan] = []
    customers: list[Customer] = []
    lines: list[Line] = []
    bills: list[Bill] = []
    devices: list[Device] = []


ID_FIELDS = {
    "plans": "plan_id",
    "customers": "customer_id",
    "lines": "line_id",
    "bills": "bill_id",
    "devices": "device_id",
}
"""The tables, and the field of each that holds the id of a record."""


def read_tables(raw: Mapping[str, Any]) -> dict[str, dict[str, Record]]:
    """The tables of the carrier, from the content of db.toml."""
    content = checked(_Carrier, raw, "the telecom database")
    tables: dict[str, dict[str, Record]] = {}
    for table, id_field in ID_FIELDS.items():
        records = tables[table] = {}
        for record in content[table]:
            key = record[id_field]
            if key in records:
                raise DataError(f"The telecom database has two records {key} in {table}.")
            records[key] = record
    return tables


def checked(model: type[BaseModel], raw: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The content of a database as plain JSON; raise DataError with the first problem."""
    try:
        value = model.model_validate(dict(raw))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{what[0].upper()}{what[1:]}: {place}: {first['msg']}.") from error
    return plain(value.model_dump())


def plain(value: Any) -> Any:
    """The values of a model as JSON has them."""
    # Dates by str(): "2025-02-28", "2025-01-20 14:30:00".
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: plain(item) for key, item in fields.items()}
    if isinstance(value, list):
        return [plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, date) else value
