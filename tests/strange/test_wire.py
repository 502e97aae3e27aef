"""Strange values over HTTP: of providers to a run, and of workflows to the clients of `serve`."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import greenroom
from greenroom import chat_workflow, workflow
from greenroom.domains import DomainPlugin
from greenroom.errors import InputError
from greenroom.store import open_store
from greenroom.workflows import report_usage
from tests.cli.running import Greenroom
from tests.cli.test_hostile_servers import answering
from tests.domains import small
from tests.strange.outputs import check_done, check_every_form, check_piped, strict_json
from tests.strange.values import MARK, examples, numbers, texts, values
from tests.workflows.serving import HELLO, Reply, serving

pytestmark = pytest.mark.slow

LAMPS = DomainPlugin("lamps", small.tools, small.small_pack)


class Brief:
    """A user that leaves after the first answer."""

    async def open(self, instruction: str) -> str:
        return "hello"

    async def reply(self, content: str) -> str:
        return "###STOP###"


def answer(message: dict[str, Any], tokens: Any = 1) -> bytes:
    """An answer of a model."""
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens, "cost": tokens}
    chosen = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": MARK}
    return json.dumps({"model": MARK, "choices": [chosen], "usage": usage}).encode()


def called(name: str, arguments: Any) -> dict[str, Any]:
    """A message with one call."""
    return {
        "content": None,
        "tool_calls": [{"id": name, "function": {"name": name, "arguments": arguments}}],
    }


messages = (
    texts.map(lambda text: {"content": text})
    | st.builds(called, texts, texts)
    | st.builds(called, st.just("light"), values)
    | st.builds(called, st.just("light"), values.map(json.dumps))
)
bodies = (
    st.builds(answer, messages, numbers | texts)
    | texts.map(lambda text: json.dumps({"error": {"message": text, "code": text}}).encode())
    | texts.map(lambda text: text.encode("utf-8", "surrogatepass"))
    | st.sampled_from([b"[" * 10_000, b"[" * 10_000 + b"]" * 10_000, b"\xff\xfe", b"1e400", b"NaN"])
)


def check_provider(body: bytes, model: str) -> None:
    """Whatever a provider answers, the episode ends, is kept and told."""
    with closing(open_store()) as store, answering(b"", body) as address:
        options: dict[str, Any] = {"max_retries": 0, "model_retries": 0, "max_num_steps": 4}
        try:
            result = greenroom.run(
                LAMPS,
                agent="tool-calling",
                user=Brief,
                tasks=[0],
                store=store,
                show_progress=False,
                model=model,
                api_base=f"{address}/v1",
                **options,
            )
        except InputError as error:
            check_piped(str(error))
            return
        (episode,) = store.runs.results(result.run.id)
        assert episode.usage["agent"].prompt_tokens < 2**66
        check_every_form(result.report)


@examples(4)
@given(body=bodies)
def test_whatever_a_provider_answers(body: bytes) -> None:
    check_provider(body, "m")


@pytest.mark.slow
@examples(30)
@given(body=bodies, model=texts)
def test_whatever_many_providers_answer(body: bytes, model: str) -> None:
    check_provider(body, f"m{model}")


def check_reply(reply: Reply) -> None:
    """A body of strict JSON, or a stream of it."""
    kind = reply.headers["content-type"]
    if "json" in kind and "ndjson" not in kind and "jsonl" not in kind:
        strict_json(reply.text)
        return
    lines = [line.removeprefix("data: ") for line in reply.text.split("\n")]
    for line in lines:
        if line and line != "[DONE]" and not line.startswith((":", "event:", "id:")):
            strict_json(line.rstrip("\r"))


def check_served(value: Any, text: str, tokens: Any) -> None:
    """Every face of a server tells of a strange workflow in valid JSON."""

    @workflow(name="gives", description=text)
    def gives(how: str) -> Any:
        report_usage(prompt_tokens=tokens, completion_tokens=1, cost=tokens)
        if how == "raise":
            raise ValueError(text)
        return value

    @workflow(name="yields")
    def yields(how: str) -> Any:
        yield value
        yield text

    @chat_workflow(name="says")
    def says(messages: list[dict[str, Any]]) -> Any:
        report_usage(prompt_tokens=tokens, completion_tokens=1, cost=tokens)
        return {"role": "assistant", "content": text}

    said = {"data": {"inputs": {"messages": HELLO}}}
    with serving(gives, yields, says) as server:
        for path in ("/gives/inspect", "/openapi.json", "/v1/models"):
            check_reply(server.get(path))
        for stream in ("application/json", "text/event-stream", "application/x-ndjson"):
            for name in ("gives", "yields"):
                for how in ("return", "raise", text):
                    body = {"data": {"inputs": {"how": how}}}
                    check_reply(server.post(f"/{name}/invoke", body, Accept=stream))
            reply = server.post("/says/invoke", said, Accept=stream)
            assert reply.status == 200
            assert MARK in reply.text
            check_reply(reply)
        for streamed in (False, True):
            body = {"model": "says", "messages": HELLO, "stream": streamed}
            reply = server.post("/v1/chat/completions", body)
            assert reply.status == 200
            check_reply(reply)


@examples(2)
@given(value=values, text=texts, tokens=numbers)
def test_whatever_a_workflow_says_is_served(value: Any, text: str, tokens: Any) -> None:
    check_served(value, text, tokens)


@pytest.mark.slow
@examples(12)
@given(value=values, text=texts, tokens=numbers)
def test_whatever_many_workflows_say_is_served(value: Any, text: str, tokens: Any) -> None:
    check_served(value, text, tokens)


@examples(3)
@given(schema=values, text=texts)
def test_whatever_a_workflow_says_of_itself(greenroom: Greenroom, schema: Any, text: str) -> None:
    described = {
        "flags": {"is_chat": True},
        "name": text,
        "description": text,
        "schemas": {"inputs": schema, "outputs": schema, "parameters": schema},
    }
    said = {"data": {"outputs": {"role": "assistant", "content": text}}}
    with answering(json.dumps(described).encode(), json.dumps(said).encode()) as address:
        check_done(greenroom("inspect", address))
        check_done(greenroom("inspect", address, "--json"), ("--json",))
        check_done(greenroom("chat", address, "--message", "hello"))
