from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.errors import PRECEDENCE, break_down, diagnose
from greenroom.store.outcomes import FailureKind
from greenroom.store.trajectory_records import (
    ActionRecord,
    DifferenceRecord,
    RewardRecord,
    StepRecord,
)
from tests.analysis.episodes import (
    EXCHANGE,
    cancel,
    diagnosis_of,
    episode,
    exchange,
    say,
    step,
    steps,
    write,
    writes,
)


def test_a_success_needs_no_diagnosis() -> None:
    assert diagnose(episode([cancel("#W1")], [], reward=1.0, outcome="success")) is None
    assert diagnose(episode([], [], reward=None, outcome="success")) is None


def test_a_write_that_was_not_made() -> None:
    found = diagnosis_of([cancel("#W1")], [])
    assert (found.task_index, found.trial) == (3, 1)
    assert found.kind == "missing_write"
    assert found.explanation == "Never called cancel_pending_order on #W1."
    assert found.expected == {
        "name": "cancel_pending_order",
        "kwargs": {"order_id": "#W1", "reason": "no longer needed"},
    }
    assert found.actual is None


def test_several_writes_that_were_not_made() -> None:
    transfer = step(ActionRecord(name="transfer_to_human_agents"), "Transfer successful")
    found = diagnosis_of([cancel("#W1"), cancel("#W2"), exchange()], [transfer])
    assert found.kinds == ["missing_write"]
    assert found.explanation == (
        "Never called cancel_pending_order on #W1 (and 2 more writes); "
        "ended with transfer_to_human_agents instead."
    )


def test_a_write_that_was_not_asked_for() -> None:
    found = diagnosis_of([], [cancel("#W1")])
    assert found.kinds == ["extra_write"]
    assert found.explanation == (
        "Called cancel_pending_order on #W1 although nothing was to be changed."
    )
    assert found.expected is None
    found = diagnosis_of([exchange()], [exchange(), write("modify_user_address", user_id="mia")])
    assert found.explanation == (
        "Called modify_user_address for mia, which the task does not ask for."
    )
    found = diagnosis_of([cancel("#W1")], [cancel("#W1"), cancel("#W1")])
    assert found.explanation == "Called cancel_pending_order on #W1 once more than needed."


def test_a_refused_write_is_no_extra_write() -> None:
    refused = step(cancel("#W9"), "Error: order not found")
    found = diagnosis_of([exchange()], [refused])
    assert found.kinds == ["missing_write"]


def test_wrong_arguments() -> None:
    found = diagnosis_of([exchange()], [exchange(new_item_ids=["5", "6"])])
    assert found.kinds == ["wrong_arguments"]
    assert found.arguments == ["new_item_ids"]
    assert found.explanation == (
        "Called exchange_delivered_order_items on #W1 with new_item_ids ['5', '6'] "
        "where ['3', '4'] was right."
    )
    assert found.expected is not None
    assert found.actual is not None
    assert found.actual["kwargs"]["new_item_ids"] == ["5", "6"]


def test_wrong_arguments_that_were_refused() -> None:
    refused = step(exchange(payment_method_id="x"), "Error: payment method not found")
    found = diagnosis_of([exchange()], [refused])
    assert found.kind == "wrong_arguments"
    assert found.explanation == (
        "Called exchange_delivered_order_items on #W1 with payment_method_id 'x' "
        "where 'paypal_1' was right, and was refused: payment method not found."
    )


def test_a_refused_attempt_that_was_made_good_does_not_matter() -> None:
    refused = step(exchange(payment_method_id="x"), "Error: payment method not found")
    found = diagnosis_of([exchange(), cancel("#W2")], [refused, exchange()])
    assert found.kinds == ["missing_write"]


def test_the_right_call_that_was_refused() -> None:
    refused = step(cancel("#W1"), "Error: non-pending order cannot be cancelled")
    found = diagnosis_of([cancel("#W1")], [refused])
    assert found.kinds == ["missing_write"]
    assert found.explanation == (
        "Called cancel_pending_order on #W1 as expected, but was refused: "
        "non-pending order cannot be cancelled."
    )


def test_a_wrong_target_is_a_wrong_argument() -> None:
    found = diagnosis_of([cancel("#W1")], [cancel("#W2")])
    assert found.kinds == ["wrong_arguments"]
    assert found.arguments == ["order_id"]
    assert found.explanation == "Called cancel_pending_order on #W2 where #W1 was right."


def test_orders_that_were_mixed_up() -> None:
    address = {"address1": "1 Elm St", "zip": "62701"}
    needed = [cancel("#W1"), write("modify_pending_order_address", order_id="#W2", **address)]
    made = [cancel("#W2"), write("modify_pending_order_address", order_id="#W1", **address)]
    found = diagnosis_of(needed, made)
    assert found.kinds == ["wrong_arguments"]
    assert found.arguments == ["order_id"]


