from __future__ import annotations

import threading
from typing import Any

import anyio
import openai
import pytest

from greenroom.errors import InputError
from greenroom.model_server import RunningServer, ServerSettings, running_server, scripted_server
from tests.domains.small import small_domain, tools
from tests.model_server.wire import INSTRUCTION, OPENING, ask, request, send

CALL = {"name": "light", "arguments": '{"lamp":"hall"}'}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": CALL}],
}
DONE = [*OPENING, CALLED, {"role": "tool", "tool_call_id": "call_1", "content": "{}"}]
CLOSING = "All done. For your records: 10."


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def test_a_completion_has_all_that_clients_rely_on(server: RunningServer) -> None:
    first, second = ask(server), ask(server, messages=DONE, model="gpt-4o")
    assert first.status == 200
    assert first.headers["content-type"].startswith("application/json")
    answer = first.json
    assert answer["object"] == "chat.completion"
    assert answer["id"].startswith("chatcmpl-")
    assert answer["id"] != second.json["id"]
    assert answer["created"] > 1_700_000_000
    assert answer["model"] == "oracle"
    (choice,) = answer["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"] == CALLED
    assert second.json["model"] == "gpt-4o"
    assert second.json["choices"][0]["finish_reason"] == "stop"
    assert second.message == {"role": "assistant", "content": CLOSING}
    for usage, words in ((answer["usage"], CALL.values()), (second.json["usage"], [CLOSING])):
        assert usage["completion_tokens"] == -(-sum(map(len, words)) // 4)
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert second.json["usage"]["prompt_tokens"] > answer["usage"]["prompt_tokens"]


def test_streams_say_the_same_in_pieces(server: RunningServer) -> None:
    plain = ask(server, messages=DONE, stream=True)
    assert plain.headers["content-type"].startswith("text/event-stream")
    deltas = [event["choices"][0]["delta"] for event in plain.events]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta.get("content", "") for delta in deltas) == CLOSING
    assert len(deltas) > 3
    assert plain.events[-1]["choices"][0]["finish_reason"] == "stop"
    assert {event["object"] for event in plain.events} == {"chat.completion.chunk"}
    assert len({event["id"] for event in plain.events}) == 1
    assert not any("usage" in event for event in plain.events)

    counted = ask(server, stream=True, stream_options={"include_usage": True}).events
    assert counted[-1]["choices"] == []
    assert counted[-1]["usage"] == ask(server).json["usage"]
    assert {event["usage"] for event in counted[:-1]} == {None}
    assert counted[-2]["choices"][0]["finish_reason"] == "tool_calls"


def test_an_answer_ends_at_stop_words_and_at_its_length(server: RunningServer) -> None:
    stopped = ask(server, messages=DONE, stop=["For", "nothing"])
    assert stopped.message["content"] == "All done. "
    assert ask(server, messages=DONE, stop="All").message["content"] == ""
    cut = ask(server, messages=DONE, max_tokens=2)
    assert cut.message["content"] == "All done"
    assert cut.json["choices"][0]["finish_reason"] == "length"
    assert cut.json["usage"]["completion_tokens"] == 2
    call = ask(server, max_completion_tokens=3)
    assert call.message["tool_calls"][0]["function"]["arguments"] == CALL["arguments"][:7]
    assert call.json["choices"][0]["finish_reason"] == "length"
    assert ask(server, max_tokens=1000).json["choices"][0]["finish_reason"] == "tool_calls"


def test_the_openai_client_understands_answers_and_streams(server: RunningServer) -> None:
    with openai.OpenAI(base_url=server.api_base, api_key="any", max_retries=0) as client:
        assert "oracle" in [model.id for model in client.models.list()]
        create: Any = client.chat.completions.create
        whole = create(**request())
        (call,) = whole.choices[0].message.tool_calls
        assert {"name": call.function.name, "arguments": call.function.arguments} == CALL
        words = create(**request(messages=DONE)).choices[0].message.content
        assert words == CLOSING

        *chunks, last = create(**request(), stream=True, stream_options={"include_usage": True})
        deltas = [chunk.choices[0].delta for chunk in chunks]
        pieces = [delta.tool_calls[0].function for delta in deltas if delta.tool_calls]
        assert pieces[0].name == CALL["name"]
        assert "".join(piece.arguments for piece in pieces) == CALL["arguments"]
        assert chunks[-1].choices[0].finish_reason == "tool_calls"
        assert last.usage == whole.usage
        chunks = create(**request(messages=DONE), stream=True)
        assert "".join(c.choices[0].delta.content or "" for c in chunks) == CLOSING
        with pytest.raises(openai.BadRequestError, match="none of the 3 tasks of lamps"):
            create(model="oracle", messages=[{"role": "user", "content": "Hello?"}])
        with pytest.raises(openai.NotFoundError, match="synthetic-CHANCE"):
            create(**request(model="synthetic-often"))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "not JSON"),
        (b"[]", "JSON object"),
        ({"messages": OPENING}, "names no model"),
        ({"model": "oracle"}, "at least one message"),
        ({"model": "oracle", "messages": []}, "at least one message"),
        ({"model": "oracle", "messages": ["hi"]}, "messages[0]"),
        ({"model": "oracle", "messages": [{"content": "hi"}]}, "messages[0]"),
        (request(seed="one"), "'seed'"),
        (request(response_format={"type": "json_schema"}), "no schema"),
        (
            request(
                response_format={"type": "json_schema", "json_schema": {"schema": {"type": 3}}}
            ),
            "not valid",
        ),
        (request(model="synthetic-0.5-0.1-3"), "synthetic-CHANCE"),
        (request(tools=[{"a": nested(300)}]), "nested too deeply"),
        (request(messages=[{"role": "user", "content": nested(300)}]), "nested too deeply"),
        (request(model="synthetic-2"), "synthetic-CHANCE"),
        (request(messages=[{"role": "user", "content": None}]), "none of the 3 tasks"),
    ],
)
def test_what_cannot_be_understood_is_refused(server: RunningServer, body: Any, words: str) -> None:
    before = server.stats.refused
    answer = send(server, body=body)
    assert answer.status in (400, 404)
    assert words in answer.json["error"]["message"]
    assert answer.json["error"]["type"] == "invalid_request_error"
    assert server.stats.refused == before + 1


