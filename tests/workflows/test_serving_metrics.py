"""What a server counts, and what it writes of each request."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from greenroom import chat_workflow
from greenroom.workflows import CallError, report_usage
from greenroom.workflows.serve.metrics import MAX_SESSIONS_COUNTED, Metrics
from greenroom.workflows.serve.observing import ACCESS_LOG
from tests.workflows.serving import HELLO, Server, serving

MODELS = "/v1/models/{name}"


@chat_workflow(name='The "best" bot')
def best(messages: Any) -> Any:
    said = messages[-1]["content"]
    if said == "fail":
        raise ValueError("no")
    if said == "refuse":
        raise CallError("not you", status=429)
    report_usage(prompt_tokens=5, completion_tokens=2, cost=0.25)
    return {"role": "assistant", "content": "yes"}


def samples(server: Server, **headers: str) -> dict[tuple[str, ...], float]:
    """The samples of a server by name and labels, as Prometheus's own parser reads them."""
    reply = server.get("/metrics", **headers)
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (one.name, *one.labels.values()): one.value
        for family in text_string_to_metric_families(reply.text)
        for one in family.samples
    }


def say(server: Server, text: str, path: str = "/invoke", **more: Any) -> int:
    return server.post(path, {"messages": [{"role": "user", "content": text}], **more}).status


def test_requests_calls_sessions_and_tokens_are_counted() -> None:
    with serving(best) as server:
        assert say(server, "hello", session_id="s-1") == 200
        assert say(server, "hello", session_id="s-1", stream=True) == 200
        assert say(server, "fail", session_id="s-2") == 500
        assert say(server, "refuse", session_id="s-2") == 429
        assert server.post("/invoke", {"messages": 5}).status == 422
        assert server.post("/v1/responses", {"input": "hello"}).status == 200
        found = samples(server)
    slug = best.slug
    assert found["greenroom_requests_total", "POST", "/invoke", "200"] == 2
    assert found["greenroom_requests_total", "POST", "/invoke", "422"] == 1
    assert found["greenroom_calls_total", slug, "ok"] == 3
    assert found["greenroom_calls_total", slug, "failed"] == 1
    assert found["greenroom_calls_total", slug, "refused"] == 1
    assert found["greenroom_call_seconds_count", slug] == 5
    assert found["greenroom_call_seconds_bucket", slug, "+Inf"] == 5
    assert found["greenroom_tokens_total", slug, "prompt"] == 15
    assert found["greenroom_tokens_total", slug, "completion"] == 6
    assert found["greenroom_cost_dollars_total", slug] == 0.75
    assert found["greenroom_sessions",] == 3
    assert found["greenroom_stored_responses",] == 1
    assert found["greenroom_calls_in_flight",] == 0


@pytest.mark.slow
def test_strangers_cannot_make_series() -> None:
    with serving(best) as server:
        for number in range(20):
            server.get(f"/made/up/{number}")
            server.get(f"/v1/models/{number}")
            server.request("PROPFIND", f"/invoke?{number}", None, {})
        found = samples(server)
    counted = {key[1:] for key in found if key[0] == "greenroom_requests_total"}
    assert counted == {("GET", "other", "404"), ("GET", MODELS, "404"), ("other", "/invoke", "405")}


def test_metrics_need_the_token() -> None:
    with serving(best, token="very-secret") as server:
        assert server.get("/metrics").status == 401
        found = samples(server, authorization="Bearer very-secret")
    assert found["greenroom_requests_total", "GET", "other", "401"] == 1


def test_sessions_are_counted_within_limits() -> None:
    now = 0.0
    metrics = Metrics(clock=lambda: now)
    for number in range(MAX_SESSIONS_COUNTED + 5):
        metrics.session(str(number))
    assert "greenroom_sessions 10000\n" in metrics.text(in_flight=0, stored_responses=0)
    now = 3601.0
    metrics.session("new")
    assert "greenroom_sessions 1\n" in metrics.text(in_flight=0, stored_responses=0)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.name == ACCESS_LOG]


def test_the_access_log_has_a_line_for_each_request(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, ACCESS_LOG)
    with serving(best, access_log=True, token="very-secret") as server:
        sent = server.post("/invoke", {"messages": HELLO}, authorization="Bearer very-secret")
        server.get("/v1/models?api_key=sk-secret")
        server.get("/x%0AGET%20/forged")
        server.get("/" + "y" * 500)
    first, second, third, fourth = (line.split() for line in lines(caplog))
    assert first[:3] == ["POST", "/invoke", "200"]
    assert first[4:] == ["ms", str(len(sent.body)), "bytes"]
    assert second[:3] == ["GET", "/v1/models", "401"]
    assert third[:2] == ["GET", "/x%0AGET%20/forged"]
    assert fourth[1] == "/" + "y" * 199 + "..."
    whole = "\n".join(lines(caplog))
    assert "secret" not in whole
    assert "hello" not in whole


def test_without_the_access_log_nothing_is_written(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, ACCESS_LOG)
    with serving(best) as server:
        say(server, "hello")
    assert lines(caplog) == []
