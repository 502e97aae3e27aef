"""Scripted users talk to chat workflows, row by row; their scripts say when a goal is reached."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom import chat_workflow
from greenroom.api import EvaluationResult
from greenroom.errors import InputError
from greenroom.evaluation import (
    check_evaluation_config,
    reopen_evaluation,
    run_evaluation,
    start_evaluation,
)
from greenroom.models import FakeModel
from greenroom.store import Store, open_store
from greenroom.workflows import LocalTarget, Workflow
from tests.evaluation.evaluating import evaluated

Messages = list[dict[str, Any]]
GOODS = ["lamp", "desk", "chair", "shelf", "rug", "sofa", "clock", "vase", "bench", "stool"]
ROWS = [
    {"goal": "Get the money back.", "order": f"W{number}", "thing": thing, "tier": "gold"}
    for number, thing in enumerate(GOODS, start=1)
]
SCRIPT = """
[[scripts]]
opening = "Hello! My {{thing}} came broken."
lines = ["That is all I know."]
otherwise = { fail = true }

[[scripts.answers]]
says = ["order id", "order number"]
say = "It is {{order}}."

[[scripts.answers]]
matches = "refund .*{{order}}"
times = 1
say = "Yes, please."

[[scripts.answers]]
says = "anything else"
stop = true

[[scripts.goals]]
says = "refunded"
called = "refund"

[[scripts]]
rows = { order = "W10" }
lines = ["Forget it.", { stop = true }]