def test_other_paths_and_methods(server: RunningServer) -> None:
    assert send(server, "/health").json == {"status": "ok"}
    assert send(server, "/v2").status == 404
    wrong = send(server, "/v1/chat/completions")
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST")


def test_stats_count_requests_and_roles() -> None:
    with running_server(small_domain()) as server:
        ask(server)
        ask(server, model="judge")
        send(server, body=b"?")
        assert send(server, "/stats").json == {
            "requests": 3,
            "refused": 1,
            "faults": {},
            "roles": {"agent": 1, "judge": 1},
        }


def test_content_may_come_in_parts_and_be_long(server: RunningServer) -> None:
    parts = [{"type": "text", "text": INSTRUCTION[:9]}, {"type": "text", "text": INSTRUCTION[9:]}]
    noise = {"type": "image_url", "image_url": {"url": "x"}}
    message = {"role": "user", "content": [*parts, noise]}
    system = {"role": "system", "content": "long " * 1_000_000}
    assert ask(server, messages=[system, message]).message == CALLED


def test_a_token_keeps_others_out() -> None:
    with running_server(small_domain(), settings=ServerSettings(token="sesame")) as server:
        assert ask(server).status == 401
        for given in ("Bearer open", "sesame", "Bearer", "Bearer é"):
            refused = send(server, body=request(), headers={"Authorization": given})
            assert refused.status == 401
            assert refused.json["error"]["code"] == "invalid_api_key"
        assert send(server, "/stats").status == 401
        assert send(server, "/health").status == 200
        key = {"Authorization": "Bearer sesame"}
        assert send(server, body=request(), headers=key).status == 200
        assert send(server, "/stats", headers=key).json["requests"] == 1
    assert "sesame" not in repr(ServerSettings(token="sesame"))


def test_a_wider_host_needs_a_token() -> None:
    with (
        pytest.raises(InputError, match="GREENROOM_TOKEN"),
        running_server(small_domain(), settings=ServerSettings(host="0.0.0.0")),
    ):
        pass
    settings = ServerSettings(token="sesame", host="0.0.0.0")
    with running_server(small_domain(), settings=settings) as server:
        assert server.address.startswith("http://127.0.0.1:")
        assert send(server, "/health").status == 200
    with running_server(small_domain(), settings=ServerSettings(host="localhost")) as server:
        assert send(server, "/health").status == 200


def test_a_port_that_is_taken_is_told(server: RunningServer) -> None:
    with (
        pytest.raises(InputError, match=f"Port {server.port} of 127.0.0.1 cannot be used"),
        running_server(small_domain(), settings=ServerSettings(port=server.port)),
    ):
        pass


def test_a_server_ends_with_its_block() -> None:
    before = threading.active_count()
    with running_server(small_domain()) as server:
        assert send(server, "/health").status == 200
    assert threading.active_count() == before

    async def serve() -> RunningServer:
        async with scripted_server(small_domain()) as running:
            return running

    ended = anyio.run(serve)
    for gone in (server, ended):
        with pytest.raises(OSError, match="Connect"):
            send(gone, "/health")


def test_talking_can_be_a_tool(server: RunningServer) -> None:
    respond = {"type": "function", "function": {"name": "respond"}}
    answer = ask(server, messages=DONE, tools=[*tools.infos, respond], tool_choice="required")
    (call,) = answer.message["tool_calls"]
    assert call["id"] == "call_2"
    assert call["function"] == {"name": "respond", "arguments": f'{{"content":"{CLOSING}"}}'}


def test_a_foreign_name_that_leads_here_is_refused(server: RunningServer) -> None:
    for path, body in (("/stats", None), ("/v1/chat/completions", request())):
        answer = send(server, path, body, headers={"Host": f"evil.example:{server.port}"})
        assert answer.status == 403
        assert "answers only requests to localhost" in answer.json["error"]["message"]
    assert send(server, "/stats", headers={"Host": "localhost"}).status == 200
