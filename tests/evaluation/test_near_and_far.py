"""An evaluation says the same of a workflow in this process and behind an address."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import Any

import anyio
import pytest

from greenroom import chat_workflow, workflow
from greenroom.api import EvaluationResult, evaluate_async
from greenroom.benchmark import check_config
from greenroom.benchmark.context import prepare_run
from greenroom.benchmark.sessions import AgentSessions
from greenroom.domains.domain import Domain
from greenroom.model_server import scripted_server
from greenroom.store import open_store
from greenroom.workflows import LocalTarget, Workflow
from greenroom.workflows.call.opening import open_target
from greenroom.workflows.serve import create_app, running_app, served
from tests.evaluation.evaluating import evaluated, scores

Message = dict[str, Any]
FIND = {"name": "find_order", "arguments": {"id": "7"}}


@chat_workflow
async def teller(messages: list[Message]) -> AsyncGenerator[Any]:
    """Tells the calls that it makes itself as events."""
    yield {"type": "tool_call", "id": "c", "name": "find_order", "input": {"id": "7"}}
    yield {"type": "tool_result", "id": "c", "output": "found"}
    if "message" in messages[-1]["content"]:
        call = {"id": "c", "function": {"name": "find_order", "arguments": '{"id": "7"}'}}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
    yield "It is there."


@workflow
async def undeclared(messages: list[Message]) -> Message:
    """Takes messages, and does not say whether it chats."""
    return {"role": "assistant", "content": messages[-1]["content"].split()[-1]}


@workflow(flags={"is_chat": False})
async def face_value(question: str) -> Message:
    """Returns a message although it does not chat."""
    return {"role": "assistant", "content": question.split()[-1]}


@workflow(flags={"is_chat": False})
async def counts(messages: list[Message]) -> str:
    """Takes messages, and does not chat."""
    return f"{len(messages)}: {messages[-1]['content']}"


WORKFLOWS = (teller, undeclared, face_value, counts)


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    with running_app(create_app(*WORKFLOWS)) as running:
        yield running


@pytest.fixture(params=["near", "far"])
def place(request: pytest.FixtureRequest, address: str) -> Any:
    """Where a workflow is: in this process, or behind an address."""

    def place(declared: Workflow) -> str | Workflow:
        return f"{address}/{declared.slug}" if request.param == "far" else declared

    return place


def results(place: Any, declared: Workflow, rows: list[Any], *more: str) -> EvaluationResult:
    return evaluated(open_store(), place(declared), rows, *more)


def test_tool_calls_that_are_told_as_events_are_seen(place: Any) -> None:
    rows: list[Any] = [
        {"question": "Where is it?", "expected": [FIND]},
        {"question": "Say it in a message too", "expected": [FIND]},
        {"question": "Where is it?", "expected": []},
    ]
    found = results(place, teller, rows, "tool_calls")
    assert scores(found, "tool_calls") == [1.0, 1.0, 0.0]
    compared = next(iter(found.results())).scores["tool_calls"].compared
    assert compared == [FIND]


def test_calls_of_a_served_benchmark_agent_are_seen(retail: Domain) -> None:
    task = retail.task(1, "test")
    wanted = [{"name": one.name, "arguments": one.kwargs} for one in task.actions]
    rows = [{"message": task.instruction, "expected": wanted}]

    async def run() -> list[float | None]:
        store = open_store()
        store.test_sets.save("rows", rows)
        async with scripted_server(retail) as server:
            options = {"agent_strategy": "tool-calling", "model": "oracle"}
            config = check_config({**options, "api_base": server.api_base})
            sessions = AgentSessions(prepare_run(config))
            async with sessions.running(), served(create_app(sessions.workflow())) as address:
                found = await evaluate_async(address, "rows", ["tool_calls"], store=store)
        return scores(found, "tool_calls")

    assert anyio.run(run) == [1.0]


def test_calls_of_all_turns_of_a_simulated_user_are_seen(place: Any) -> None:
    rows = [{"goal": "find my order", "expected": [FIND]}]
    store = open_store()
    options: dict[str, Any] = {"user_strategy": "scripted", "max_turns": 1}
    found = evaluated(store, place(teller), rows, "tool_calls", **options)
    assert scores(found, "tool_calls") == [1.0]


def test_a_workflow_without_the_flag_is_judged_the_same(place: Any) -> None:
    found = results(place, undeclared, [{"question": "Is it Paris", "expected": "Paris"}])
    assert found.evaluation.is_chat is True
    assert scores(found) == [1.0]


@pytest.mark.anyio
async def test_what_decided_is_the_same_and_told(address: str) -> None:
    target = await open_target(f"{address}/{undeclared.slug}")
    await target.close()
    near = LocalTarget(undeclared).profile
    assert (near.is_chat, near.decided_by) == (target.profile.is_chat, target.profile.decided_by)
    assert near.decided_by == "the schema of the inputs, which has a list of messages"


def test_beside_a_message_the_expected_message_is_compared(place: Any) -> None:
    said = {"role": "assistant", "content": "Paris"}
    rows = [{"chat": [{"role": "user", "content": "Is it Paris"}], "expected": said}]
    found = results(place, face_value, rows, "exact_match", "json_diff")
    assert (scores(found), scores(found, "json_diff")) == ([1.0], [1.0])
    assert next(iter(found.results())).scores["exact_match"].against == said


@pytest.mark.parametrize("column", ["question", "messages"])
def test_a_text_for_an_input_of_messages_is_sent_as_a_message(place: Any, column: str) -> None:
    chat = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    options: dict[str, Any] = {"message": column} if column == "question" else {}
    rows = [{column: "hi", "expected": "1: hi"}]
    assert scores(evaluated(open_store(), place(counts), rows, **options)) == [1.0]
    rows = [{column: chat, "expected": "2: b"}]
    assert scores(evaluated(open_store(), place(counts), rows, **options)) == [1.0]


def test_unknown_roles_keep_a_chat_a_chat() -> None:
    chat = [{"role": "critic", "content": "Be brief."}, {"role": "user", "content": "a"}]
    rows = [{"talk": chat, "expected": "a"}]
    found = evaluated(open_store(), undeclared, rows)
    assert scores(found) == [1.0]