def test_a_wrong_tool() -> None:
    found = diagnosis_of([cancel("#W1")], [exchange()])
    assert found.kinds == ["wrong_tool"]
    assert found.explanation == (
        "Called exchange_delivered_order_items on #W1 where cancel_pending_order was right."
    )
    assert found.actual == {"name": "exchange_delivered_order_items", "kwargs": EXCHANGE}


def test_a_wrong_tool_that_was_refused() -> None:
    refused = step(exchange(), "Error: non-delivered order cannot be exchanged")
    found = diagnosis_of([write("modify_pending_order_items", **EXCHANGE)], [refused])
    assert found.kinds == ["wrong_tool"]
    assert found.explanation.endswith("was refused: non-delivered order cannot be exchanged.")
    # Tools that have nothing in common but the target are not mixed up.
    found = diagnosis_of([cancel("#W1")], [refused])
    assert found.kinds == ["missing_write"]


def test_a_tool_with_work_of_its_own_on_the_target_is_no_wrong_tool() -> None:
    baggage = write("update_reservation_baggages", reservation_id="R", total_baggages=2)
    flights = [write("update_reservation_flights", reservation_id="R", cabin=c) for c in "abc"]
    found = diagnosis_of([baggage, flights[0]], [flights[1], flights[2]])
    assert found.kinds == ["wrong_arguments", "extra_write", "missing_write"]


def test_a_needed_write_in_an_invalid_call() -> None:
    problem = "CancelPendingOrder.invoke() got an unexpected keyword argument 'why'"
    call = write("cancel_pending_order", order_id="#W1", why="no longer needed")
    found = diagnosis_of([cancel("#W1")], [step(call, f"Error: {problem}", problem)])
    assert found.kinds == ["invalid_action"]
    assert "was not valid" in found.explanation
    found = diagnosis_of([cancel("#W1")], [step(call, f"Error: {problem}", problem), cancel("#W1")])
    assert found.kind == "other"


def test_an_agent_that_gave_up() -> None:
    found = diagnosis_of([cancel("#W1")], [say("Hm.", "Yes?")], outcome="invalid")
    assert found.kinds == ["invalid_action", "missing_write"]
    assert found.explanation == (
        "Gave no further action after 1 step: cancel_pending_order on #W1 was still to come."
    )
    unknown = step(ActionRecord(name="fly"), "Unknown action fly", "Unknown action fly")
    found = diagnosis_of([], [unknown], outcome="invalid")
    assert found.explanation == "Gave no further action after 1 step: Unknown action fly."


@pytest.mark.parametrize("outcome", ["max_steps", "max_time"])
def test_an_episode_that_was_cut_off(outcome: str) -> None:
    found = diagnosis_of(
        [cancel("#W1"), exchange()],
        [exchange(item_ids=["9"]), say("Wait.", "Ok.")],
        outcome=outcome,
    )
    assert found.kinds == [outcome, "wrong_arguments", "missing_write"]
    assert "after 2 steps: cancel_pending_order on #W1 was still to come." in found.explanation


def test_an_infrastructure_error_says_nothing_about_the_agent() -> None:
    found = diagnosis_of(
        [cancel("#W1")], [], outcome="infrastructure_error", reward=None, error="No route\nto host"
    )
    assert found.kinds == ["infrastructure"]
    assert found.explanation == "Broken off by an error: No route to host."
    found = diagnosis_of([], [], outcome="infrastructure_error", reward=0.0)
    assert found.kind == "infrastructure"


def test_missing_outputs() -> None:
    details = RewardRecord(database=True, outputs={"1,093.34": False, "10": False, "7": True})
    # However the database came to be right, the writes are not what failed.
    found = diagnosis_of([cancel("#W1")], [], details=details)
    assert found.kinds == ["outputs_missing"]
    assert found.explanation == "Never told the user '1,093.34' (and 1 more output)."


def test_outputs_are_looked_for_where_there_is_no_score() -> None:
    said = say("That is $1,093.34, MA'AM.")
    assert diagnosis_of([], [said], outputs=["1093.34", "ma'am"]).kinds == ["other"]
    assert diagnosis_of([], [said], outputs=["1093.35"]).kinds == ["outputs_missing"]


def test_outputs_that_are_missing_beside_other_reasons() -> None:
    details = RewardRecord(database=False, outputs={"7": False})
    found = diagnosis_of([cancel("#W1")], [], details=details)
    assert found.kinds == ["missing_write", "outputs_missing"]


