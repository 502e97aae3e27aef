from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from greenroom.errors import InputError
from greenroom.judging import judge_episode
from greenroom.judging.answers import (
    Assignment,
    KindAnswer,
    Unusable,
    parse_answer,
    response_format,
)
from greenroom.models import (
    BudgetExhausted,
    Completion,
    ContentFiltered,
    ContextWindowExceeded,
    FakeModel,
    Ledger,
    ModelUnavailable,
)
from greenroom.store import DifferenceRecord, EpisodeRecord, JudgementRecord, RewardRecord
from tests.analysis.episodes import cancel, episode, exchange, say, step

POLICY = "Ask before you cancel anything."


def assigned(author: str, why: str = "Step 1 went wrong.") -> str:
    return json.dumps({"description": why, "author": author})


def quoting(words: str, author: str = "user") -> str:
    return json.dumps({"description": "Step 1 went wrong.", "words": words, "author": author})


def kind_of(kind: str, why: str = "It cancelled #W2, not #W1.") -> str:
    return json.dumps({"description": why, "kind": kind})


def failed(**fields: Any) -> EpisodeRecord:
    return episode([cancel("#W1")], [cancel("#W2")], **fields)


def judged(
    model: FakeModel, record: EpisodeRecord | None = None, policy: str = POLICY
) -> JudgementRecord:
    ledger = Ledger()
    counted = ledger.model("judge", model)
    return anyio.run(lambda: judge_episode(counted, record or failed(), ledger, policy=policy))


def shown(model: FakeModel, request: int = 0) -> str:
    return "\n".join(str(message["content"]) for message in model.requests[request].messages)


@pytest.mark.parametrize("author", ["user", "environment"])
def test_a_fault_that_is_not_the_agents_takes_one_question(author: str) -> None:
    model = FakeModel([assigned(author)])
    judgement = judged(model)
    assert judgement.key == (3, 1)
    assert (judgement.author, judgement.author_description) == (author, "Step 1 went wrong.")
    assert (judgement.kind, judgement.kind_description, judgement.error) == (None, None, None)
    assert len(model.requests) == 1


def test_the_judge_quotes_what_the_user_said_where_the_user_is_at_fault() -> None:
    model = FakeModel([quoting("I changed my mind.")])
    assert judged(model).author_words == "I changed my mind."
    assert "copied exactly from one message" in shown(model)
    (asked,) = model.requests
    assert asked.response_format is not None
    fields = asked.response_format["json_schema"]["schema"]["properties"]
    assert list(fields) == ["description", "words", "author"], "reasons come before the verdict"
    assert judged(FakeModel([quoting("It broke.", "environment")])).author_words is None
    assert judged(FakeModel([assigned("user")])).author_words is None


@pytest.mark.parametrize(
    "kind", ["called_wrong_tool", "used_wrong_tool_argument", "goal_partially_completed", "other"]
)
def test_a_fault_of_the_agent_is_named(kind: str) -> None:
    model = FakeModel([assigned("agent"), kind_of(kind)])
    judgement = judged(model)
    assert (judgement.author, judgement.kind) == ("agent", kind)
    assert judgement.kind_description == "It cancelled #W2, not #W1."
    roles = [message["role"] for message in model.requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]


def test_the_judge_sees_the_task_the_conversation_and_the_diagnosis() -> None:
    difference = DifferenceRecord(
        table="orders", record="#W1", path="status", expected="cancelled", actual="pending"
    )
    record = episode(
        [cancel("#W1")],
        [cancel("#W2"), step(exchange(), "Error: no such item", invalid="bad items"), say("Done.")],
        opening="Hello, cancel my order.",
        outputs=["54.20"],
        details=RewardRecord(database=False, outputs={"54.20": False}, differences=[difference]),
    )
    model = FakeModel([assigned("user")])
    judged(model, record)
    text = shown(model)
    for evidence in (
        POLICY,
        "Cancel it.",
        'cancel_pending_order({"order_id": "#W1"',
        "54.20",
        "USER: Hello, cancel my order.",
        '1. AGENT CALLS cancel_pending_order({"order_id": "#W2"',
        "[changes the database]",
        "[not a valid call: bad items]",
        "RESULT: Error: no such item",
        "3. AGENT: Done.",
        "###STOP###",
        "orders[#W1].status: expected 'cancelled', got 'pending'",
        "Output '54.20': never said",
        "Kind: wrong arguments",
    ):
        assert evidence in text, evidence
    assert model.requests[0].response_format == response_format(Assignment)


def test_long_texts_are_shortened() -> None:
    record = episode([cancel("#W1")], [step(cancel("#W2"), "x" * 50_000), say("y" * 50_000)])
    model = FakeModel([assigned("user")])
    judged(model, record, policy="z" * 50_000)
    assert "[... 49400 characters ...]" in shown(model)
    assert len(shown(model)) < 25_000


def test_no_secret_reaches_the_judge_or_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    record = episode([cancel("#W1")], [step(cancel("#W2"), "Error: sk-very-secret was refused")])
    model = FakeModel(
        [assigned("agent", "It said sk-very-secret."), ModelUnavailable("sk-very-secret")]
    )
    judgement = judged(model, record, policy="Use sk-very-secret.")
    for number in range(len(model.requests)):
        assert "sk-very-secret" not in shown(model, number)
        assert "[SOME_API_KEY]" in shown(model, number)
    assert "sk-very-secret" not in judgement.model_dump_json()


