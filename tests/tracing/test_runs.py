"""Runs as traces: one tree for each episode, whose sums are those of the report."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.agents import Stage, name_of_strategy
from greenroom.agents.threads import ThreadModel, ThreadStage, play_in_thread
from greenroom.benchmark import check_config, play_run, reopen_run, start_run
from greenroom.domains.domain import Domain
from greenroom.domains.tasks import Action
from greenroom.model_server import RunningServer, ServerSettings, running_server
from greenroom.models import Ledger, ModelClient, ModelRequest, ModelSettings
from greenroom.store import EpisodeRecord, RunRecord, Store, Usage
from greenroom.tracing import names, spans
from greenroom.users import ScriptedUser, name_of_user_strategy
from tests.models.stub_server import answers, running_stub
from tests.tracing.collector import Collector, SeenSpan

PRICES = {
    "oracle": {"input_cost_per_token": 2e-6, "output_cost_per_token": 8e-6},
    "user": {"input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6},
}


@pytest.fixture(scope="module")
def server(retail: Domain) -> Generator[RunningServer]:
    """The built-in tasks, without faults."""
    with running_server(retail) as running:
        yield running


@pytest.fixture
def prices(tmp_path: Path) -> str:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps(PRICES))
    return str(path)


def asking(api_base: str, **changes: Any) -> dict[str, Any]:
    """A configuration in which both the agent and the user ask a model."""
    return {
        "agent_strategy": "tool-calling",
        "model": "oracle",
        "api_base": api_base,
        "user_strategy": "llm",
        "user_model": "user",
        "user_api_base": api_base,
        "end_index": 3,
        "max_concurrency": 3,
    } | changes


def play(store: Store, config: dict[str, Any]) -> tuple[RunRecord, list[EpisodeRecord]]:
    run, prepared = start_run(store, check_config(config))
    anyio.run(lambda: play_run(store, run, prepared))
    return store.runs.find(run.name), list(store.runs.results(run.id))


def episode_span(collector: Collector, record: EpisodeRecord) -> SeenSpan:
    (found,) = (
        one
        for one in collector.named("episode")
        if (one.attributes[names.TASK], one.attributes[names.TRIAL]) == record.key
    )
    return found


def sums(seen: list[SeenSpan], *keys: str) -> tuple[Any, ...]:
    return tuple(sum(one.attributes.get(key, 0) for one in seen) for key in keys)


def test_an_episode_is_one_tree_with_turns_calls_tools_and_the_reward(
    collector: Collector, kept: Store, server: RunningServer
) -> None:
    run, (record,) = play(kept, asking(server.api_base, task_ids=[0], end_index=-1))

    span = episode_span(collector, record)
    assert span.parent == ""
    # The user opens, and answers each time the agent has spoken; the last answer ends it.
    tree = collector.tree(span)
    assert tree[0] == ("user_turn", ["chat user"])
    turns = [one for one in collector.children(span) if one.name == "invoke_agent tool-calling"]
    assert [one.attributes[names.TURN] for one in turns] == list(range(1, record.turns + 1))
    for turn in turns:
        inner = [one.name.split()[0] for one in collector.children(turn)]
        assert inner[0] == "chat"
        assert set(inner) <= {"chat", "execute_tool"}
    tools = [
        one.attributes[names.TOOL]
        for one in sorted(collector.below(span), key=lambda one: one.began)
        if one.name.startswith("execute_tool")
    ]
    assert tools == [s.action.name for s in record.steps if s.action.name != "respond"]
    assert len({one.trace for one in [span, *collector.below(span)]}) == 1
    conversations = {one.attributes[names.CONVERSATION] for one in [span, *collector.below(span)]}
    assert len(conversations) == 1

    (reward,) = collector.events
    assert (reward.name, reward.trace, reward.span) == (
        names.EVALUATION_RESULT,
        span.trace,
        span.id,
    )
    assert reward.attributes[names.EVALUATION_NAME] == "reward"
    assert reward.attributes[names.SCORE] == record.reward == 1.0
    assert reward.attributes[names.SCORE_LABEL] == "pass"
    assert span.attributes[names.REWARD] == 1.0

    job = collector.one("run")
    assert span.links == [(job.trace, job.id)]
    assert job.attributes[names.JOB_ID] == run.id
    assert {one.attributes[names.JOB_NAME] for one in collector.spans} == {run.name}
    assert {one.service for one in collector.spans} == {"greenroom"}
    assert {one.schema for one in collector.spans} == {names.SCHEMA_URL}


def test_tokens_and_cost_on_spans_are_those_of_the_report(
    collector: Collector, kept: Store, server: RunningServer, prices: str
) -> None:
    _, records = play(kept, asking(server.api_base, prices=prices, num_trials=2))
    tokens = (names.INPUT_TOKENS, names.OUTPUT_TOKENS)

    for record in records:
        span = episode_span(collector, record)
        used = Usage.total(record.usage.values())
        assert sums([span], *tokens) == (used.prompt_tokens, used.completion_tokens)
        assert span.attributes[names.COST] == record.cost
        chats = [one for one in collector.below(span) if one.name.startswith("chat")]
        assert sums(chats, *tokens) == (used.prompt_tokens, used.completion_tokens)
        assert sums(chats, names.COST)[0] == pytest.approx(record.cost)
        for purse, one in record.usage.items():
            paid = [chat for chat in chats if chat.attributes[names.PURSE] == purse]
            assert len(paid) == one.calls == span.attributes[names.of_purse(purse, "calls")]
            assert sums(paid, *tokens) == (one.prompt_tokens, one.completion_tokens)
            assert span.attributes[names.of_purse(purse, "cost")] == one.cost
    assert len(records) == 6


def test_answers_from_the_cache_are_apart_from_what_was_billed(
    collector: Collector, kept: Store, server: RunningServer, prices: str
) -> None:
    config = asking(server.api_base, prices=prices, cache=True, end_index=1)
    play(kept, config)
    before = len(collector.spans)
    _, (record,) = play(kept, config)

    later = collector.spans[before:]
    chats = [one for one in later if one.name.startswith("chat")]
    used = Usage.total(record.usage.values())
    assert used.calls == 0
    assert used.cached_calls == len(chats)
    assert all(one.attributes[names.CACHE_HIT] for one in chats)
    assert not any(names.INPUT_TOKENS in one.attributes for one in chats)
    assert sums(chats, names.CACHED_INPUT_TOKENS)[0] == used.cached_prompt_tokens
    assert sums(chats, names.CACHED_COST)[0] == pytest.approx(used.cached_cost)
    (span,) = (one for one in later if one.name == "episode")
    assert span.attributes[names.CACHED_COST] == used.cached_cost
    assert span.attributes[names.INPUT_TOKENS] == 0


def test_an_unknown_price_is_left_out(
    collector: Collector, kept: Store, server: RunningServer
) -> None:
    play(kept, asking(server.api_base, end_index=1))

    assert not any(names.COST in one.attributes for one in collector.spans)
    assert collector.one("episode").attributes[names.INPUT_TOKENS] > 0


@pytest.mark.slow
def test_failed_attempts_are_events_and_their_tokens_add_up(
    collector: Collector, kept: Store, retail: Domain, prices: str
) -> None:
    settings = ServerSettings(fault_rate=0.2, hang=0.01)
    with running_server(retail, settings=settings) as server:
        _, records = play(
            kept, asking(server.api_base, prices=prices, num_trials=2, model_retries=20)
        )

    failed = [one for one in collector.events if one.name == names.FAILED_ATTEMPT]
    chats = {one.id: one for one in collector.spans if one.name.startswith("chat")}
    assert failed
    assert all(one.span in chats for one in failed)
    assert all(names.ERROR in one.attributes for one in failed)
    for record in records:
        below = collector.below(episode_span(collector, record))
        paid = [one for one in below if one.name.startswith("chat")]
        used = Usage.total(record.usage.values())
        assert sums(paid, names.INPUT_TOKENS, names.OUTPUT_TOKENS, names.RETRIES) == (
            used.prompt_tokens,
            used.completion_tokens,
            used.retries,
        )


def test_what_was_said_stays_here_unless_it_is_asked_for(
    collector: Collector, kept: Store, server: RunningServer
) -> None:
    _, (record,) = play(kept, asking(server.api_base, end_index=1))

    assert not any(names.CONTENTS & one.attributes.keys() for one in collector.spans)
    sent = b"".join(collector.bodies)
    assert record.opening.encode() not in sent
    assert record.task.instruction[:40].encode() not in sent


def test_what_was_said_is_sent_without_secrets_if_it_is_asked_for(
    collector: Collector, kept: Store, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    _, (record,) = play(kept, asking(server.api_base, end_index=1))
    secret = record.opening.split()[0] + " " + record.opening.split()[1]
    monkeypatch.setenv("SOME_API_KEY", secret)
    first = len(collector.spans)
    play(kept, asking(server.api_base, end_index=1))

    chat = collector.named("chat oracle")[0]
    asked = json.loads(chat.attributes[names.INPUT_MESSAGES])
    assert [one["role"] for one in asked][:2] == ["system", "user"]
    assert asked[1]["parts"] == [{"type": "text", "content": record.opening}]
    assert json.loads(chat.attributes[names.OUTPUT_MESSAGES])[0]["role"] == "assistant"
    tool = collector.named("execute_tool")[0]
    assert isinstance(json.loads(tool.attributes[names.TOOL_ARGUMENTS]), dict)
    assert tool.attributes[names.TOOL_RESULT]
    said = " ".join(str(one.attributes) for one in collector.spans[first:])
    assert secret not in said
    assert "[SOME_API_KEY]" in said


class InThread:
    """An agent in a thread, which steps from threads of its own."""

    needs_model = False

    async def play(self, stage: Stage) -> None:
        await play_in_thread(stage, None, self._converse)

    def _converse(self, stage: ThreadStage, model: ThreadModel) -> None:
        def look() -> None:
            stage.step(Action("list_all_product_types", {}))

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        stage.step(Action("respond", {"content": "One moment."}))
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        stage.step(Action("transfer_to_human_agents", {"summary": "x"}))


class InTasks:
    """An agent whose steps are made by tasks that began before the first turn ended."""

    async def play(self, stage: Stage) -> None:
        actions = [
            Action("list_all_product_types", {}),
            Action("respond", {"content": "One moment."}),
            Action("list_all_product_types", {}),
            Action("transfer_to_human_agents", {"summary": "x"}),
        ]
        turn = [anyio.Event() for _ in range(len(actions) + 1)]
        turn[0].set()

        async def act(number: int) -> None:
            await turn[number].wait()
            await stage.step(actions[number])
            turn[number + 1].set()

        async with anyio.create_task_group() as group:
            for number in range(len(actions)):
                group.start_soon(act, number)


class Patient(ScriptedUser):
    """Says something before it stops."""

    def __init__(self) -> None:
        super().__init__(["Go on."])


@pytest.mark.parametrize("agent", [InThread, InTasks])
def test_what_an_agent_does_in_threads_and_tasks_is_part_of_its_turn(
    collector: Collector, kept: Store, agent: type
) -> None:
    user = name_of_user_strategy(Patient)
    agents = name_of_strategy(agent)
    config = {"agent_strategy": agents, "end_index": 1, "user_strategy": user}
    _, (record,) = play(kept, config)

    span = episode_span(collector, record)
    turns = [one for one in collector.children(span) if one.name.startswith("invoke_agent")]
    assert [collector.tree(one) for one in turns] == [
        ["execute_tool list_all_product_types"],
        ["execute_tool list_all_product_types", "execute_tool transfer_to_human_agents"],
    ]


def test_many_episodes_at_once_do_not_cross(collector: Collector, kept: Store) -> None:
    config = {"agent_strategy": "oracle", "end_index": 30, "num_trials": 3, "max_concurrency": 90}
    _, records = play(kept, config)

    assert len(collector.named("episode")) == len(records)
    for record in records:
        below = collector.below(episode_span(collector, record))
        tools = sorted(one.attributes[names.TOOL] for one in below if names.TOOL in one.attributes)
        assert tools == sorted(s.action.name for s in record.steps if s.action.name != "respond")
    assert len(collector.spans) == len({one.id for one in collector.spans})


def test_a_run_that_goes_on_is_linked_to_where_it_began(collector: Collector, kept: Store) -> None:
    config = check_config({"agent_strategy": "oracle", "end_index": 3, "max_concurrency": 1})
    run, prepared = start_run(kept, config)

    async def stop_early() -> None:
        with anyio.CancelScope() as scope:
            await play_run(kept, run, prepared, on_result=lambda _: scope.cancel())

    anyio.run(stop_early)
    reopened, prepared = reopen_run(kept, run.name)
    anyio.run(lambda: play_run(kept, reopened, prepared))

    first, second = sorted(collector.named("run"), key=lambda one: one.began)
    assert second.links == [(first.trace, first.id)]
    assert [first.attributes[names.RESUMED], second.attributes[names.RESUMED]] == [False, True]
    assert first.attributes[names.ERROR] == "cancelled"
    linked = [one.links[0] for one in collector.named("episode")]
    assert set(linked) == {(first.trace, first.id), (second.trace, second.id)}


def test_a_run_goes_on_with_the_trace_of_the_process_that_started_it(
    collector: Collector, kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEPARENT", f"00-{'a' * 32}-{'b' * 16}-01")
    play(kept, {"agent_strategy": "oracle", "end_index": 1})

    job = collector.one("run")
    assert (job.trace, job.parent) == ("a" * 32, "b" * 16)
    assert collector.one("episode").links == [(job.trace, job.id)]


def test_the_questions_to_a_server_of_ones_own_carry_the_trace(collector: Collector) -> None:
    async def ask() -> str:
        async with running_stub() as stub:
            stub.replies = [answers("hello")]
            client = ModelClient(ModelSettings(model="m", api_base=stub.api_base))
            model = client.for_episode("agent", Ledger())
            await model.complete(ModelRequest(messages=[{"role": "user", "content": "hi"}]))
            await client.close()
            return stub.headers[0]["traceparent"]

    spans.begin()
    header = anyio.run(ask)
    spans.end()

    chat = collector.one("chat")
    assert header.split("-")[1:3] == [chat.trace, chat.id]
    assert chat.kind == 3  # a client


def test_a_crash_is_an_error_of_the_episode_without_its_text(
    collector: Collector, kept: Store
) -> None:
    async def crashes(stage: Stage) -> None:
        raise ValueError("said by somebody")

    play(kept, {"agent_strategy": name_of_strategy(crashes), "end_index": 1})

    span = collector.one("episode")
    assert span.attributes[names.OUTCOME] == "crashed"
    assert (span.attributes[names.ERROR], span.status) == ("crashed", 2)
    assert b"said by somebody" not in b"".join(collector.bodies)


def test_odd_texts_and_numbers_do_not_lose_a_batch(collector: Collector) -> None:
    spans.begin()
    with spans.opened("odd \ud800", {names.TOOL: "\ud83d", names.INPUT_TOKENS: 2**70}):
        pass
    spans.end()

    (span,) = collector.spans
    assert span.name == "odd ?"
    assert span.attributes == {names.TOOL: "?", names.INPUT_TOKENS: 2**63 - 1}