[[scripts.goals]]
says = "refunded"
"""


class RefundDesk:
    """Asks for the order, then for consent, and refunds it; it goes by what was said to it."""

    def __init__(self) -> None:
        self.inputs: list[dict[str, Any]] = []

        @chat_workflow(name="refunds")
        async def refunds(messages: Messages, inputs: dict[str, Any]) -> dict[str, Any]:
            self.inputs.append({k: v for k, v in inputs.items() if k != "messages"})
            said = [one["content"] for one in messages if one["role"] == "user"]
            orders = [found for text in said for found in re.findall(r"W\d+", text)]
            if "Forget" in said[-1]:
                return {"role": "assistant", "content": "As you wish."}
            if not orders:
                return {"role": "assistant", "content": "I am sorry. What is your order number?"}
            if "Yes" not in said[-1]:
                return {"role": "assistant", "content": f"Shall I refund order {orders[0]}?"}
            arguments = f'{{"order": "{orders[0]}"}}'
            call = {"name": "refund", "arguments": arguments}
            return {
                "role": "assistant",
                "content": "It is refunded. Is there anything else?",
                "tool_calls": [{"id": "1", "type": "function", "function": call}],
            }

        self.workflow: Workflow = refunds


def written(folder: Path, text: str = SCRIPT) -> dict[str, Any]:
    path = folder / "user.toml"
    path.write_text(text)
    return {"user_options": {"script": str(path)}}


def told(found: EvaluationResult) -> dict[tuple[int, int], Any]:
    return {(one.row, one.repeat): (one.conversation, one.scores) for one in found.results()}


def test_ten_rows_are_talked_through_the_same_each_time(tmp_path: Path) -> None:
    desk = RefundDesk()
    script = written(tmp_path)
    alone = evaluated(
        open_store(), desk.workflow, ROWS, "goal_reached", max_concurrency=1, **script
    )
    passed = [one.scores["goal_reached"] for one in alone.results()]
    assert [score.score for score in passed] == [1.0] * 9 + [0.0]
    assert {score.reason for score in passed[:9]} == {"reached in turn 3: as the script says"}
    conversation = next(iter(alone.results())).conversation
    assert conversation is not None
    assert [one["content"] for one in conversation] == [
        "Hello! My lamp came broken.",
        "I am sorry. What is your order number?",
        "It is W1.",
        "Shall I refund order W1?",
        "Yes, please.",
        "It is refunded. Is there anything else?",
    ]
    # What the script fills in is for the user alone.
    assert desk.inputs[0] == {"tier": "gold"}
    at_once = evaluated(
        open_store(), desk.workflow, ROWS, "goal_reached", max_concurrency=10, repeats=4, **script
    )
    first = told(alone)
    assert told(at_once) == {
        (row, repeat): first[row, 0] for row in range(10) for repeat in range(4)
    }


def test_gates_hold_goals(tmp_path: Path) -> None:
    desk, script = RefundDesk(), written(tmp_path)
    found = evaluated(open_store(), desk.workflow, ROWS, "goal_reached", **script)
    found.assert_gate("goal_reached>=0.9", strict=True)
    with pytest.raises(AssertionError, match="goal_reached"):
        found.assert_gate("goal_reached>=0.95", strict=True)


def test_recorded_conversations_are_scored_by_the_script(tmp_path: Path) -> None:
    store, desk, script = open_store(), RefundDesk(), written(tmp_path)
    first = evaluated(store, desk.workflow, ROWS, "conversation_length:min=1", **script)
    calls = len(desk.inputs)
    again = evaluated(
        store, desk.workflow, ROWS, "goal_reached", outputs=first.evaluation.name, **script
    )
    assert len(desk.inputs) == calls
    scores = [one.scores["goal_reached"].score for one in again.results()]
    assert scores == [1.0] * 9 + [0.0]


@pytest.mark.parametrize(
    ("text", "row", "said"),
    [
        (
            "[[scripts]]\nrows = {order = 'W1'}",
            ROWS[1],
            r"Row 1: user\.toml has no script for this row",
        ),
        (
            "[[scripts]]\n[[scripts]]\nrows = {ordr = 'W1'}",
            ROWS[1],
            (
                r"user\.toml, script 2 is for rows by 'ordr', and no column here is named so\. "
                r"There are: goal, order, thing, tier\."
            ),
        ),
        ("[[scripts]]\nlines = ['{{colour}}']", ROWS[0], r"Row 1: .*\{\{colour\}\}.*no column"),
        ("[[scripts]]\nlines = ['x']", ROWS[0], r"Row 1: nothing tells goal_reached when the goal"),
        ("[[scripts]]\nline = ['x']", ROWS[0], r"script 1: unknown key 'line'"),
        (
            "[[scripts]]\nlines = [{calls = [{tool = 'wave'}], stop = true}]",
            ROWS[0],
            r"calls wave, which users do not have here",
        ),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_call(
    text: str, row: dict[str, Any], said: str, tmp_path: Path
) -> None:
    desk, store = RefundDesk(), open_store()
    with pytest.raises(InputError, match=said):
        evaluated(store, desk.workflow, [row], "goal_reached", **written(tmp_path, text))
    assert desk.inputs == []
    assert list(store.evaluations.all()) == []


def test_an_answer_that_the_script_lacks_is_an_infrastructure_error(tmp_path: Path) -> None:
    script = written(tmp_path, "[[scripts]]\nanswers = [{says = 'hello', say = 'Hi.'}]")
    found = evaluated(
        open_store(), RefundDesk().workflow, ROWS[:1], "role_order", max_retries=0, **script
    )
    (result,) = found.results()
    assert result.outcome == "infrastructure_error"
    assert "'I am sorry. What is your order number?': user.toml, script 1" in str(result.error)


def test_the_script_is_kept_with_the_evaluation(store: Store, tmp_path: Path) -> None:
    found = evaluated(store, RefundDesk().workflow, ROWS[:2], "goal_reached", **written(tmp_path))
    kept = store.evaluations.find(found.evaluation.id).config["user_options"]["script"]
    assert kept["source"] == "user.toml"
    assert [len(one.get("answers", ())) for one in kept["scripts"]] == [3, 0]


def test_an_evaluation_goes_on_without_the_file(store: Store, tmp_path: Path) -> None:
    desk, script = RefundDesk(), written(tmp_path)
    store.test_sets.save("rows", ROWS)
    fields = {"workflow": "refunds", "test_set": "rows", "evaluators": ["goal_reached"]}

    async def run() -> list[float | None]:
        target = LocalTarget(desk.workflow)
        config = check_evaluation_config(fields | script)
        begun, before = await start_evaluation(store, config, target=target)
        (tmp_path / "user.toml").write_text("[[scripts]]\nlines = ['Something else.']")
        kept, context = await reopen_evaluation(store, begun.name, target=target)
        assert context.user_settings == before.user_settings
        await run_evaluation(store, kept, context)
        return [one.scores["goal_reached"].score for one in store.evaluations.results(kept.id)]

    assert anyio.run(run) == [1.0] * 9 + [0.0]


def test_a_transcript_with_a_goal_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = FakeModel(['{"reason": "No.", "reached": false, "turn": 0}'])

    def client(*_: Any) -> FakeModel:
        return asked

    monkeypatch.setattr("greenroom.models.pool.ModelPool.client", client)
    row = {"messages": [{"role": "user", "content": "My rug is broken."}], "goal": "A refund."}
    desk = RefundDesk()
    judge = "goal_reached:model=m,api_base=http://127.0.0.1:9/v1"
    found = evaluated(open_store(), desk.workflow, [row], judge)
    (result,) = found.results()
    assert result.scores["goal_reached"].reason == "not reached: No."
    assert "<goal>\nA refund.\n</goal>" in asked.requests[0].messages[-1]["content"]
    assert desk.inputs == [{}]