def test_an_unusable_answer_is_asked_for_again() -> None:
    model = FakeModel(["I cannot say.", assigned("nobody"), assigned("agent"), kind_of("other")])
    judgement = judged(model)
    assert (judgement.author, judgement.kind, judgement.error) == ("agent", "other", None)
    assert judgement.usage["judge"].calls == 4
    complaint = model.requests[1].messages
    assert complaint[-2]["content"] == "I cannot say."
    assert "no JSON object" in complaint[-1]["content"]
    assert "author" in model.requests[2].messages[-1]["content"]
    assert len(model.requests[2].messages) == len(complaint)
    assert "I cannot say." not in shown(model, 3)


def test_after_three_unusable_answers_there_is_no_verdict() -> None:
    model = FakeModel(["I cannot say."])
    judgement = judged(model)
    assert len(model.requests) == 3
    assert (judgement.author, judgement.kind) == (None, None)
    assert judgement.error == "No usable answer after 3 attempts: it holds no JSON object"


def test_the_author_is_kept_when_the_kind_cannot_be_had() -> None:
    judgement = judged(FakeModel([assigned("agent"), "no idea"]))
    assert (judgement.author, judgement.kind) == ("agent", None)
    assert judgement.error is not None
    assert judgement.usage["judge"].calls == 4


def test_a_spent_budget_ends_the_judging() -> None:
    with pytest.raises(BudgetExhausted):
        judged(FakeModel([BudgetExhausted("spent")]))


@pytest.mark.parametrize(
    "error",
    [
        ModelUnavailable("gone"),
        ContentFiltered("declined"),
        ContextWindowExceeded("too long"),
    ],
)
def test_a_model_without_an_answer_is_an_error_and_no_verdict(error: Exception) -> None:
    judgement = judged(FakeModel([error]))
    assert judgement.author is None
    assert judgement.error == f"{type(error).__name__}: {error}"
    assert judgement.usage["judge"].prompt_tokens == 0
    assert not judgement.usage["judge"].cost


def test_what_a_person_has_to_mend_is_raised() -> None:
    with pytest.raises(InputError, match="wrong key"):
        judged(FakeModel([InputError("wrong key")]))


def test_a_small_context_is_shown_less() -> None:
    steps = [step(exchange(), "o" * 500) for _ in range(60)]
    record = episode([cancel("#W1")], [*steps, say("Bye.")])
    model = FakeModel(
        [ContextWindowExceeded("full"), ContextWindowExceeded("full"), assigned("user")]
    )
    assert judged(model, record).author == "user"
    sizes = [len(shown(model, number)) for number in range(3)]
    assert sizes[0] > 2 * sizes[1] > 4 * sizes[2] / 2
    assert "[... 47 steps ...]" in shown(model, 2)
    assert POLICY not in shown(model, 2)


def test_what_it_took_is_added_up() -> None:
    def answer(text: str, cost: float | None, *, cached: bool = False) -> Completion:
        message = {"role": "assistant", "content": text}
        return Completion(
            message=message,
            prompt_tokens=100,
            completion_tokens=10,
            cost=cost,
            from_cache=cached,
        )

    both = judged(FakeModel([answer(assigned("agent"), 0.5), answer(kind_of("other"), 0.25)]))
    assert both.usage["judge"].model_dump(exclude_defaults=True) == {
        "calls": 2,
        "prompt_tokens": 200,
        "completion_tokens": 20,
        "cost": 0.75,
        "cached_cost": 0.0,
    }
    cached = [answer(assigned("agent"), 0.5, cached=True), answer(kind_of("other"), 0.25)]
    usage = judged(FakeModel([*cached])).usage["judge"]
    assert (usage.cost, usage.cached_cost, usage.calls, usage.cached_calls) == (0.25, 0.5, 1, 1)
    unknown = [answer(assigned("agent"), 0.5), answer(kind_of("other"), None)]
    assert judged(FakeModel([*unknown])).usage["judge"].cost is None


def test_a_solved_episode_has_no_fault() -> None:
    with pytest.raises(InputError, match="was solved"):
        judged(FakeModel([assigned("agent")]), failed(reward=1.0, outcome="success"))


@pytest.mark.parametrize(
    "text",
    [
        '{"description": "d", "author": "agent"}',
        '```json\n{"description": "d", "author": "agent"}\n```',
        'Let me {think}. {"a": 1} So: {"description": " d ", "author": "Agent"} That is all.',
        '{"author": "user"} no, rather {"author": "agent", "description": "d", "more": [1]}',
    ],
)
def test_json_is_found_in_words(text: str) -> None:
    answer = parse_answer(text, Assignment)
    assert (answer.description, answer.author) == ("d", "agent")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "agent",
        '"agent"',
        '[{"author"',
        '{"author": "agent"}',
        '{"description": "", "author": "agent"}',
        '{"description": "d", "author": null}',
        "{" * 10_000,
        "[" * 10_000,
        '{"a":' * 10_000,
    ],
)
def test_anything_else_is_unusable(text: str) -> None:
    with pytest.raises(Unusable):
        parse_answer(text, Assignment)


def test_kinds_may_be_written_in_words() -> None:
    text = '{"description": "d", "kind": "Called wrong tool"}'
    assert parse_answer(text, KindAnswer).kind == "called_wrong_tool"
