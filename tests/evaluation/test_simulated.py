from __future__ import annotations

from collections.abc import Generator
from typing import Any

import anyio
import pytest

from greenroom import chat_workflow
from greenroom.api import EvaluationResult
from greenroom.domains.tasks import STOP
from greenroom.errors import InputError, OutsideFault
from greenroom.evaluation.simulated import Talk
from greenroom.model_server import RunningServer, running_server
from greenroom.models import BudgetExhausted, ModelUnavailable
from greenroom.store import Store, open_store
from greenroom.users import ScriptedUser
from greenroom.workflows import LocalTarget, Workflow, report_usage
from greenroom.workflows.calls import Answer
from tests.domains.small import small_domain
from tests.evaluation.evaluating import evaluated
from tests.workflows.serving import serving

GOAL = "Light the hall."
"""The instruction of a task that the scripted model server knows."""

Messages = list[dict[str, Any]]


@pytest.fixture(scope="module")
def models() -> Generator[RunningServer]:
    with running_server(small_domain()) as server:
        yield server


class Lamplighter:
    """Lights the hall after so many consents, and remembers what it was told."""

    def __init__(self, after: int = 1, **extra: Any) -> None:
        self.heard: list[Messages] = []
        self.sessions: list[str | None] = []
        self.inputs: list[dict[str, Any]] = []

        @chat_workflow(name="lamplighter")
        def lamplighter(
            messages: Messages, inputs: dict[str, Any], session_id: str | None
        ) -> dict[str, Any]:
            self.heard.append(messages)
            self.sessions.append(session_id)
            self.inputs.append({k: v for k, v in inputs.items() if k != "messages"})
            report_usage(prompt_tokens=3, completion_tokens=2, cost=0.125)
            consents = sum(message["content"] == "Yes, please go ahead." for message in messages)
            words = "It is all done." if consents >= after else "Shall I light it?"
            return {"role": "assistant", "content": words, **extra}

        self.workflow = lamplighter


def talked(
    models: RunningServer,
    target: str | Workflow,
    row: dict[str, Any],
    *evaluators: str,
    store: Store | None = None,
    **options: Any,
) -> EvaluationResult:
    user: dict[str, Any] = {"user_model": "user", "user_api_base": models.api_base}
    return evaluated(store or open_store(), target, [row], *evaluators, **(user | options))


def test_a_user_with_a_goal_talks_until_it_is_reached(models: RunningServer) -> None:
    lamps = Lamplighter()
    found = talked(
        models,
        lamps.workflow,
        {"goal": GOAL, "persona": "You are short of words.", "tier": "gold", "expected": "done"},
        "contains",
        "conversation_length:count=turns,max=2",
        "role_order",
    )
    (result,) = found.results()
    assert result.conversation is not None
    assert [(one["role"], one["content"]) for one in result.conversation] == [
        ("user", GOAL),
        ("assistant", "Shall I light it?"),
        ("user", "Yes, please go ahead."),
        ("assistant", "It is all done."),
    ]
    assert result.outputs == {"role": "assistant", "content": "It is all done."}
    assert {alias: one.score for alias, one in result.scores.items()} == {
        "contains": 1.0,
        "conversation_length": 1.0,
        "role_order": 1.0,
    }
    assert lamps.inputs == [{"tier": "gold"}] * 2, "the workflow does not see the brief"
    assert len(set(lamps.sessions)) == 1
    assert None not in lamps.sessions


def test_user_and_workflow_pay_from_purses_of_their_own(models: RunningServer) -> None:
    found = talked(models, Lamplighter().workflow, {"goal": GOAL}, "role_order")
    (result,) = found.results()
    assert (result.usage["agent"].calls, result.usage["agent"].cost) == (2, 0.25)
    assert result.usage["agent"].prompt_tokens == 6
    assert result.usage["user"].calls == 3, "it spoke twice, and stopped"
    assert result.cost is None, "nobody knows what the user's model costs"


@pytest.mark.parametrize(
    ("row", "options", "turns"),
    [
        ({}, {"max_turns": 3}, 3),
        ({"max_turns": 2}, {"max_turns": 9}, 2),
        ({"max_turns": "1"}, {}, 1),
    ],
)
def test_turns_are_limited_by_row_or_evaluation(
    models: RunningServer, row: dict[str, Any], options: dict[str, Any], turns: int
) -> None:
    lamps = Lamplighter(after=99)
    found = talked(models, lamps.workflow, {"goal": GOAL, **row}, "role_order", **options)
    (result,) = found.results()
    assert len(lamps.heard) == turns
    assert result.conversation is not None
    assert len(result.conversation) == 2 * turns


def test_a_chat_workflow_behind_an_address(models: RunningServer) -> None:
    lamps = Lamplighter()
    with serving(lamps.workflow) as server:
        found = talked(models, server.address, {"goal": GOAL, "expected": "done"}, "contains")
    (result,) = found.results()
    assert result.scores["contains"].score == 1.0
    assert len(lamps.heard) == 2
    assert result.trace_id