@pytest.mark.parametrize(
    ("words", "early"),
    [
        ('Please confirm with a "yes" to proceed.', True),
        ("Do you confirm? (yes/no)", True),
        ("Could you please provide the order id?", True),
        ("I need the order id.\nOtherwise I cannot help. Anything else?", True),
        ("Let me know how you'd like to proceed!", True),
        ("It is cancelled. Is there anything else I can help you with?", False),
        ("I am sorry, this order cannot be cancelled.", False),
        ("You're welcome! If you need further assistance, feel free to reach out.", False),
    ],
)
def test_a_user_who_left_while_the_agent_was_waiting(words: str, early: bool) -> None:
    found = diagnosis_of([cancel("#W1")], [say(words)])
    assert found.kinds == (["user_ended_early", "missing_write"] if early else ["missing_write"])
    if early:
        assert found.explanation == ("The user left before cancel_pending_order on #W1 was called.")


def test_a_user_does_not_leave_early_when_everything_was_tried() -> None:
    made = [step(exchange(item_ids=["9"]), "Error: 9 not found"), say("Which items?")]
    assert diagnosis_of([exchange()], made).kinds == ["wrong_arguments"]


def difference(record: str, **fields: Any) -> DifferenceRecord:
    return DifferenceRecord(table="orders", record=record, path="status", **fields)


def test_differences_are_told_line_by_line() -> None:
    details = RewardRecord(
        database=False,
        differences=[
            difference("#W1", expected="cancelled", actual="pending"),
            DifferenceRecord(table="orders", record="#W2", path="", absent="actual", expected=1),
        ],
    )
    found = diagnosis_of([], [], details=details)
    assert found.kind == "other"
    assert found.differences == [
        "orders[#W1].status: expected 'cancelled', got 'pending'",
        "orders[#W2]: expected 1, got absent",
    ]
    assert found.explanation == (
        "Made every write as expected, yet orders[#W1].status: expected 'cancelled', got 'pending'."
    )


def test_what_left_no_trace_in_the_database_is_no_reason() -> None:
    # The ground truth's own exchange is refused, so that nobody misses it.
    details = RewardRecord(database=False, differences=[difference("#W2")])
    found = diagnosis_of([exchange(), cancel("#W2")], [], details=details)
    assert found.explanation == "Never called cancel_pending_order on #W2."
    # A record that no finding accounts for may be due to any of them.
    details = RewardRecord(database=False, differences=[difference("#W2"), difference("#W8")])
    found = diagnosis_of([exchange(), cancel("#W2")], [], details=details)
    assert found.explanation == "Never called cancel_pending_order on #W2 (and 1 more write)."


def test_failures_are_counted_by_the_kind_that_weighs_most() -> None:
    episodes = [
        episode([cancel("#W1")], [], task_index=5),
        episode([cancel("#W1")], [], task_index=2, outcome="infrastructure_error", reward=None),
        episode([cancel("#W1")], [cancel("#W2")], task_index=4),
        episode([cancel("#W1")], [], task_index=1),
        episode([], [], reward=1.0, outcome="success"),
    ]
    found = break_down(episodes)
    assert found.failures == 4
    assert found.by_kind == {"infrastructure": 1, "wrong_arguments": 1, "missing_write": 2}
    assert list(found.by_kind) == ["infrastructure", "wrong_arguments", "missing_write"]
    assert [one.task_index for one in found.diagnoses] == [1, 2, 4, 5]
    assert break_down([]).failures == 0


def test_every_kind_has_its_weight() -> None:
    assert sorted(PRECEDENCE) == sorted(get_args(FailureKind))


@given(st.lists(writes, max_size=5), st.lists(steps, max_size=6), st.data())
def test_the_order_of_writes_plays_no_part(
    needed: list[ActionRecord], made: list[StepRecord], data: st.DataObject
) -> None:
    closing = say("Done.")
    shuffled = data.draw(st.permutations(made))
    assert diagnose(episode(needed, [*shuffled, closing])) == diagnose(
        episode(needed, [*made, closing])
    )


@given(
    st.lists(writes, max_size=5),
    st.lists(steps, max_size=6),
    st.sampled_from([None, 0.0, 0.5, 1.0]),
    st.sampled_from(["success", "failure", "max_steps", "max_time", "invalid"]),
    st.sampled_from([None, RewardRecord(database=True), RewardRecord(database=False)]),
)
def test_a_failure_has_a_diagnosis_and_a_success_has_none(
    needed: list[ActionRecord],
    made: list[StepRecord],
    reward: float | None,
    outcome: str,
    details: RewardRecord | None,
) -> None:
    played = episode(needed, [*made], reward=reward, outcome=outcome, details=details)
    found = diagnose(played)
    succeeded = reward == 1.0 or (reward is None and outcome == "success")
    assert (found is None) == succeeded
    if found is not None:
        assert found.kind == found.kinds[0]
        assert found.kinds == sorted(set(found.kinds), key=PRECEDENCE.index)
        assert len(found.explanation) < 160
        assert "\n" not in found.explanation
