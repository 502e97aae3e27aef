from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.analysis.errors import break_down
from greenroom.reports.tau_bench import read_tau_bench

AIRLINE_WRITES = (
    "book_reservation",
    "cancel_reservation",
    "send_certificate",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
)
RETAIL_WRITES = (
    "cancel_pending_order",
    "exchange_delivered_order_items",
    "modify_pending_order_address",
    "modify_pending_order_items",
    "modify_pending_order_payment",
    "modify_user_address",
    "return_delivered_order_items",
)


@pytest.mark.official
@pytest.mark.parametrize(
    ("file", "write_tools", "count", "failures"),
    [
        ("gpt-4o-airline.json", AIRLINE_WRITES, 200, 116),
        ("gpt-4.1-mini-retail.json", RETAIL_WRITES, 115, 53),
    ],
)
def test_every_real_failure_is_explained(
    official_data: Path, file: str, write_tools: tuple[str, ...], count: int, failures: int
) -> None:
    episodes = read_tau_bench(official_data / "trajectories" / file, write_tools=write_tools)
    found = break_down(episodes)
    assert len(episodes) == count
    assert found.failures == failures
    assert sum(found.by_kind.values()) == failures
    assert "other" not in found.by_kind
    assert all(0 < len(one.explanation) < 160 for one in found.diagnoses)


@pytest.mark.official
@pytest.mark.parametrize(
    ("task", "kinds", "explanation"),
    [
        (
            8,
            ["wrong_arguments"],
            "Called exchange_delivered_order_items on #W6390527 with new_item_ids ['7624783998']",
        ),
        (
            27,  # its right exchange was refused because of the return before it
            ["extra_write", "missing_write"],
            "Called return_delivered_order_items on #W7181492, which the task does not ask for.",
        ),
        (59, ["wrong_arguments"], "Called cancel_pending_order on #W2702727 where #W8268610 was"),
        (
            95,  # the user said yes, and ended the conversation with it
            ["user_ended_early", "missing_write"],
            "The user left before exchange_delivered_order_items on #W4073673 was called.",
        ),
        (
            101,
            ["wrong_tool"],
            "Called exchange_delivered_order_items on #W3295833 where modify_pending_order_items",
        ),
        (
            103,
            ["missing_write"],
            "Called modify_pending_order_address on #W4219264 as expected, but was refused",
        ),
    ],
)
def test_real_failures_as_a_reader_would_explain_them(
    official_data: Path, task: int, kinds: list[str], explanation: str
) -> None:
    path = official_data / "trajectories" / "gpt-4.1-mini-retail.json"
    episodes = read_tau_bench(path, write_tools=RETAIL_WRITES)
    found = next(one for one in break_down(episodes).diagnoses if one.task_index == task)
    assert found.kinds == kinds
    assert found.explanation.startswith(explanation)


@pytest.mark.official
@pytest.mark.parametrize(
    ("file", "write_tools", "false_alarms"),
    [
        # Its flights were passed with fields that the tool overwrites.
        ("gpt-4o-airline.json", AIRLINE_WRITES, [(5, "wrong_arguments")]),
        # The ground truth's own write is refused, so that nothing comes of leaving it out.
        (
            "gpt-4.1-mini-retail.json",
            RETAIL_WRITES,
            [(12, "missing_write"), (13, "missing_write")],
        ),
    ],
)
def test_there_is_hardly_anything_to_find_in_real_successes(
    official_data: Path,
    file: str,
    write_tools: tuple[str, ...],
    false_alarms: list[tuple[int, str]],
) -> None:
    path = official_data / "trajectories" / file
    episodes = [
        episode.model_copy(update={"reward": 0.0, "details": None})
        for episode in read_tau_bench(path, write_tools=write_tools)
        if episode.outcome == "success"
    ]
    found = break_down(
        episode.model_copy(update={"outcome": "failure"}) for episode in episodes
    ).diagnoses
    assert [(one.task_index, one.kind) for one in found if one.kind != "other"] == false_alarms
