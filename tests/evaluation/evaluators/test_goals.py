"""Whether a user has what they wanted: by a script without a model, or by a judge."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.evaluation import Score
from greenroom.evaluation.evaluators import make_evaluator
from greenroom.models import BudgetExhausted, FakeModel, Ledger, ModelUnavailable
from greenroom.users import Goal
from tests.evaluation.evaluators.scoring import called, said, score

YES = '{"reason": "It is refunded.", "reached": true, "turn": 2}'
NO = '{"reason": "It was only promised.", "reached": false, "turn": 0}'
TALK = [
    {"role": "user", "content": "My order is broken."},
    said(None, tool_calls=[called("find_order")]),
    {"role": "tool", "tool_call_id": "1", "content": "{}"},
    said("I am sorry. Shall I refund it?"),
    {"role": "user", "content": "Yes."},
    said("It is refunded."),
]


def judged(fake: FakeModel, settings: str = ":model=m", **case: Any) -> Score:
    case = {"outputs": TALK[-1], "is_chat": True, "conversation": TALK} | case
    case = {"inputs": {"goal": "Get the money back."}} | case
    return score(f"goal_reached{settings}", models=lambda _: fake, **case)


def by_script(*goals: Goal, **case: Any) -> Score:
    return judged(FakeModel([]), goals=goals, **case)


def test_a_judge_sees_the_goal_and_the_turns() -> None:
    fake, ledger = FakeModel([YES]), Ledger()
    found = judged(fake, ledger=ledger)
    assert (found.score, found.passed) == (1.0, True)
    assert found.reason == "reached in turn 2: It is refunded."
    assert (found.compared, found.against) == ("It is refunded.", "Get the money back.")
    asked = fake.requests[0].messages[-1]["content"]
    assert "<goal>\nGet the money back.\n</goal>" in asked
    assert "TURN 1\nUSER: My order is broken.\nASSISTANT:  [calls" in asked
    assert "TURN 2\nUSER: Yes.\nASSISTANT: It is refunded." in asked
    assert ledger.usage()["judge"].calls == 1


def test_a_goal_that_was_not_reached_is_0_with_the_judges_reason() -> None:
    found = judged(FakeModel([NO]))
    assert (found.score, found.passed) == (0.0, False)
    assert found.reason == "not reached: It was only promised."


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("Yes!", "no JSON object"),
        ('{"reached": "yes", "turn": 1}', "'reached' is missing"),
        ('{"reached": true}', "'turn' is missing"),
        ('{"reached": true, "turn": 3, "reason": ""}', "there are the turns 1 to 2"),
        ('{"reached": true, "turn": 0, "reason": ""}', "there are the turns 1 to 2"),
    ],
)
def test_an_answer_that_cannot_be_read_is_asked_for_again_and_never_0(
    answer: str, told: str
) -> None:
    fake = FakeModel([answer, YES])
    assert judged(fake).score == 1.0
    assert told in fake.requests[1].messages[-1]["content"]
    found = judged(FakeModel([answer] * 3))
    assert (found.score, found.passed) == (None, None)
    assert told in found.reason


def test_a_judge_who_is_away_leaves_no_score() -> None:
    found = judged(FakeModel([ModelUnavailable("it is down")]))
    assert (found.score, found.broken) == (None, True)
    with pytest.raises(BudgetExhausted):
        judged(FakeModel([BudgetExhausted("spent")]))


def test_a_recorded_transcript_is_judged_with_its_history() -> None:
    fake = FakeModel([YES])
    found = judged(
        fake,
        ":model=m,column=wish",
        conversation=None,
        outputs=TALK[-1],
        inputs={"messages": TALK[:-1], "wish": {"refund": True}},
    )
    assert found.reason.startswith("reached in turn 2")
    asked = fake.requests[0].messages[-1]["content"]
    assert '<goal>\n{"refund":true}\n</goal>' in asked


@pytest.mark.parametrize(
    ("settings", "case", "told"),
    [
        (":model=m", {"inputs": {}}, "the row has no goal"),
        (":model=m,column=wish", {}, "the row has no wish"),
        ("", {}, "name a judge by model or --judge-model"),
        (":model=m", {"outputs": {"a": 1}, "conversation": None}, "holds no messages"),
    ],
)
def test_what_cannot_be_judged_has_no_score(settings: str, case: dict[str, Any], told: str) -> None:
    found = judged(FakeModel([]), settings, **case)
    assert found.score is None
    assert told in found.reason


def goal(**fields: Any) -> Goal:
    return Goal(**fields)


def test_a_script_decides_without_a_judge() -> None:
    found = by_script(goal(says="is refunded"))
    assert (found.score, found.reason) == (1.0, "reached in turn 2: as the script says")
    assert found.compared == "It is refunded."
    assert found.against == [{"says": ("is refunded",)}]


@pytest.mark.parametrize(
    ("goals", "turn"),
    [
        ([goal(says="refund it")], 1),
        ([goal(called="find_order")], 1),
        ([goal(says="refunded"), goal(called="find_order")], 2),
        ([goal(says="refund it", called=["find_order"])], 1),
        ([goal(matches="^it is \\w+ed")], 2),
        ([goal(called="notify")], 2),  # told as an event
        ([goal(says="is refunded", says_none="sorry")], 2),
        ([goal(says="My order is broken")], None),  # said by the user
        ([goal(says="refunded"), goal(says="shipped")], None),
        ([goal(says="refunded", called="ship")], None),
        ([goal(called=["find_order", "ship"])], None),
        ([goal(says="refund it", says_none="sorry")], None),
    ],
)
def test_goals_of_scripts(goals: list[Goal], turn: int | None) -> None:
    found = by_script(*goals, tool_calls=[{"id": "e", "name": "notify", "input": {}}])
    assert found.passed is (turn is not None)
    assert found.reason.startswith(f"reached in turn {turn}" if turn else "not reached")


def test_the_goal_that_was_missed_is_named() -> None:
    found = by_script(goal(says="refunded"), goal(says="shipped"))
    said = "the assistant never said what the script wants to hear"
    assert found.reason == f"not reached: goal 2 of 2, {said}"
    found = by_script(goal(called=["find_order", "ship", "notify"]))
    assert found.reason == "not reached: ship, notify were not called"


def test_an_evaluator_needs_goals_only_without_a_model() -> None:
    kind = make_evaluator("goal_reached").spec
    assert kind == {"name": "goal_reached", "alias": "goal_reached", "settings": {}}
    with pytest.raises(Exception, match="Unknown setting of the goal_reached evaluator 'modle'"):
        make_evaluator("goal_reached:modle=x")
