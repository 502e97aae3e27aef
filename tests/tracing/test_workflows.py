"""Workflows as traces: one trace crosses the harness and a server in another process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom import chat_workflow, workflow
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.benchmark.context import prepare_run
from greenroom.benchmark.sessions import AgentSessions
from greenroom.domains.domain import Domain
from greenroom.evaluation import check_evaluation_config, run_evaluation, start_evaluation
from greenroom.messages import last_assistant_message
from greenroom.model_server import scripted_server
from greenroom.store import ResultRecord, Store
from greenroom.tracing import names, spans
from greenroom.workflows import Call, LocalTarget, open_target
from greenroom.workflows.serve import create_app, running_app
from tests.tracing.collector import Collector
from tests.workflows.serving import HELLO, Server

SERVED = '''
from greenroom import chat_workflow
from greenroom.workflows import report_usage


@chat_workflow
async def passes_on(messages, tools=None):
    """Passes the customer on at once."""
    report_usage(prompt_tokens=7, completion_tokens=2, cost=0.25)
    function = {"name": "transfer_to_human_agents", "arguments": '{"summary": "s"}'}
    call = {"id": "call_1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}
'''

ROWS = [{"city": "Paris", "expected": "PARIS"}, {"city": "Rome", "expected": "Oslo"}]


@workflow
def shout(city: str) -> str:
    """Shouts."""
    return city.upper()


@chat_workflow
async def whispers(messages: list[Any]) -> Any:
    """Speaks in pieces."""
    for piece in ("hel", "lo"):
        yield piece


@contextmanager
def other_process(folder: Path, **variables: str) -> Generator[str]:
    """A workflow that is served by another process: its address."""
    app = folder / "app.py"
    app.write_text(SERVED)
    command = [Path(sys.executable).with_name("greenroom"), "serve", app, "--port", "0", "--json"]
    environment = os.environ | variables
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["address"]
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0


def evaluated(store: Store, target: str, folder: Path, **options: Any) -> list[ResultRecord]:
    file = folder / "rows.json"
    file.write_text(json.dumps(ROWS))
    fields = {"workflow": target, "test_set": str(file), "evaluators": ["exact_match"], **options}

    async def run() -> str:
        local = LocalTarget(shout) if target == "shout" else None
        config = check_evaluation_config(fields)
        evaluation, context = await start_evaluation(store, config, target=local)
        await run_evaluation(store, evaluation, context)
        return evaluation.id

    return list(store.evaluations.results(anyio.run(run)))


@pytest.mark.slow
def test_one_trace_crosses_the_harness_and_an_agent_in_another_process(
    collector: Collector, kept: Store, tmp_path: Path
) -> None:
    with other_process(tmp_path, OTEL_SERVICE_NAME="the-agent") as address:
        options = {"workflow": address}
        fields = {"agent_strategy": "workflow", "agent_options": options, "end_index": 1}
        run, prepared = start_run(kept, check_config(fields))
        anyio.run(lambda: play_run(kept, run, prepared))
    (record,) = kept.runs.results(run.id)

    episode = collector.one("episode")
    turn = collector.one("invoke_agent")
    assert collector.tree(turn) == [
        ("chat", [("invoke_workflow passes_on", ["invoke_workflow passes_on"])]),
        "execute_tool transfer_to_human_agents",
    ]
    client, server = sorted(collector.named("invoke_workflow"), key=lambda one: one.began)
    assert (client.service, client.kind) == ("greenroom", 3)
    assert (server.service, server.kind) == ("the-agent", 2)
    assert server.parent == client.id
    assert client.trace == server.trace == episode.trace
    assert client.attributes[names.SERVER] == "127.0.0.1"
    # Only what the harness pays for has a purse, so nothing is counted twice.
    paid = [one for one in collector.below(episode) if names.PURSE in one.attributes]
    used = record.usage["agent"]
    assert [one.attributes[names.INPUT_TOKENS] for one in paid] == [7] == [used.prompt_tokens]
    assert [one.attributes[names.COST] for one in paid] == [0.25] == [used.cost]
    assert episode.attributes[names.COST] == 0.25


def test_a_server_goes_on_with_the_trace_of_its_caller_and_tells_its_span(
    collector: Collector,
) -> None:
    with running_app(create_app(shout)) as address:
        reply = Server(address).post(
            "/invoke",
            {"data": {"inputs": {"city": "Rome"}}},
            traceparent=f"00-{'a' * 32}-{'b' * 16}-01",
        )

    span = collector.one("invoke_workflow")
    assert (span.trace, span.parent, span.kind) == ("a" * 32, "b" * 16, 2)
    assert (reply.json["trace_id"], reply.json["span_id"]) == (span.trace, span.id)
    assert reply.headers["traceparent"] == f"00-{span.trace}-{span.id}-01"


CALL_TOOL = {"name": "whispers", "arguments": {"text": "hi"}}
ROUTES: list[tuple[str, dict[str, Any]]] = [
    ("/v1/responses", {"model": "whispers", "input": "hi"}),
    ("/v1/responses", {"model": "whispers", "input": "hi", "stream": True}),
    ("/v1/chat/completions", {"model": "whispers", "messages": HELLO}),
    ("/v1/chat/completions", {"model": "whispers", "messages": HELLO, "stream": True}),
    ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL_TOOL}),
]


@pytest.mark.parametrize(("path", "body"), ROUTES)
def test_every_route_goes_on_with_the_trace_of_its_caller(
    path: str, body: dict[str, Any], collector: Collector
) -> None:
    accept = "application/json, text/event-stream"
    with running_app(create_app(whispers)) as address:
        header = f"00-{'a' * 32}-{'b' * 16}-01"
        reply = Server(address).post(
            path, body, traceparent=header, accept=accept, content_type="application/json"
        )
        assert reply.status == 200, reply.text

    span = collector.one("invoke_workflow")
    assert (span.trace, span.parent, span.kind) == ("a" * 32, "b" * 16, 2)


@pytest.mark.parametrize("header", ["", "00-xx-yy-01", f"00-{'0' * 32}-{'b' * 16}-01", "\xff"])
def test_without_a_trace_to_go_on_with_a_server_begins_the_one_it_tells(
    collector: Collector, header: str
) -> None:
    with running_app(create_app(shout)) as address:
        body = {"data": {"inputs": {"city": "Rome"}}}
        reply = Server(address).post("/invoke", body, traceparent=header)

    span = collector.one("invoke_workflow")
    assert (reply.json["trace_id"], reply.json["span_id"]) == (span.trace, span.id)
    assert span.parent == ""


def test_a_caller_that_is_not_sampled_leaves_no_span(collector: Collector) -> None:
    with running_app(create_app(shout)) as address:
        body = {"data": {"inputs": {"city": "Rome"}}}
        reply = Server(address).post("/invoke", body, traceparent=f"00-{'a' * 32}-{'b' * 16}-00")
        assert reply.status == 200

    assert collector.spans == []


def test_a_stream_is_one_span_and_what_is_done_with_its_pieces_is_none_of_it(
    collector: Collector,
) -> None:
    spans.begin()
    seen: list[str | None] = []

    async def talk(address: str | None) -> None:
        target = LocalTarget(whispers) if address is None else await open_target(address)
        with spans.opened("outer", {}) as outer:
            async for _ in target.stream(Call(inputs={"messages": HELLO})):
                seen.append(spans.traceparent())
            assert set(seen) == {outer.traceparent}
        await target.close()

    anyio.run(talk, None)
    seen.clear()
    with running_app(create_app(whispers)) as address:
        anyio.run(talk, address)
    spans.end()

    near, far = sorted(collector.named("outer"), key=lambda one: one.began)
    assert collector.tree(near) == ["invoke_workflow whispers"]
    assert collector.tree(far) == [("invoke_workflow whispers", ["invoke_workflow whispers"])]
    calls = collector.named("invoke_workflow")
    assert not any(names.ERROR in one.attributes for one in calls)


def test_a_call_that_fails_is_an_error_on_both_sides(collector: Collector) -> None:
    @workflow
    def breaks(city: str) -> str:
        """Breaks."""
        raise ValueError("a secret matter")

    async def call(address: str) -> None:
        target = await open_target(address)
        with pytest.raises(Exception, match="a secret matter"):
            await target.call(Call(inputs={"city": "Rome"}))
        await target.close()

    spans.begin()
    with running_app(create_app(breaks)) as address:
        anyio.run(call, address)
    spans.end()

    assert [one.attributes[names.ERROR] for one in collector.spans] == ["CallError"] * 2
    assert {one.status for one in collector.spans} == {2}
    assert b"a secret matter" not in b"".join(collector.bodies)


@pytest.mark.parametrize("where", ["near", "far"])
def test_a_row_is_a_tree_with_its_scores_as_events(
    collector: Collector, kept: Store, tmp_path: Path, where: str
) -> None:
    if where == "near":
        results = evaluated(kept, "shout", tmp_path)
    else:
        with running_app(create_app(shout)) as address:
            results = evaluated(kept, address, tmp_path)

    rows = {one.attributes[names.ROW]: one for one in collector.named("row")}
    inner = [] if where == "near" else ["invoke_workflow shout"]
    call = ("invoke_workflow shout", inner) if inner else "invoke_workflow shout"
    job = collector.one("evaluation")
    for result in results:
        row = rows[result.row]
        assert collector.tree(row) == [
            ("invoke_agent shout", [call]),
            "evaluate exact_match",
        ]
        assert row.links == [(job.trace, job.id)]
        (event,) = (one for one in collector.events if one.span == row.id)
        assert event.name == names.EVALUATION_RESULT
        assert event.attributes[names.EVALUATION_NAME] == "exact_match"
        assert event.attributes[names.SCORE] == result.scores["exact_match"].score
        assert names.EXPLANATION not in event.attributes
        if where == "far":
            assert result.trace_id == row.trace
    labels = [one.attributes[names.SCORE_LABEL] for one in collector.events]
    assert sorted(labels) == ["fail", "pass"]


@pytest.mark.parametrize("agent", ["tool-calling", "react"])
def test_what_a_served_agent_does_for_an_answer_is_part_of_the_call(
    collector: Collector, retail: Domain, agent: str
) -> None:
    async def talk() -> None:
        async with scripted_server(retail) as server:
            fields = {"agent_strategy": agent, "model": "oracle", "api_base": server.api_base}
            sessions = AgentSessions(prepare_run(check_config(fields)))
            async with sessions.running():
                target = LocalTarget(sessions.workflow())
                said: list[Any] = []
                for words in (retail.task(0).instruction, "yes", "yes"):
                    said.append({"role": "user", "content": words})
                    call = Call(inputs={"messages": list(said)}, session_id="a")
                    answer = await target.call(call)
                    said.append(last_assistant_message(answer.outputs))

    spans.begin()
    anyio.run(talk)
    spans.end()

    calls = sorted(collector.named("invoke_workflow"), key=lambda one: one.began)
    assert len({one.trace for one in calls}) == len(calls) == 3
    below = [[one.name.split()[0] for one in collector.children(call)] for call in calls]
    assert below[0][:2] == ["chat", "execute_tool"]
    assert "chat" in below[1]
    assert sum(map(len, below)) == len(collector.spans) - len(calls)


def test_handlers_in_threads_know_the_span_they_work_in(collector: Collector) -> None:
    seen: list[str | None] = []

    @workflow
    def looks(city: str) -> str:
        """Looks around."""
        seen.append(spans.traceparent())
        seen.append(spans.environment()["TRACEPARENT"])
        return city

    spans.begin()
    anyio.run(LocalTarget(looks).call, Call(inputs={"city": "Rome"}))
    spans.end()

    span = collector.one("invoke_workflow")
    assert [one and one.split("-")[1:3] for one in seen] == [[span.trace, span.id]] * 2
