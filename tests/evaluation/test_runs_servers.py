"""Evaluations over real HTTP: our own server, models, judges, and servers that misbehave."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from greenroom.api import EvaluationResult, evaluate_async
from greenroom.errors import InputError
from greenroom.model_server import ServerSettings, running_server
from greenroom.store import Store, open_store
from tests.domains.small import small_domain
from tests.evaluation.evaluating import QUESTIONS, chatting, completing, evaluated, scores
from tests.models.stub_server import answers
from tests.models.stub_server import running_stub as running_model
from tests.workflows.serving import serving
from tests.workflows.stub_workflow import Reply, envelope, in_turn, running_stub, says, writes

pytestmark = pytest.mark.slow

INSTRUCTIONS = [
    {"task": task.instruction, "expected": "One moment, please."}
    for task in small_domain().pack.tasks("test")
]
CHAT = {"flags": {"is_chat": True}}
COMPLETION = {"flags": {"is_chat": False}}


@pytest.mark.slow
def test_workflows_behind_an_address(store: Store) -> None:
    with serving(chatting, completing) as server:
        chat = evaluated(store, f"{server.address}/chatting", QUESTIONS)
        completion = evaluated(store, f"{server.address}/completing", QUESTIONS)
        either = evaluated(store, f"{server.address}/chatting", QUESTIONS, treat_as="completion")
    assert scores(chat) == scores(completion) == scores(either) == [1.0, 1.0, 0.0]
    assert [one.evaluation.is_chat for one in (chat, completion, either)] == [True, False, False]
    assert chat.evaluation.workflow == f"{server.address}/chatting"
    assert all(result.trace_id for result in chat.results())


def test_a_model_behind_openais_protocol() -> None:
    with running_server(small_domain()) as server:
        found = evaluated(open_store(), f"{server.api_base}#oracle", INSTRUCTIONS, repeats=2)
    assert scores(found) == [1.0] * 6
    agent = found.figures.purses["agent"]
    assert (agent.calls, agent.unpriced) == (6, 6)
    assert agent.tokens > 0


def test_a_rough_server_costs_attempts_and_no_scores() -> None:
    rough = ServerSettings(fault_rate=0.3, faults=("500", "drop", "truncated"), seed=3)
    with running_server(small_domain(), settings=rough) as server:
        found = evaluated(
            open_store(), f"{server.api_base}#oracle", INSTRUCTIONS, repeats=4, max_retries=30
        )
    assert scores(found) == [1.0] * 12
    assert found.figures.errors == 0
    assert sum(result.attempts for result in found.results()) > 12


def against(
    reply: Reply, inspect: dict[str, Any], **options: Any
) -> tuple[EvaluationResult, list[Any]]:
    """An evaluation of a server that answers its calls like this, and the calls."""

    async def run() -> tuple[EvaluationResult, list[Any]]:
        store = open_store()
        store.test_sets.save("rows", QUESTIONS)
        async with running_stub() as stub:
            stub.routes = {"POST /inspect": says(inspect), "POST /invoke": reply}
            found = await evaluate_async(
                stub.address, "rows", ["exact_match"], store=store, **options
            )
        return found, [one.body for one in stub.asked if one.path == "/invoke"]

    return anyio.run(run)


def test_messages_go_into_the_envelope_beside_the_parameters() -> None:
    reply = says(envelope({"role": "assistant", "content": "Paris"}))
    found, bodies = against(reply, CHAT, parameters={"tone": "warm"}, max_concurrency=1)
    assert scores(found) == [1.0, 0.0, 0.0]
    assert bodies[0]["data"] == {
        "inputs": {"messages": [{"role": "user", "content": "Capital of France?"}]},
        "parameters": {"tone": "warm"},
    }
    sessions = {body["session_id"] for body in bodies}
    assert len(sessions) == 3


def test_a_token_that_is_not_accepted_ends_it_at_once() -> None:
    with pytest.raises(InputError, match="needs a token: set GREENROOM_TOKEN"):
        against(says({"detail": "no"}, status=401), CHAT)
    (evaluation,) = open_store().evaluations.all()
    assert evaluation.status == "interrupted"


def test_what_a_server_refuses_is_an_error_for_that_row_alone() -> None:
    good = says(envelope("Rome"))
    reply = in_turn(says({"detail": "too long"}, status=413), good)
    found, bodies = against(reply, COMPLETION, max_concurrency=1)
    assert len(bodies) == 3
    first, second, _ = found.results()
    assert (first.outcome, second.outcome) == ("infrastructure_error", "answered")
    assert "answered 413: too long" in (first.error or "")
    assert scores_of(found) == [1.0, 0.0]


def test_a_server_that_recovers_is_asked_again() -> None:
    reply = in_turn(says({"detail": "oops"}, status=502), says(envelope("Rome")))
    found, bodies = against(reply, COMPLETION, max_concurrency=1)
    assert len(bodies) == 4
    assert [result.attempts for result in found.results()] == [2, 1, 1]


def test_an_answer_with_nan_is_kept() -> None:
    body = json.dumps(envelope({"x": float("nan")}))
    found, _ = against(writes(body, "application/json"), COMPLETION)
    assert [result.outputs for result in found.results()] == [{"x": None}] * 3


def scores_of(found: EvaluationResult) -> list[float | None]:
    return [one.scores["exact_match"].score for one in found.results() if one.has_result]


def test_a_judge_is_named_once_for_all_evaluators_that_ask_one(store: Store) -> None:
    async def run() -> tuple[EvaluationResult, list[dict[str, Any]]]:
        store.test_sets.save("rows", QUESTIONS)
        async with running_model() as model:
            model.replies = [answers('{"reason": "So it is.", "score": 1}')]
            own = f"own=llm_judge:model=other,api_base={model.api_base}"
            found = await evaluate_async(
                chatting,
                "rows",
                ["llm_judge", own],
                store=store,
                judge_model="gpt-4o",
                judge_api_base=model.api_base,
                max_concurrency=1,
            )
            return found, model.asked

    found, asked = anyio.run(run)
    assert [body["model"] for body in asked] == ["gpt-4o", "other"] * 3
    assert scores(found, "own") == scores(found, "llm_judge") == [1.0] * 3
    judge = found.figures.purses["judge"]
    assert (judge.calls, judge.tokens) == (6, 660)
    assert found.evaluation.evaluators[0]["settings"]["model"] == "gpt-4o"
    (first, *_) = found.results()
    assert first.usage["judge"].calls == 2
    assert first.usage["agent"].calls == 1
    assert first.scores["llm_judge"].reason == "So it is."


def test_a_judge_that_is_down_breaks_scores_and_not_results(store: Store) -> None:
    judge = "llm_judge:model=m,api_base=http://127.0.0.1:9/v1"
    found = evaluated(store, chatting, QUESTIONS, judge, "exact_match", model_retries=0)
    figures = found.figures
    assert (figures.errors, figures.with_result) == (0, 3)
    broken, exact = figures.evaluators
    assert (broken.scored, broken.unscored, broken.broken) == (0, 0, 3)
    assert exact.scored == 3
    (gate,) = found.check("llm_judge>=0")
    assert not gate.passed
