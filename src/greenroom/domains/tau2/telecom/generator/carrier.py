"""A carrier of our own: plans, customers with lines and bills, and who of them may call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from greenroom.domains.tau2.telecom.carrier_records import read_tables
from greenroom.domains.tau2.telecom.issues import Caller
from greenroom.domains.world import Record

_PLANS: Final = (
    # name, data in GB, price of a month, price of a further GB
    ("Pebble", 4.0, 18.0, 4.5),
    ("Brook", 10.0, 29.5, 3.0),
    ("River", 25.0, 44.0, 2.5),
    ("Delta", 60.0, 58.0, 1.5),
    ("Ocean", 120.0, 79.0, 0.75),
)
_PHONES: Final = (
    "Larkfield 4",
    "Larkfield 4 Mini",
    "Osprey One",
    "Osprey Fold",
    "Tern 12",
    "Wren S",
)
_TABLETS: Final = ("Osprey Slate", "Tern Pad")
_CARDS: Final = ("Credit Card", "Debit Card", "PayPal")
_MONTHS: Final = (("2025-01-01", "2025-01-31"), ("2025-02-01", "2025-02-28"))

Names = Mapping[str, Sequence[Any]]
"""First and last names, streets and cities to draw from."""


def make_carrier(
    rng: Random, names: Names, customers: int
) -> tuple[dict[str, dict[str, Record]], list[Caller]]:
    """The tables of a carrier, and a caller for every line that any task can be about."""
    raw: dict[str, list[Record]] = {
        "plans": [
            {
                "plan_id": f"P{2001 + place}",
                "name": name,
                "data_limit_gb": limit,
                "price_per_month": price,
                "data_refueling_price_per_gb": refuel,
            }
            for place, (name, limit, price, refuel) in enumerate(_PLANS)
        ],
        "customers": [],
        "lines": [],
        "bills": [],
        "devices": [],
    }
    numbers: set[str] = set()
    callers: list[Caller] = []
    for place in range(customers):
        customer = _customer(rng, names, f"C{2001 + place}")
        raw["customers"].append(customer)
        lines = [_add_line(rng, raw, numbers) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
        customer["line_ids"] = [line["line_id"] for line in lines]
        # The first line is the customer's own number.
        customer["phone_number"] = lines[0]["phone_number"]
        customer["bill_ids"] = _add_bills(raw, customer, lines)
        plans = {plan["plan_id"]: plan for plan in raw["plans"]}
        callers.extend(
            _caller(rng, customer, line, plans[line["plan_id"]], len(callers) + extra)
            for extra, line in enumerate(lines)
            if line["status"] == "Active"
        )
    return read_tables(raw), callers


def _customer(rng: Random, names: Names, customer_id: str) -> Record:
    first, last = rng.choice(names["first_names"]), rng.choice(names["last_names"])
    city, state, zip_start = rng.choice(names["cities"])
    return {
        "customer_id": customer_id,
        "full_name": f"{first} {last}",
        "date_of_birth": _day(rng, 1945, 2004),
        "email": f"{first}.{last}{rng.randint(10, 999)}@example.org".lower().replace(" ", ""),
        "address": {
            "street": f"{rng.randint(1, 980)} {rng.choice(names['streets'])}",
            "city": city,
            "state": state,
            "zip_code": f"{zip_start}{rng.randint(0, 99):02}",
        },
        "account_status": "Active",
        "payment_methods": [
            {
                "method_type": rng.choice(_CARDS),
                "account_number_last_4": f"{rng.randint(0, 9999):04}",
                "expiration_date": f"{rng.randint(1, 12):02}/{rng.randint(2026, 2029)}",
            }
        ],
        "created_at": f"{_day(rng, 2019, 2024)} {rng.randint(8, 19):02}:{rng.randint(0, 59):02}:00",
    }


def _add_line(rng: Random, raw: dict[str, list[Record]], numbers: set[str]) -> Record:
    place = 2001 + len(raw["lines"])
    number = _number(rng)
    while number in numbers:
        number = _number(rng)
    numbers.add(number)
    tablet = rng.random() < 0.1
    raw["devices"].append(
        {
            "device_id": f"D{place}",
            "device_type": "tablet" if tablet else "phone",
            "model": rng.choice(_TABLETS if tablet else _PHONES),
            "imei": f"{rng.randrange(10**14, 10**15)}",
            "is_esim_capable": rng.random() < 0.7,
            "activated": True,
            "activation_date": f"{_day(rng, 2024, 2024)} 10:00:00",
        }
    )
    plan = rng.choice(raw["plans"])
    line: Record = {
        "line_id": f"L{place}",
        "phone_number": number,
        "status": "Active" if rng.random() < 0.9 else "Suspended",
        "plan_id": plan["plan_id"],
        "device_id": f"D{place}",
        "data_used_gb": round(plan["data_limit_gb"] * rng.uniform(0.05, 0.9), 1),
        "roaming_enabled": rng.random() < 0.5,
        "contract_end_date": f"{rng.randint(2026, 2027)}-{rng.randint(1, 12):02}-28",
        "last_plan_change_date": _day(rng, 2024, 2024),
    }
    if line["status"] == "Suspended":
        line["suspension_start_date"] = f"2025-02-{rng.randint(1, 20):02}"
    raw["lines"].append(line)
    return line


def _day(rng: Random, first: int, last: int) -> str:
    return f"{rng.randint(first, last)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def _number(rng: Random) -> str:
    return f"555-{rng.randint(200, 999)}-{rng.randint(0, 9999):04}"


def _add_bills(raw: dict[str, list[Record]], customer: Record, lines: list[Record]) -> list[str]:
    """Last month's bill, paid; this month's, open; and next month's, which gets charges."""
    plans = {plan["plan_id"]: plan for plan in raw["plans"]}
    ids: list[str] = []
    for (start, end), status in zip(_MONTHS, ("Paid", "Issued"), strict=True):
        items = [
            {
                "description": f"{plans[line['plan_id']]['name']} for {line['phone_number']}",
                "amount": plans[line["plan_id"]]["price_per_month"],
                "date": f"{start[:8]}05",
                "item_type": "Plan Charge",
            }
            for line in lines
        ]
        ids.append(_add_bill(raw, customer, (start, end), items, status))
    ids.append(_add_bill(raw, customer, ("2025-03-01", "2025-03-31"), [], "Draft"))
    return ids


def _add_bill(
    raw: dict[str, list[Record]],
    customer: Record,
    period: tuple[str, str],
    items: list[Record],
    status: str,
) -> str:
    bill_id = f"B{20001 + len(raw['bills'])}"
    start, end = period
    raw["bills"].append(
        {
            "bill_id": bill_id,
            "customer_id": customer["customer_id"],
            "period_start": start,
            "period_end": end,
            "issue_date": f"{start[:8]}05" if items else start,
            "total_due": sum(item["amount"] for item in items),
            "due_date": f"{start[:8]}19" if items else f"{start[:8]}15",
            "line_items": items,
            "status": status,
        }
    )
    return bill_id


def _caller(rng: Random, customer: Record, line: Record, plan: Record, place: int) -> Caller:
    over = rng.randint(1, 9) / 10
    return Caller(
        name=customer["full_name"],
        phone_number=line["phone_number"],
        customer_id=customer["customer_id"],
        line_id=line["line_id"],
        overdue_bill_id=f"B{70001 + place}",
        used_gb=round(plan["data_limit_gb"] + over, 1),
        refuel_gb=rng.choice((1.0, 1.5, 2.0)),
    )