def test_a_scripted_user_needs_no_model() -> None:
    lamps = Lamplighter()
    rows = [{"goal": GOAL, "persona": "Nobody", "expected": "Shall I light it?"}]
    found = evaluated(open_store(), lamps.workflow, rows)
    (result,) = found.results()
    assert result.conversation is not None
    assert [one["content"] for one in result.conversation] == [GOAL, "Shall I light it?"]
    assert result.scores["exact_match"].score == 1.0


def test_evaluators_know_the_goal(tmp_path: Any) -> None:
    functions = tmp_path / "look.py"
    functions.write_text(
        "def look(inputs, conversation):\n"
        "    return inputs['goal'] == conversation[0]['content'] and inputs['persona'] == 'Bo'\n"
    )
    rows = [{"goal": GOAL, "persona": "Bo"}]
    spec = f"python:function={functions}:look"
    found = evaluated(open_store(), Lamplighter().workflow, rows, spec)
    (result,) = found.results()
    assert result.scores["python"].score == 1.0


def test_a_user_who_cannot_go_on_is_an_error_and_not_the_workflows_score(
    models: RunningServer,
) -> None:
    store = open_store()
    found = talked(
        models,
        Lamplighter().workflow,
        {"goal": GOAL},
        "role_order",
        store=store,
        user_api_base="http://127.0.0.1:9/v1",
        model_retries=0,
        max_retries=1,
    )
    (result,) = found.results()
    assert (result.outcome, result.scores) == ("infrastructure_error", {})
    assert "The simulated user broke: " in (result.error or "")
    assert len(store.evaluations.attempts(found.evaluation.id)) == 1


class Says:
    """A user with lines of its own, one of which may be an exception."""

    def __init__(self, *lines: str | Exception) -> None:
        self._lines = list(lines)

    async def open(self, instruction: str) -> str:
        return self._next()

    async def reply(self, content: str) -> str:
        return self._next()

    def _next(self) -> str:
        line = self._lines.pop(0)
        if isinstance(line, Exception):
            raise line
        return line


def talk(target: Workflow, user: Any, max_turns: int = 5) -> tuple[Talk, Answer]:
    held = Talk(LocalTarget(target).call, {})
    return held, anyio.run(held.hold, user, GOAL, max_turns)


def contents(held: Talk) -> list[Any]:
    return [message["content"] for message in held.messages]


def test_words_beside_the_stop_sign_are_not_left_unanswered() -> None:
    held, _ = talk(Lamplighter().workflow, Says(f"Light it! {STOP}"))
    assert contents(held) == ["Light it!", "Shall I light it?"]
    held, _ = talk(Lamplighter().workflow, Says("Light it!", f"Thanks. {STOP}"))
    assert contents(held) == ["Light it!", "Shall I light it?"]


def test_a_user_who_says_nothing_at_all_has_not_talked() -> None:
    with pytest.raises(OutsideFault, match="stopped without saying anything"):
        talk(Lamplighter().workflow, Says(STOP))


def test_a_spent_budget_is_not_mistaken_for_a_fault() -> None:
    with pytest.raises(BudgetExhausted):
        talk(Lamplighter().workflow, Says("Hi", BudgetExhausted("spent")))
    with pytest.raises(OutsideFault, match="gone"):
        talk(Lamplighter().workflow, Says("Hi", ModelUnavailable("gone")))


def test_an_answer_that_repeats_the_history_is_not_doubled() -> None:
    @chat_workflow
    def whole(messages: Messages) -> Messages:
        return [*messages, {"role": "assistant", "content": "ok"}]

    held, _ = talk(whole, ScriptedUser(["more"], opening="Hi"))
    assert contents(held) == ["Hi", "ok", "more", "ok"]


def test_what_tools_said_stays_in_the_conversation() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "light", "arguments": "{}"}}

    @chat_workflow
    def tooling(messages: Messages) -> Messages:
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "lit"},
            {"role": "assistant", "content": "It is lit."},
        ]

    found = evaluated(open_store(), tooling, [{"goal": GOAL}], "role_order", "tool_calls")
    (result,) = found.results()
    assert result.conversation is not None
    assert [one["role"] for one in result.conversation] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert result.scores["role_order"].score == 1.0


def test_a_workflow_that_only_calls_tools_is_answered_all_the_same() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "light", "arguments": "{}"}}

    @chat_workflow
    def silent(messages: Messages) -> dict[str, Any]:
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    held, _ = talk(silent, ScriptedUser(["and?"], opening="Hi"))
    assert contents(held) == ["Hi", None, "and?", None]


def test_a_completion_cannot_have_a_conversation() -> None:
    with pytest.raises(InputError, match="which a completion cannot hold: leave out --as"):
        evaluated(open_store(), Lamplighter().workflow, [{"goal": GOAL}], treat_as="completion")
