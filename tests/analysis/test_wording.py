from __future__ import annotations

from typing import Any

import pytest

from greenroom.store.trajectory_records import ActionRecord
from tests.analysis.episodes import EXCHANGE, diagnosis_of, exchange, write


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"item_ids": ["1"]}, "without '2' in item_ids."),
        ({"item_ids": ["1", "2", "5", "6"]}, "with '5' and 1 more too many in item_ids."),
        ({"new_item_ids": ["4", "3"]}, "with new_item_ids in another order than was right."),
        ({"payment_method_id": None}, "with payment_method_id None where 'paypal_1' was right."),
        ({"why": "x"}, "with why 'x', which does not belong there."),
        ({"order_id": 7}, "with order_id 7 where '#W1' was right."),
        (
            {"item_ids": ["7"], "new_item_ids": ["8"], "payment_method_id": "x"},
            "with item_ids ['7'] where ['1', '2'] was right (and 2 more arguments).",
        ),
    ],
)
def test_wrong_arguments_in_words(changed: dict[str, Any], words: str) -> None:
    assert diagnosis_of([exchange()], [exchange(**changed)]).explanation.endswith(words)


def test_records_among_arguments_are_told_by_their_values() -> None:
    def book(*flights: tuple[str, str]) -> ActionRecord:
        listed = [{"flight_number": number, "date": date} for number, date in flights]
        return write("book_reservation", user_id="mia", flights=listed)

    one, two, three = ("HAT1", "05-20"), ("HAT2", "05-21"), ("HAT3", "05-22")
    found = diagnosis_of([book(one, two)], [book(one, three, two, three)])
    assert "with {HAT3, 05-22} and 1 more too many in flights" in found.explanation
    found = diagnosis_of([book(one, two)], [book(one, three)])
    assert found.arguments == ["flights[1].flight_number", "flights[1].date"]


def test_an_argument_that_was_left_out() -> None:
    short = {name: value for name, value in EXCHANGE.items() if name != "payment_method_id"}
    found = diagnosis_of([exchange()], [write("exchange_delivered_order_items", **short)])
    assert found.explanation.endswith("without payment_method_id, 'paypal_1' being right.")
