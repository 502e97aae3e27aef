"""OpenAI's routes, talked to by OpenAI's own client."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest
from openai import BadRequestError, InternalServerError, NotFoundError, OpenAI, RateLimitError

from greenroom import chat_workflow, workflow
from greenroom.workflows import CallError, report_usage
from greenroom.workflows.serve.one_message import as_one_message
from tests.workflows.serving import HELLO, Server, serving

TOOL: Any = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


@chat_workflow
def echo(
    messages: list[dict[str, Any]], tools: Any = None, mood: str = "fine", session_id: str = ""
) -> Any:
    if tools:
        name = tools[0]["function"]["name"]
        call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    report_usage(prompt_tokens=5, completion_tokens=2)
    return {"role": "assistant", "content": f"{mood} {messages[-1]['content']} {session_id}"}


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


@chat_workflow
def calling(messages: Any) -> Any:
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": {"at": "lamp"}}},
        {"id": "c2", "function": {"name": "look"}},
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


@chat_workflow
def busy(messages: Any) -> Any:
    raise CallError("slow down", status=429)


@workflow
def shout(text: str) -> str:
    return text.upper()


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    with serving(shout, echo, talker, failing, calling, busy) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Generator[OpenAI]:
    with OpenAI(base_url=f"{server.address}/v1", api_key="any", max_retries=0) as client:
        yield client


def hello() -> Any:
    return list(HELLO)


def test_chat_workflows_are_models(client: OpenAI, server: Server) -> None:
    assert [model.id for model in client.models.list()] == [
        "echo",
        "Slow-talker",
        "failing",
        "calling",
        "busy",
    ]
    assert [one["id"] for one in server.get("/echo/v1/models").json["data"]] == ["echo"]
    assert server.get("/shout/v1/models").status == 404


def test_a_model_is_found_by_both_of_its_names(client: OpenAI) -> None:
    for name in ("Slow talker", "Slow-talker"):
        assert client.models.retrieve(name).id == "Slow-talker"
        answer = client.chat.completions.create(model=name, messages=hello())
        assert answer.model == "Slow-talker"
    for name in ("other", "shout"):
        with pytest.raises(NotFoundError, match=f"There is no model '{name}'"):
            client.models.retrieve(name)


def test_arguments_of_tool_calls_are_texts_however_a_handler_gives_them(client: OpenAI) -> None:
    wanted = [("function", '{"at":"lamp"}'), ("function", "{}")]
    answer = client.chat.completions.create(model="calling", messages=hello())
    made: Any = answer.choices[0].message.tool_calls
    assert [(call.type, call.function.arguments) for call in made] == wanted
    chunks = client.chat.completions.create(model="calling", messages=hello(), stream=True)
    streamed: Any = [call for one in chunks for call in one.choices[0].delta.tool_calls or ()]
    assert [(call.type, call.function.arguments) for call in streamed] == wanted


def test_a_refusal_of_a_handler_is_not_an_error_of_the_server(client: OpenAI) -> None:
    with pytest.raises(RateLimitError, match="slow down") as refused:
        client.chat.completions.create(model="busy", messages=hello())
    assert refused.value.type == "invalid_request_error"


def test_a_completion(client: OpenAI) -> None:
    answer = client.chat.completions.create(
        model="echo",
        messages=hello(),
        temperature=0.3,
        extra_body={"inputs": {"mood": "gay"}, "session_id": "s-1"},
    )
    assert answer.object == "chat.completion"
    assert answer.model == "echo"
    (choice,) = answer.choices
    assert choice.message.content == "gay hello s-1"
    assert choice.message.role == "assistant"
    assert choice.finish_reason == "stop"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.total_tokens) == (5, 7)


def test_tools_go_along_and_calls_come_back(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="echo", messages=hello(), tools=[TOOL])
    (choice,) = answer.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    assert choice.message.tool_calls is not None
    assert choice.message.tool_calls[0].function.name == "look"  # pyright: ignore
    assert answer.usage is None  # nobody said


def test_a_streamed_completion(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model="Slow talker",
        messages=hello(),
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    texts = [chunk.choices[0].delta.content for chunk in chunks[:-1]]
    assert texts == ["One. ", "Two.", "\n\nThree.", None]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 7
    whole = client.chat.completions.create(model="Slow-talker", messages=hello())
    assert whole.choices[0].message.content == "One. Two.\n\nThree."


def test_streamed_tool_calls(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model="echo", messages=hello(), tools=[TOOL], stream=True
    )
    chunks = [chunk.choices[0] for chunk in stream]
    calls = [call for chunk in chunks for call in chunk.delta.tool_calls or []]
    assert [(call.index, call.id, call.function and call.function.name) for call in calls] == [
        (0, "c1", "look")
    ]
    assert chunks[-1].finish_reason == "tool_calls"


def test_the_clients_own_helper_for_streams_understands_it(client: OpenAI) -> None:
    with client.chat.completions.stream(model="echo", messages=hello()) as stream:
        final = stream.get_final_completion()
    assert (final.choices[0].message.content or "").startswith("fine hello")


def test_a_workflow_under_its_own_path_takes_any_model(server: Server) -> None:
    with OpenAI(base_url=f"{server.address}/echo/v1", api_key="any") as client:
        answer = client.chat.completions.create(model="gpt-5", messages=hello())
    assert (answer.choices[0].message.content or "").startswith("fine hello")


def test_errors_are_those_that_the_client_knows(client: OpenAI) -> None:
    with pytest.raises(NotFoundError, match="This server has: echo, Slow-talker, failing"):
        client.chat.completions.create(model="other", messages=hello())
    with pytest.raises(BadRequestError, match="object with a role"):
        client.chat.completions.create(model="echo", messages=[3])  # pyright: ignore
    with pytest.raises(BadRequestError, match=r"body.messages: This must be an array"):
        client.chat.completions.create(model="echo", messages="hi")  # pyright: ignore
    for stream in (False, True):
        with pytest.raises(InternalServerError, match="no such order"):
            client.chat.completions.create(model="failing", messages=hello(), stream=stream)


def test_an_error_in_the_middle_of_a_stream_is_raised_by_the_client(client: OpenAI) -> None:
    late: Any = [{"role": "user", "content": "late"}]
    stream = client.chat.completions.create(model="failing", messages=late, stream=True)
    assert next(iter(stream)).choices[0].delta.content == "Well"
    with pytest.raises(Exception, match="no such order"):
        list(stream)


def test_a_server_without_chat_workflows_has_no_models() -> None:
    with serving(shout) as server:
        assert server.get("/v1/models").json["data"] == []
        reply = server.post("/v1/chat/completions", {"model": "shout", "messages": HELLO})
        assert (reply.status, reply.json["error"]["code"]) == (404, "model_not_found")


def test_several_messages_become_one() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    other = {"id": "2", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": "Looking.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "found"},
        {"role": "assistant", "content": None, "tool_calls": [other]},
    ]
    assert as_one_message(messages) == {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [other],
    }
    assert as_one_message(messages[:2]) == {"role": "assistant", "content": "Looking."}
    assert as_one_message(messages[2:])["content"] is None


@chat_workflow(parameters={"temperature": 1.0, "response_format": None, "words": 5})
def tunable(messages: Any, parameters: dict[str, Any], tools: Any = None) -> Any:
    return {"role": "assistant", "content": repr([parameters, tools])}


def test_settings_become_parameters_of_the_same_name() -> None:
    form: Any = {"type": "json_object"}
    with (
        serving(tunable) as server,
        OpenAI(base_url=f"{server.address}/v1", api_key="any", max_retries=0) as client,
    ):
        complete = client.chat.completions.with_raw_response.create
        raw = complete(
            model="tunable",
            messages=hello(),
            temperature=0.2,
            response_format=form,
            user="ann",
            top_p=0.5,
            n=1,
            tools=[TOOL],
            tool_choice="none",
            extra_body={"parameters": {"words": 9}},
        )
        found = eval(raw.parse().choices[0].message.content or "")
        assert found == [{"temperature": 0.2, "response_format": form, "words": 9}, None]
        # What the workflow does not take is named.
        assert raw.headers["x-greenroom-ignored"] == "top_p, user"
        plain = complete(model="tunable", messages=hello(), tool_choice="auto")
        assert "x-greenroom-ignored" not in plain.headers
        streamed = complete(model="tunable", messages=hello(), top_p=0.5, stream=True)
        assert streamed.headers["x-greenroom-ignored"] == "top_p"
        with pytest.raises(BadRequestError, match="has no parameter for 'tool_choice'"):
            complete(model="tunable", messages=hello(), tool_choice="required")


def test_settings_that_shape_the_answer_are_refused(client: OpenAI) -> None:
    with pytest.raises(BadRequestError, match="'echo' has no parameter for 'response_format'"):
        client.chat.completions.create(
            model="echo", messages=hello(), response_format={"type": "json_object"}
        )


def test_one_model(client: OpenAI, server: Server) -> None:
    assert client.models.retrieve("Slow-talker").id == "Slow-talker"
    with pytest.raises(NotFoundError, match=r"There is no model 'shout'\. This server has: echo"):
        client.models.retrieve("shout")
    assert server.get("/echo/v1/models/echo").json["object"] == "model"


@pytest.mark.slow
def test_a_missing_model_is_told(server: Server) -> None:
    reply = server.post("/v1/chat/completions", {"messages": HELLO})
    assert reply.status == 400
    assert reply.json["error"]["message"].startswith("The body names no model.")


@chat_workflow
def asking(messages: Any, max_tokens: int = 0, stop: list[str] | str = "", seed: int = 0) -> Any:
    return {"role": "assistant", "content": repr([max_tokens, stop, seed])}


def test_settings_reach_arguments_of_the_same_name() -> None:
    with (
        serving(asking) as server,
        OpenAI(base_url=f"{server.address}/v1", api_key="any", max_retries=0) as client,
    ):
        complete = client.chat.completions.with_raw_response.create
        raw = complete(
            model="asking",
            messages=hello(),
            max_completion_tokens=9,
            stop=["END"],
            seed=3,
            tools=[TOOL],
        )
        # One limit has two names.
        assert raw.parse().choices[0].message.content == "[9, ['END'], 3]"
        assert raw.headers["x-greenroom-ignored"] == "tools"
        assert "asking" in client.models.retrieve("asking").id


@pytest.mark.parametrize(
    ("settings", "param"),
    [
        ({"n": 2}, "n"),
        ({"n": 10**30}, "n"),
        ({"n": "2"}, "n"),
        ({"n": 0}, "n"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": 3}, "temperature"),
        ({"top_p": -1}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 5, "max_completion_tokens": 5}, "max_tokens"),
        ({"logprobs": True}, "logprobs"),
        ({"logprobs": "yes"}, "logprobs"),
        ({"stop": ["END"]}, "stop"),
        ({"stop": {"a": 1}}, "stop"),
        ({"seed": 1.5}, "seed"),
        ({"user": ["ann"]}, "user"),
        ({"tool_choice": "always"}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
        ({"response_format": "json"}, "response_format"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"functions": [{"name": "look"}]}, "functions"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
    ],
)
def test_settings_that_openai_refuses_are_refused_by_name(
    server: Server, settings: dict[str, Any], param: str
) -> None:
    body = {"model": "echo", "messages": HELLO, **settings}
    for path in ("/v1/chat/completions", "/echo/v1/chat/completions"):
        reply = server.post(path, body)
        assert (reply.status, reply.json["error"]["param"]) == (400, param)
        assert reply.json["error"]["type"] == "invalid_request_error"


def test_names_of_settings_that_no_header_holds_are_left_out(server: Server) -> None:
    strange = {f"setting_{number}": 1 for number in range(50)}
    body = {"model": "echo", "messages": HELLO, "a\r\nb: c": 1, "x" * 100: 1, **strange}
    reply = server.post("/v1/chat/completions", body)
    assert reply.status == 200
    assert len(reply.headers["x-greenroom-ignored"].split(", ")) == 20
    assert "b" not in reply.headers
