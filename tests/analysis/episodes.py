"""Episodes made for tests: what was needed, and what was done."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from greenroom.analysis.errors import diagnose
from greenroom.analysis.figures import Diagnosis
from greenroom.store.records import EpisodeRecord
from greenroom.store.trajectory_records import ActionRecord, StepRecord, TaskRecord

STOP = "Thanks. ###STOP###"
EXCHANGE = {
    "order_id": "#W1",
    "item_ids": ["1", "2"],
    "new_item_ids": ["3", "4"],
    "payment_method_id": "paypal_1",
}


def write(name: str, **kwargs: Any) -> ActionRecord:
    return ActionRecord(name=name, kwargs=kwargs, writes=True)


def cancel(order: str, reason: str = "no longer needed") -> ActionRecord:
    return write("cancel_pending_order", order_id=order, reason=reason)


def exchange(**changed: Any) -> ActionRecord:
    return write("exchange_delivered_order_items", **(EXCHANGE | changed))


def step(action: ActionRecord, observation: str = "{}", invalid: str | None = None) -> StepRecord:
    source = "user" if action.name == "respond" else action.name
    return StepRecord(
        action=action, observation=observation, source=source, turn=1, invalid=invalid
    )


def say(content: str, reply: str = STOP) -> StepRecord:
    return step(ActionRecord(name="respond", kwargs={"content": content}), reply)


def episode(
    needed: list[ActionRecord],
    made: list[ActionRecord | StepRecord],
    **fields: Any,
) -> EpisodeRecord:
    """A failed episode that ends as most do, unless its last step is given as one."""
    steps = [one if isinstance(one, StepRecord) else step(one) for one in made]
    if not steps or steps[-1].action.writes:
        steps.append(say("All done. Is there anything else I can do for you?"))
    outputs = fields.pop("outputs", [])
    values: dict[str, Any] = {
        "task_index": 3,
        "trial": 1,
        "outcome": "failure",
        "reward": 0.0,
        "task": TaskRecord(instruction="Cancel it.", actions=needed, outputs=outputs),
        "steps": steps,
        "started_at": datetime(2024, 5, 15, tzinfo=UTC),
    }
    return EpisodeRecord(**(values | fields))


def diagnosis_of(*args: Any, **kwargs: Any) -> Diagnosis:
    found = diagnose(episode(*args, **kwargs))
    assert found is not None
    return found


values_of_arguments = st.sampled_from(["a", "b", 1, 1.0, ["a", "b"], {"c": "x" * 90}])


def _write(name: str, order: str, rest: dict[str, Any]) -> ActionRecord:
    return write(name, order_id=order, **rest)


writes = st.builds(
    _write,
    st.sampled_from(["cancel", "change", "exchange"]),
    st.sampled_from(["#W1", "#W2", "#W3"]),
    st.dictionaries(
        st.sampled_from(["reason", "items", "item_ids", "new_item_ids"]), values_of_arguments
    ),
)
steps = st.builds(
    step, writes, st.sampled_from(["{}", "Error: no"]), st.sampled_from([None, None, "bad"])
)
