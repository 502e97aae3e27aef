"""Both ways of asking give the same answers and the same errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from greenroom.errors import InputError, UnknownName
from greenroom.models import (
    ContentFiltered,
    ContextWindowExceeded,
    Ledger,
    ModelRequest,
    ModelSettings,
    ModelUnavailable,
    transport_name,
)
from greenroom.models.litellm_transport import litellm_name
from greenroom.models.payloads import openai_parameters
from tests.models.asking import QUESTION, Naps, client_for, settings_for
from tests.models.stub_server import (
    Reply,
    StubServer,
    answer_body,
    answers,
    fails,
    hangs,
    hangs_up,
    json_reply,
    stops_halfway,
    text_reply,
)

pytestmark = pytest.mark.anyio

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_order", "arguments": '{"order_id": "#W1"}'},
}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "get_order", "parameters": {"type": "object", "properties": {}}},
}


@pytest.fixture(params=["direct", "litellm"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    [
        answers("hello"),
        answers(""),
        answers(None, tool_calls=[CALL, CALL | {"id": "call_2"}], finish="tool_calls"),
        answers("thinking aloud", tool_calls=[CALL], finish="tool_calls"),
        answers("cut", finish="length"),
        answers(None, refusal="I will not."),
        answers(
            "hello",
            usage={
                "prompt_tokens": 50,
                "completion_tokens": 5,
                "total_tokens": 55,
                "prompt_tokens_details": {"cached_tokens": 20},
            },
        ),
        answers("no usage", usage={}),
    ],
)
async def test_both_transports_give_the_same_completion(stub: StubServer, reply: Reply) -> None:
    stub.replies = [reply]
    completions = [
        replace(await ask(stub, transport), seconds=0.0) for transport in ("direct", "litellm")
    ]
    assert completions[0] == completions[1]


@pytest.mark.slow
async def test_both_transports_ask_the_same(stub: StubServer) -> None:
    stub.replies = [answers()]
    settings = settings_for(stub, max_tokens=64, temperature=0.5)
    request = ModelRequest(
        messages=[{"role": "user", "content": "hi"}],
        tools=[TOOL],
        seed=7,
        stop=["STOP"],
        tool_choice="required",
        parallel_tool_calls=False,
        max_tokens=32,
    )
    for transport in ("direct", "litellm"):
        async with client_for(stub, settings, transport=transport) as client:
            await client.for_episode("agent", Ledger()).complete(request)
    assert stub.asked[0] == stub.asked[1]
    assert stub.asked[0] == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [TOOL],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "temperature": 0.5,
        "max_tokens": 32,  # of both limits, the smaller one
        "seed": 7,
        "stop": ["STOP"],
    }


async def test_a_completion_holds_calls_and_tokens(stub: StubServer, transport: str) -> None:
    usage = {
        "prompt_tokens": 50,
        "completion_tokens": 5,
        "total_tokens": 55,
        "prompt_tokens_details": {"cached_tokens": 20},
    }
    stub.replies = [answers(None, tool_calls=[CALL], finish="tool_calls", usage=usage)]
    completion = await ask(stub, transport)
    assert completion.message == {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert completion.tool_calls == [CALL]
    assert completion.finish_reason == "tool_calls"
    assert (completion.prompt_tokens, completion.completion_tokens) == (50, 5)
    assert completion.cached_prompt_tokens == 20
    assert completion.cost is None
    assert completion.retries == 0


async def test_arguments_that_are_no_text_become_text(stub: StubServer) -> None:
    call = {"function": {"name": "f", "arguments": {"a": 1}}}
    stub.replies = [answers(None, tool_calls=[call])]
    (made,) = (await ask(stub, "direct")).tool_calls
    assert made == {
        "id": "call_0",
        "type": "function",
        "function": {"name": "f", "arguments": '{"a":1}'},
    }


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
async def test_what_may_pass_is_tried_again(stub: StubServer, transport: str, status: int) -> None:
    stub.replies = [fails(status), fails(status), answers("at last")]
    completion = await ask(stub, transport)
    assert (completion.text, completion.retries) == ("at last", 2)


@pytest.mark.parametrize(
    "reply",
    [
        text_reply("<html>Bad gateway</html>"),
        text_reply('{"id": "x", "choices": [{"ind'),
        text_reply(""),
        json_reply({"id": "x"}),
        json_reply({"id": "x", "choices": []}),
        json_reply({"id": "x", "choices": [{"index": 0, "message": None}]}),
        json_reply(answer_body() | {"choices": None}),
        hangs_up,
        stops_halfway,
    ],
)
async def test_an_answer_that_is_none_is_tried_again(
    stub: StubServer, transport: str, reply: Reply
) -> None:
    stub.replies = [reply, answers("at last")]
    completion = await ask(stub, transport)
    assert (completion.text, completion.retries) == ("at last", 1)


async def test_an_error_that_claims_to_be_an_answer_is_seen_through(stub: StubServer) -> None:
    stub.replies = [json_reply({"error": {"message": "slow down", "code": 429}}), answers("ok")]
    assert (await ask(stub, "direct")).retries == 1
    stub.replies = [json_reply({"error": {"message": "who are you?", "code": 401}})]
    with pytest.raises(InputError, match="wants a key"):
        await ask(stub, "direct")


async def test_no_answer_in_time_is_tried_again(stub: StubServer, transport: str) -> None:
    stub.replies = [hangs]
    settings = settings_for(stub, timeout=0.05)
    with pytest.raises(ModelUnavailable, match="after 2 retries") as caught:
        await ask(stub, transport, settings, retries=Naps().policy(2))
    assert (caught.value.retries, caught.value.status) == (2, None)
    assert len(stub.asked) == 3


async def test_nobody_there(stub: StubServer, transport: str) -> None:
    settings = settings_for(stub, api_base="http://127.0.0.1:9/v1")
    with pytest.raises(ModelUnavailable, match=r"http://127.0.0.1:9/v1 gave no usable answer"):
        await ask(stub, transport, settings)


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_after_all_retries_the_last_status_is_told(
    stub: StubServer, transport: str, status: int
) -> None:
    stub.replies = [fails(status, "out of order")]
    with pytest.raises(ModelUnavailable, match="out of order") as caught:
        await ask(stub, transport)
    assert (caught.value.retries, caught.value.status) == (3, status)
    assert len(stub.asked) == 4


@pytest.mark.parametrize(
    "reply",
    [
        fails(400, "too long", "context_length_exceeded"),
        fails(400, "This model's maximum context length is 4096 tokens, however you asked 5000."),
        fails(400, "the request exceeds the available context size"),
    ],
)
async def test_a_conversation_that_is_too_long(
    stub: StubServer, transport: str, reply: Reply
) -> None:
    stub.replies = [reply]
    with pytest.raises(ContextWindowExceeded, match="no longer fits m"):
        await ask(stub, transport)
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    "reply", [answers("", finish="content_filter"), fails(400, "not this", "content_filter")]
)
async def test_a_filtered_answer(stub: StubServer, transport: str, reply: Reply) -> None:
    stub.replies = [reply]
    with pytest.raises(ContentFiltered, match="declined to answer"):
        await ask(stub, transport)
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "cannot take the request"),
        (401, "set GREENROOM_API_KEY"),
        (402, "cannot take the request"),
        (403, "set GREENROOM_API_KEY"),
        (404, "has no model 'm'"),
        (422, "cannot take the request"),
    ],
)
async def test_what_a_person_has_to_mend(
    stub: StubServer, transport: str, status: int, words: str
) -> None:
    stub.replies = [fails(status)]
    with pytest.raises(InputError, match=words):
        await ask(stub, transport)
    assert len(stub.asked) == 1


async def test_no_credit_is_not_waited_for(stub: StubServer, transport: str) -> None:
    stub.replies = [fails(429, "You exceeded your current quota", "insufficient_quota")]
    with pytest.raises(InputError, match="no credit left"):
        await ask(stub, transport)
    assert len(stub.asked) == 1


async def test_a_redirect_is_not_followed(stub: StubServer) -> None:
    stub.replies = [fails(307, Location="http://127.0.0.1:9/v1/chat/completions")]
    with pytest.raises(InputError, match="status 307"):
        await ask(stub, "direct")


async def test_a_large_question_is_sent_whole(stub: StubServer) -> None:
    stub.replies = [answers()]
    text = "x" * 2**21
    async with client_for(stub) as client:
        question = ModelRequest(messages=[{"role": "user", "content": text}])
        await client.for_episode("agent", Ledger()).complete(question)
    assert stub.asked[0]["messages"][0]["content"] == text


async def test_after_closing_it_can_be_asked_again(stub: StubServer, transport: str) -> None:
    stub.replies = [answers()]
    async with client_for(stub, transport=transport) as one:
        for _ in range(2):
            async with client_for(stub, transport=transport) as two:
                await two.for_episode("agent", Ledger()).complete(QUESTION)
            await one.for_episode("agent", Ledger()).complete(QUESTION)
        await one.close()
        await one.for_episode("agent", Ledger()).complete(QUESTION)
    assert len(stub.asked) == 5


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"model": "gpt-4o"}, {"temperature": 0.0, "max_completion_tokens": 9}),
        ({"model": "o3-mini"}, {"max_completion_tokens": 9}),
        (
            {"model": "gpt-5-mini", "reasoning_effort": "low"},
            {"max_completion_tokens": 9, "reasoning_effort": "low"},
        ),
        ({"model": "gpt-5-chat-latest"}, {"temperature": 0.0, "max_completion_tokens": 9}),
    ],
)
def test_what_openai_calls_its_parameters(
    settings: dict[str, Any], expected: dict[str, Any]
) -> None:
    asked = openai_parameters(ModelSettings(**settings, max_tokens=9), QUESTION)
    assert asked == {"messages": QUESTION.messages} | expected


async def test_a_proxy_is_used_except_on_this_machine(
    stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    stub.replies = [answers()]
    await ask(stub, "direct")
    elsewhere = settings_for(stub, api_base="http://models.invalid/v1")
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:9"):
        await ask(stub, "direct", elsewhere)


@pytest.mark.parametrize(
    ("variables", "header"),
    [
        ({}, None),
        ({"OPENAI_API_KEY": "sk-one-two"}, None),
        (
            {"OPENAI_API_KEY": "sk-one-two", "GREENROOM_API_KEY": "three-four\n"},
            "Bearer three-four",
        ),
    ],
)
async def test_the_key_of_a_server_of_ones_own(
    stub: StubServer,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    header: str | None,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stub.replies = [answers()]
    await ask(stub, "direct")
    assert stub.headers[0].get("Authorization") == header


async def test_openai_is_not_asked_without_a_key(transport: str) -> None:
    settings = ModelSettings(model="gpt-4o")
    with pytest.raises(InputError, match="OpenAI wants a key: set OPENAI_API_KEY"):
        await ask(StubServer(), transport, settings)


@pytest.mark.slow
async def test_another_provider_without_a_key_names_its_variable() -> None:
    settings = ModelSettings(model="claude-sonnet-4-5", provider="anthropic")
    with pytest.raises(InputError, match="set ANTHROPIC_API_KEY"):
        await ask(StubServer(), "auto", settings)


@pytest.mark.parametrize(
    ("settings", "wanted", "expected"),
    [
        (ModelSettings(model="gpt-4o"), "auto", "direct"),
        (ModelSettings(model="o3-mini"), "auto", "direct"),
        (ModelSettings(model="o1"), "auto", "direct"),
        (ModelSettings(model="chatgpt-4o-latest"), "auto", "direct"),
        (ModelSettings(model="gpt-4o", provider="openai"), "auto", "direct"),
        (ModelSettings(model="openai/gpt-4o"), "auto", "direct"),
        (ModelSettings(model="gpt-4o", provider="azure"), "auto", "litellm"),
        (ModelSettings(model="olmo-7b"), "auto", "litellm"),
        (ModelSettings(model="anthropic/claude-sonnet-4-5"), "auto", "litellm"),
        (ModelSettings(model="any", api_base="http://localhost/v1"), "auto", "direct"),
        (ModelSettings(model="any", api_base="http://localhost/v1"), "litellm", "litellm"),
        (ModelSettings(model="gpt-4o"), "litellm", "litellm"),
    ],
)
def test_which_transport_is_used(settings: ModelSettings, wanted: str, expected: str) -> None:
    assert transport_name(settings, wanted) == expected


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (ModelSettings(model="gpt-4o"), "openai/gpt-4o"),
        (ModelSettings(model="gpt-4o", provider="azure"), "azure/gpt-4o"),
        (ModelSettings(model="claude-x", provider="anthropic"), "anthropic/claude-x"),
        (ModelSettings(model="anthropic/claude-x", provider="anthropic"), "anthropic/claude-x"),
        (ModelSettings(model="claude-x"), "claude-x"),
        (ModelSettings(model="openai/gpt-oss", api_base="http://h/v1"), "openai/openai/gpt-oss"),
    ],
)
def test_what_litellm_calls_a_model(settings: ModelSettings, name: str) -> None:
    assert litellm_name(settings) == name


async def test_bad_settings_are_told(stub: StubServer) -> None:
    with pytest.raises(UnknownName, match="Known: auto, direct, litellm"):
        transport_name(ModelSettings(model="m"), "pigeon")
    for address in ("localhost:8000", "ftp://host/v1", "http://", "http://host:port/v1"):
        with pytest.raises(InputError, match="is no address of a model server"):
            await ask(stub, "direct", ModelSettings(model="m", api_base=address))


async def ask(
    stub: StubServer, transport: str, settings: ModelSettings | None = None, **options: Any
) -> Any:
    async with client_for(stub, settings, transport=transport, **options) as client:
        return await client.for_episode("agent", Ledger()).complete(QUESTION)
