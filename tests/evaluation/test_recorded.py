"""Recorded outputs are scored without a call: those of a column, and those of an evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from greenroom import chat_workflow
from greenroom.api import evaluate
from greenroom.errors import InputError
from greenroom.store import Store
from greenroom.workflows import report_usage
from tests.cli.running import Greenroom
from tests.evaluation.evaluating import QUESTIONS, evaluated, scores

SAID = {"role": "assistant", "content": "Paris"}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "1", "function": {"name": "look", "arguments": '{"city": "Paris"}'}}],
}


def test_a_column_of_texts_is_scored(store: Store) -> None:
    rows = [
        {"q": "France?", "expected": "Paris", "answer": "Paris", "seconds": 1.5, "cost": "0.25"},
        {"q": "Italy?", "expected": "Rome", "answer": "Milan", "seconds": 2.5, "cost": 0.5},
    ]
    found = evaluated(store, "support bot", rows, outputs="answer")
    assert scores(found) == [1.0, 0.0]
    assert found.evaluation.workflow == "support bot"
    assert (found.figures.cost, found.evaluation.is_chat) == (0.75, False)
    assert [one.seconds for one in found.results()] == [1.5, 2.5]
    assert [one.outputs for one in found.results()] == ["Paris", "Milan"]


def test_a_time_that_was_not_recorded_is_not_shown(store: Store) -> None:
    row = {"q": "France?", "expected": "Paris", "answer": "Paris"}
    without = evaluated(store, "bot", [row], outputs="answer")
    assert (without.figures.cost, "Latency" in str(without.report.sections[0])) == (None, False)
    timed = evaluated(store, "bot", [row | {"seconds": 2}], outputs="answer")
    assert "Latency" in str(timed.report.sections[0])


@pytest.mark.parametrize("encoded", [True, False])
def test_messages_are_scored_as_chat(store: Store, encoded: bool) -> None:
    def encode(value: Any) -> Any:
        return json.dumps(value) if encoded else value

    history = [{"role": "user", "content": "Capital of France?"}]
    outputs = [CALLED, {"role": "tool", "content": "yes", "tool_call_id": "1"}, SAID]
    row = {"messages": encode(history), "outputs": encode(outputs), "expected": "Paris"}
    found = evaluated(
        store,
        "bot",
        [row],
        "exact_match",
        'tool_calls={"calls": [{"name": "look", "arguments": {"city": "Paris"}}]}',
        "conversation_length:min=4,max=4",
        "role_order",
        outputs="outputs",
    )
    (result,) = found.results()
    assert [score.passed for score in result.scores.values()] == [True] * 4
    assert found.evaluation.is_chat


def test_how_outputs_are_read_can_be_told(store: Store) -> None:
    row = {"q": "?", "outputs": SAID, "expected": SAID}
    plain = evaluated(store, "bot", [row], outputs="outputs", treat_as="completion")
    assert (scores(plain), plain.evaluation.is_chat) == ([1.0], False)
    row = {"q": "?", "outputs": "Paris", "expected": SAID}
    as_chat = evaluated(store, "bot", [row], outputs="outputs", treat_as="chat")
    assert (scores(as_chat), as_chat.evaluation.is_chat) == ([1.0], True)


def test_what_was_recorded_is_not_among_the_inputs(store: Store) -> None:
    row = {"q": "?", "answer": "x", "seconds": 1, "note": "n"}
    seen: list[dict[str, Any]] = []

    def look(inputs: dict[str, Any]) -> bool:
        seen.append(inputs)
        return True

    store.test_sets.save("rows", [row])
    evaluate("bot", "rows", look, store=store, outputs="answer", show_progress=False)
    assert seen == [{"q": "?", "note": "n"}]


@pytest.mark.parametrize(
    ("row", "outputs", "message"),
    [
        ({"answer": ""}, "answer", "Row 2 has no recorded output in answer"),
        ({}, "answer", "Row 2 has no recorded output in answer"),
        ({"answer": "x", "seconds": "soon"}, "answer", "Row 2: seconds is a number of 0 or more"),
        ({"answer": "x", "cost": -1}, "answer", "Row 2: cost is a number of 0 or more, not -1"),
        ({"answer": "x"}, "anser", "Unknown column or evaluation 'anser'. Did you mean 'answer'"),
    ],
)
def test_rows_are_checked_at_the_start(
    store: Store, row: dict[str, Any], outputs: str, message: str
) -> None:
    rows = [{"q": "?", "answer": "x"}, {"q": "?"} | row]
    with pytest.raises(InputError, match=message):
        evaluated(store, "bot", rows, "contains:values=x", outputs=outputs)
    assert store.evaluations.standings() == []


calls = 0


@chat_workflow
def telling(messages: list[dict[str, Any]]) -> Any:
    """Tells a call as an event, and raises an error about Peru."""
    global calls
    calls += 1
    report_usage(prompt_tokens=3, completion_tokens=4, cost=0.5)
    if "Peru" in messages[-1]["content"]:
        raise ValueError("no map")
    yield {"type": "tool_call", "id": "1", "name": "look", "input": {"city": "Paris"}}
    yield SAID


@pytest.mark.slow
def test_an_earlier_evaluation_is_scored_again_without_a_call(store: Store) -> None:
    global calls
    calls = 0
    first = evaluated(store, telling, QUESTIONS, name="first")
    made = calls
    again = evaluated(
        store,
        "telling",
        QUESTIONS,
        "contains",
        'tool_calls={"calls": [{"name": "look", "arguments": {"city": "Paris"}}]}',
        outputs="first",
        max_cost=0.01,
    )
    assert calls == made
    assert scores(again, "contains") == scores(first)
    assert scores(again, "tool_calls") == [1.0, 1.0, 0.0]
    assert [one.outcome for one in again.results()] == ["answered", "answered", "crashed"]
    assert [one.seconds for one in again.results()][:2] == [one.seconds for one in first.results()][
        :2
    ]
    kept, *_ = again.results()
    assert (kept.cost, kept.usage["agent"].completion_tokens) == (0.5, 4)
    assert again.evaluation.is_chat


def test_conversations_of_simulated_users_are_kept(store: Store) -> None:
    goals = [{"goal": "Ask about France.", "persona": "Short.", "expected": "Paris"}]
    evaluated(store, telling, goals, name="talked")
    again = evaluated(
        store, "telling", goals, "exact_match", "conversation_length:max=2", outputs="talked"
    )
    (result,) = again.results()
    assert result.conversation == [{"role": "user", "content": "Ask about France."}, SAID]
    assert [score.passed for score in result.scores.values()] == [True, True]


def test_outputs_for_other_rows_are_refused(store: Store) -> None:
    evaluated(store, telling, QUESTIONS[:1], name="first")
    with pytest.raises(InputError, match=r"'first' has outputs for rows@1, not for rows@2"):
        evaluated(store, "telling", QUESTIONS[:2], outputs="first")


def test_at_the_command_line(greenroom: Greenroom, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    row = {"q": "France?", "expected": "Paris", "answer": "Paris", "kind": "city", "cost": 0.5}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    shown = greenroom(
        "eval",
        "bot v3",
        str(path),
        "-e",
        "exact_match",
        "--outputs",
        "answer",
        "--by",
        "kind",
        "--name",
        "kept",
    )
    assert shown.status == 0, shown.err
    assert "Workflow: bot v3" in shown.out
    assert "By kind" in shown.out
    assert "$0.5" in shown.out
    wrong = greenroom("eval", "bot", str(path), "-e", "exact_match", "--by", "knd")
    assert (wrong.status, "Unknown column 'knd'. Did you mean 'kind'?" in wrong.err) == (2, True)
    wrong = greenroom("run", "--by", "tags")
    assert (wrong.status, "Unknown kind of slice 'tags'" in wrong.err) == (2, True)
    assert greenroom("evals", "resume", "kept").status == 0
