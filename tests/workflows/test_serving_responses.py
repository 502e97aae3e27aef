"""OpenAI's Responses API, talked to by OpenAI's own client."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest
from openai import BadRequestError, InternalServerError, NotFoundError, OpenAI
from pydantic import BaseModel

from greenroom import chat_workflow, workflow
from greenroom.workflows import report_usage
from tests.workflows.serving import Server, serving

STRICT: Any = {
    "type": "function",
    "name": "look",
    "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    "strict": True,
}
TOOL: Any = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}


@chat_workflow
def echo(
    messages: list[dict[str, Any]], tools: Any = None, mood: str = "fine", session_id: str = ""
) -> Any:
    report_usage(prompt_tokens=5, completion_tokens=2)
    said = " ".join(f"{one['role']}:{one['content']}" for one in messages)
    if tools and messages[-1]["role"] == "user":
        name = tools[0]["function"]["name"]
        call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": '{"a":1}'}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"role": "assistant", "content": f"{mood} {session_id} [{said}]"}


@chat_workflow(name="Slow talker")
def talker(messages: list[dict[str, Any]]) -> Iterator[Any]:
    yield "One. "
    yield "Two."
    yield {"type": "tool_call", "id": "1", "name": "look", "input": {}}
    yield {"role": "assistant", "content": "Three."}
    report_usage(prompt_tokens=5, completion_tokens=2)


@chat_workflow
def failing(messages: Any) -> Iterator[str]:
    if messages[-1]["content"] == "late":
        yield "Well"
    raise ValueError("no such order")


@chat_workflow(parameters={"temperature": 1.0, "response_format": None, "max_tokens": 1})
def tunable(messages: Any, parameters: dict[str, Any]) -> Any:
    if parameters["response_format"]:
        return {"role": "assistant", "content": '{"name": "Paris"}'}
    return {"role": "assistant", "content": repr(parameters)}


@workflow
def shout(text: str) -> str:
    return text.upper()


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    with serving(shout, echo, talker, failing, tunable) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Generator[OpenAI]:
    with OpenAI(base_url=f"{server.address}/v1", api_key="any", max_retries=0) as client:
        yield client


def test_a_text_is_answered(client: OpenAI) -> None:
    answer = client.responses.create(
        model="echo",
        input="hello",
        instructions="Be kind.",
        extra_body={"inputs": {"mood": "gay"}, "session_id": "s-1"},
    )
    assert answer.output_text == "gay s-1 [system:Be kind. user:hello]"
    assert (answer.status, answer.model, answer.object) == ("completed", "echo", "response")
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.total_tokens) == (5, 7)


def test_a_response_is_continued_in_its_session(client: OpenAI) -> None:
    first = client.responses.create(model="echo", input="one", instructions="Be kind.")
    session = first.output_text.split()[1]
    # Instructions are those of one response.
    second = client.responses.create(model="echo", input="two", previous_response_id=first.id)
    assert second.output_text == (
        f"fine {session} [user:one assistant:{first.output_text} user:two]"
    )
    assert second.previous_response_id == first.id
    # A response may be continued several times, and in a stream.
    with client.responses.stream(model="echo", input="2", previous_response_id=first.id) as stream:
        other = stream.get_final_response()
    assert other.output_text.endswith("user:2]")
    third = client.responses.create(model="echo", input="three", previous_response_id=other.id)
    assert third.output_text.startswith(f"fine {session} [user:one")
    assert third.output_text.endswith("user:three]")


def test_a_response_that_is_not_stored_cannot_be_continued(client: OpenAI) -> None:
    first = client.responses.create(model="echo", input="one", store=False)
    assert first.model_extra is not None
    for model, identity in (("echo", first.id), ("echo", "resp_unknown")):
        with pytest.raises(BadRequestError) as refused:
            client.responses.create(model=model, input="two", previous_response_id=identity)
        assert refused.value.code == "previous_response_not_found"
        assert refused.value.param == "previous_response_id"


def test_a_response_of_another_workflow_cannot_be_continued(client: OpenAI) -> None:
    first = client.responses.create(model="echo", input="one")
    with pytest.raises(BadRequestError, match="not found"):
        client.responses.create(model="tunable", input="two", previous_response_id=first.id)


def test_a_stored_response_is_read_again_and_deleted(client: OpenAI) -> None:
    first = client.responses.create(model="echo", input="one")
    assert client.responses.retrieve(first.id) == first
    with client.responses.stream(model="echo", input="look", tools=[STRICT]) as stream:
        streamed = stream.get_final_response()
    again = client.responses.retrieve(streamed.id)
    assert (again.id, again.status, again.usage) == (streamed.id, "completed", streamed.usage)
    made: list[Any] = [again.output[0], streamed.output[0]]
    assert made[0].call_id == made[1].call_id == "c1"
    with pytest.raises(BadRequestError, match="not streamed again"):
        list(client.responses.retrieve(first.id, stream=True))
    client.responses.delete(first.id)
    unkept = client.responses.create(model="echo", input="one", store=False)
    for identity in (first.id, unkept.id, "resp_unknown"):
        for ask in (client.responses.retrieve, client.responses.delete):
            with pytest.raises(NotFoundError, match=f"Response with id '{identity}' not found"):
                ask(identity)
    with pytest.raises(BadRequestError, match="not found"):
        client.responses.create(model="echo", input="two", previous_response_id=first.id)


def test_parts_of_a_response_that_are_not_offered_are_told_in_openais_form(client: OpenAI) -> None:
    first = client.responses.create(model="echo", input="one")
    for ask in (client.responses.input_items.list, client.responses.cancel):
        with pytest.raises(NotFoundError, match="is not offered: read the response") as refused:
            ask(first.id)
        assert refused.value.code == "not_offered"


def test_a_workflow_has_its_own_responses_alone(server: Server, client: OpenAI) -> None:
    first = client.responses.create(model="echo", input="one")
    assert server.get(f"/echo/v1/responses/{first.id}").json["id"] == first.id
    assert server.get(f"/tunable/v1/responses/{first.id}").status == 404


def test_settings_are_told_by_the_names_of_this_api(client: OpenAI) -> None:
    raw = client.responses.with_raw_response.create(
        model="echo",
        input="x",
        max_output_tokens=5,
        reasoning={"effort": "low"},
        text={"verbosity": "low"},
    )
    ignored = raw.headers["x-greenroom-ignored"]
    assert ignored == "max_output_tokens, reasoning.effort, text.verbosity"
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("max_output_tokens", {"max_output_tokens": "many"}),
        ("reasoning.effort", {"reasoning": {"effort": 5}}),
        ("text.format", {"text": {"format": {"type": "json_object"}}}),
        ("include", {"include": ["message.output_text.logprobs"]}),
    ]
    for param, settings in wrong:
        with pytest.raises(BadRequestError) as refused:
            client.responses.create(model="echo", input="x", **settings)
        assert refused.value.param == param


def test_tools_are_called_by_the_client(client: OpenAI) -> None:
    first = client.responses.create(model="echo", input="look", tools=[TOOL])
    (call,) = first.output
    assert call.type == "function_call"
    assert (call.call_id, call.name, call.arguments) == ("c1", "look", '{"a":1}')
    result: Any = {"type": "function_call_output", "call_id": "c1", "output": "found"}
    # Either by the id of the response, or with all items.
    second = client.responses.create(
        model="echo", input=[result], tools=[TOOL], previous_response_id=first.id
    )
    assert second.output_text.endswith("[user:look assistant:None tool:found]")
    items: Any = [{"role": "user", "content": "look"}, *first.output, result]
    third = client.responses.create(model="echo", input=items, tools=[TOOL], store=False)
    assert third.output_text.endswith("[user:look assistant:None tool:found]")


def test_items_of_stored_responses_may_be_referred_to(client: OpenAI) -> None:
    first = client.responses.create(model="echo", input="one")
    refers: Any = {"type": "item_reference", "id": first.output[0].id}
    items: Any = [{"role": "user", "content": "one"}, refers, {"role": "user", "content": "two"}]
    second = client.responses.create(model="echo", input=items)
    assert second.output_text.endswith(f"[user:one assistant:{first.output_text} user:two]")
    with pytest.raises(BadRequestError, match="Item with id 'msg_0' not found"):
        client.responses.create(model="echo", input=[{"type": "item_reference", "id": "msg_0"}])


def test_a_streamed_response(client: OpenAI) -> None:
    events = list(client.responses.create(model="Slow talker", input="hello", stream=True))
    deltas = [one.delta for one in events if one.type == "response.output_text.delta"]
    assert deltas == ["One. ", "Two.", "\n\nThree."]
    assert [one.sequence_number for one in events] == list(range(len(events)))
    assert events[0].type == "response.created"
    last = events[-1]
    assert last.type == "response.completed"
    assert last.response.output_text == "One. Two.\n\nThree."
    assert last.response.usage is not None
    assert last.response.usage.total_tokens == 7
    whole = client.responses.create(model="Slow-talker", input="hello")
    assert whole.output_text == "One. Two.\n\nThree."


def test_streamed_tool_calls(client: OpenAI) -> None:
    with client.responses.stream(model="echo", input="look", tools=[TOOL]) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert "response.function_call_arguments.done" in kinds
    assert [item.type for item in final.output] == ["function_call"]


def test_the_settings_of_a_response_reach_the_workflow(client: OpenAI) -> None:
    respond = client.responses.with_raw_response.create
    raw = respond(model="tunable", input="x", temperature=0.2, max_output_tokens=40, top_p=0.5)
    found = eval(raw.parse().output_text)
    assert found == {"temperature": 0.2, "response_format": None, "max_tokens": 40}
    assert raw.headers["x-greenroom-ignored"] == "top_p"


class Place(BaseModel):
    name: str


def test_a_structured_answer_is_parsed_by_the_client(client: OpenAI) -> None:
    answer = client.responses.parse(model="tunable", input="capital?", text_format=Place)
    assert answer.output_parsed == Place(name="Paris")
    with pytest.raises(BadRequestError, match=r"no parameter for 'text\.format'\. It would be"):
        client.responses.parse(model="echo", input="capital?", text_format=Place)


def test_errors_are_those_that_the_client_knows(client: OpenAI) -> None:
    with pytest.raises(NotFoundError, match="There is no model 'other'"):
        client.responses.create(model="other", input="x")
    for stream in (False, True):
        with pytest.raises(InternalServerError, match="no such order"):
            client.responses.create(model="failing", input="x", stream=stream)
    hosted: Any = {"type": "web_search"}
    with pytest.raises(BadRequestError, match="no hosted tools"):
        client.responses.create(model="echo", input="x", tools=[hosted])


def test_an_error_in_the_middle_of_a_stream_is_told_in_it(client: OpenAI) -> None:
    events = list(client.responses.create(model="failing", input="late", stream=True))
    assert [one.type for one in events][-2:] == ["error", "response.failed"]
    failed = events[-1]
    assert failed.type == "response.failed"
    assert failed.response.error is not None
    assert failed.response.error.message == "no such order"


BODIES: list[tuple[Any, int]] = [
    (b"", 400),
    (b"[]", 400),
    (b"{", 400),
    (b'{"model": "echo", "input": ' + b"[" * 500 + b"]" * 500 + b"}", 400),
    ({"model": "echo"}, 400),
    ({"model": "echo", "input": None}, 400),
    ({"model": "echo", "input": []}, 400),
    ({"model": "echo", "input": [None]}, 400),
    ({"model": ["echo"], "input": "x"}, 400),
    ({"model": "echo", "input": "x", "session_id": "a b"}, 400),
    ({"model": "echo", "input": "x", "previous_response_id": 5}, 400),
    ({"model": "echo", "input": "x", "inputs": []}, 400),
    ({"model": "echo", "input": "x", "inputs": {"mood": []}}, 400),
    ({"model": "echo", "input": "x", "n": 10**12}, 400),
    ({"model": "echo", "input": "x", "temperature": {}}, 400),
    ({"model": "echo", "input": "x", "max_output_tokens": "many"}, 400),
    ({"model": "echo", "input": "x", "include": [{}], "metadata": {"a": "b"}}, 200),
    ({"model": "echo", "input": "x", "reasoning": {"effort": "low"}, "unknown": {}}, 200),
]


@pytest.mark.parametrize(("body", "status"), BODIES)
def test_bodies_of_strangers_are_answered_in_openais_shape(
    server: Server, body: Any, status: int
) -> None:
    reply = server.post("/v1/responses", body)
    assert reply.status == status, reply.text
    if status != 200:
        assert reply.json["error"]["type"] == "invalid_request_error"
        assert reply.json["error"]["message"]


def test_a_server_without_chat_workflows_has_no_responses() -> None:
    with serving(shout) as server:
        reply = server.post("/v1/responses", {"model": "shout", "input": "x"})
        assert (reply.status, reply.json["error"]["code"]) == (404, "model_not_found")
