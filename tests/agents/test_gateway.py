"""The gateway: a metered model endpoint for each episode, asked by OpenAI's own client."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import httpx
import openai
import pytest
from openai import AsyncOpenAI

from greenroom.agents.gateway import EpisodeEndpoint, Gateway, open_gateway
from greenroom.models import (
    BudgetExhausted,
    Completion,
    ContentFiltered,
    ContextWindowExceeded,
    FakeModel,
    Model,
    ModelRequest,
    ModelUnavailable,
    RequestRefused,
)

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "think", "arguments": '{"thought": "Hm."}'},
}
CALLING = Completion(
    message={"role": "assistant", "content": None, "tool_calls": [CALL]},
    finish_reason="tool_calls",
    prompt_tokens=11,
    completion_tokens=3,
    cached_prompt_tokens=5,
    cost=0.25,
)
HELLO: Any = [{"role": "user", "content": "Hello"}]


@asynccontextmanager
async def episode(
    model: Model | None, name: str | None = "gpt-4o"
) -> AsyncGenerator[tuple[Gateway, EpisodeEndpoint, AsyncOpenAI]]:
    async with (
        open_gateway() as gateway,
        gateway.episode(model, name, seed=7) as endpoint,
        client_of(endpoint) as client,
    ):
        yield gateway, endpoint, client


def client_of(endpoint: EpisodeEndpoint, key: str | None = None) -> AsyncOpenAI:
    base = endpoint.model_base or f"{endpoint.address}/v1"
    return AsyncOpenAI(base_url=base, api_key=key or endpoint.token, max_retries=2)


def played(test: Callable[[], Awaitable[None]]) -> None:
    anyio.run(test)


@pytest.mark.slow
def test_a_question_reaches_the_model_as_it_was_asked() -> None:
    model = FakeModel([CALLING])
    tools: Any = [{"type": "function", "function": {"name": "think", "parameters": {}}}]
    shape: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}

    async def test() -> None:
        async with episode(model) as (_, _, client):
            answer = await client.chat.completions.create(
                model="gpt-4o",
                messages=HELLO,
                tools=tools,
                tool_choice="required",
                parallel_tool_calls=False,
                response_format=shape,
                stop="END",
                max_completion_tokens=9,
            )
        choice = answer.choices[0]
        assert choice.finish_reason == "tool_calls"
        assert choice.message.tool_calls is not None
        assert choice.message.tool_calls[0].model_dump() == CALL
        assert answer.usage is not None
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (11, 3)
        assert answer.usage.prompt_tokens_details is not None
        assert answer.usage.prompt_tokens_details.cached_tokens == 5
        assert answer.usage.model_extra == {"cost": 0.25}

    played(test)
    assert model.requests == [
        ModelRequest(
            messages=HELLO,
            tools=tools,
            response_format=shape,
            seed=7,
            stop=["END"],
            tool_choice="required",
            parallel_tool_calls=False,
            max_tokens=9,
        )
    ]


def test_a_stream_says_the_same_as_a_whole_answer() -> None:
    model = FakeModel(["Good morning.", CALLING])

    async def streamed(client: AsyncOpenAI, **more: Any) -> list[Any]:
        stream = await client.chat.completions.create(
            model="default", messages=HELLO, stream=True, **more
        )
        return [chunk async for chunk in stream]

    async def test() -> None:
        async with episode(model) as (_, _, client):
            spoken = await streamed(client)
            called = await streamed(client, stream_options={"include_usage": True})
        words = "".join(chunk.choices[0].delta.content or "" for chunk in spoken)
        assert words == "Good morning."
        assert spoken[-1].choices[0].finish_reason == "stop"
        assert all(chunk.usage is None for chunk in spoken)
        deltas: list[Any] = [choice.delta for chunk in called for choice in chunk.choices]
        arguments = [one.tool_calls[0].function.arguments for one in deltas if one.tool_calls]
        assert arguments == ['{"thought": "Hm."}']
        assert called[-1].usage.total_tokens == 14
        assert called[-1].choices == []

    played(test)


def test_the_responses_api_is_asked_as_chat_completions_and_remembers() -> None:
    model = FakeModel([CALLING, "Done.", "Again."])
    tools: Any = [{"type": "function", "name": "think", "parameters": {}, "strict": None}]

    async def test() -> None:
        async with episode(model) as (_, _, client):
            first = await client.responses.create(
                model="gpt-4o", instructions="Be kind.", input="Hello", tools=tools
            )
            assert [item.type for item in first.output] == ["function_call"]
            assert first.usage is not None
            assert (first.usage.input_tokens, first.usage.output_tokens) == (11, 3)
            result: Any = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
            second = await client.responses.create(
                model="gpt-4o", input=[result], previous_response_id=first.id
            )
            assert second.output_text == "Done."
            async with client.responses.stream(model="gpt-4o", input="Hello") as stream:
                said = [
                    one.delta async for one in stream if one.type == "response.output_text.delta"
                ]
            assert "".join(said) == "Again."
            with pytest.raises(openai.BadRequestError, match="not found"):
                await client.responses.create(input="Hello", previous_response_id="resp_other")

    played(test)
    assert model.requests[0].messages[0] == {"role": "system", "content": "Be kind."}
    assert model.requests[0].tools is not None
    assert [one["role"] for one in model.requests[1].messages] == ["user", "assistant", "tool"]
    assert model.requests[2].seed == 7


def test_what_the_run_decides_is_left_out_and_told() -> None:
    model = FakeModel(["Yes."])

    async def test() -> None:
        async with episode(model) as (_, endpoint, client):
            raw = await client.chat.completions.with_raw_response.create(
                model="gpt-4o", messages=HELLO, temperature=1.5, seed=3, top_p=0.5, user="me"
            )
            assert raw.headers["x-greenroom-ignored"] == "seed, temperature, top_p"
            told = endpoint.facts["settings of the agent that the run overrules"]
            assert told == "seed, temperature, top_p"

    played(test)
    assert model.requests[0].seed == 7


def test_another_model_than_the_runs_is_refused_and_told() -> None:
    model = FakeModel(["Yes."])

    async def test() -> None:
        async with episode(model) as (_, endpoint, client):
            with pytest.raises(openai.NotFoundError, match="asks 'gpt-4o', and no other") as raised:
                await client.chat.completions.create(model="gpt-5", messages=HELLO)
            assert raised.value.code == "model_not_found"
            assert endpoint.facts == {"model refused": "gpt-5, the run's is gpt-4o"}
            listed = await client.models.list()
            assert [one.id for one in listed.data] == ["gpt-4o"]
            assert (await client.models.retrieve("gpt-4o")).id == "gpt-4o"

    played(test)
    assert model.requests == []


def test_an_address_is_of_one_episode_and_ends_with_it() -> None:
    async def test() -> None:
        async with open_gateway() as gateway:
            async with (
                gateway.episode(FakeModel(["One."]), "m") as first,
                gateway.episode(FakeModel(["Two."]), "m") as second,
            ):
                for endpoint, said in ((first, "One."), (second, "Two.")):
                    async with client_of(endpoint) as client:
                        answer = await client.chat.completions.create(model="m", messages=HELLO)
                        assert answer.choices[0].message.content == said
                async with client_of(first, second.token) as client:
                    with pytest.raises(openai.AuthenticationError, match="key of this episode"):
                        await client.chat.completions.create(model="m", messages=HELLO)
            async with client_of(first) as client:
                with pytest.raises(openai.AuthenticationError, match="no episode"):
                    await client.chat.completions.create(model="m", messages=HELLO)
            async with httpx.AsyncClient() as plain:
                assert (await plain.get(f"{gateway.address}/")).status_code == 401

    played(test)


@pytest.mark.parametrize(
    ("problem", "kind", "code", "ends"),
    [
        (ContextWindowExceeded("Too long."), openai.BadRequestError, "context_length_exceeded", 0),
        (ContentFiltered("No."), openai.BadRequestError, "content_filter", 0),
        (BudgetExhausted("Spent."), openai.RateLimitError, "insufficient_quota", 1),
        (ModelUnavailable("Busy.", status=429), openai.RateLimitError, "rate_limit_exceeded", 1),
        (ModelUnavailable("Away."), openai.InternalServerError, "model_unavailable", 1),
        (RuntimeError("Broken."), openai.InternalServerError, "model_unavailable", 1),
    ],
)
def test_a_model_without_an_answer_is_an_error_of_openais_and_not_asked_again(
    problem: Exception, kind: type[openai.APIStatusError], code: str, ends: int
) -> None:
    model = FakeModel([problem])

    async def test() -> None:
        failures: list[Exception] = []
        async with episode(model) as (_, endpoint, client):
            endpoint.on_failure = failures.append
            with pytest.raises(kind) as raised:
                await client.chat.completions.create(model="gpt-4o", messages=HELLO)
            assert raised.value.code == code
            assert endpoint.problem is problem
        # What the agent can mend does not end the episode.
        assert failures == [problem] * ends

    played(test)
    assert len(model.requests) == 1


def test_a_question_that_the_provider_does_not_take_is_told_to_the_agent() -> None:
    refused = RequestRefused("The server cannot take the request (status 400).")
    ended: list[Exception] = []

    async def ask(endpoint: EpisodeEndpoint) -> None:
        endpoint.on_failure = ended.append
        async with client_of(endpoint) as client:
            await client.chat.completions.create(model="m", messages=HELLO)

    async def test() -> None:
        async with open_gateway() as gateway:
            first, second = FakeModel([refused, "Yes."]), FakeModel([refused, "Yes."])
            async with gateway.episode(first, "m") as endpoint:
                with pytest.raises(openai.InternalServerError):
                    await ask(endpoint)
                # The settings of the run may be wrong.
                assert ended == [refused]
                await ask(endpoint)
            async with gateway.episode(second, "m") as endpoint:
                with pytest.raises(openai.BadRequestError, match="status 400") as raised:
                    await ask(endpoint)
                assert raised.value.code == "invalid_request"
                assert ended == [refused]
                assert getattr(endpoint.problem, "outcome", None) == "crashed"
                await ask(endpoint)
                assert endpoint.problem is None

    played(test)


def test_a_response_is_fetched_again_and_deleted_by_its_own_episode() -> None:
    async def test() -> None:
        async with episode(FakeModel(["Yes.", "No.", "Yes."])) as (_, _, client):
            response = await client.responses.create(model="gpt-4o", input="Hello")
            assert await client.responses.retrieve(response.id) == response
            for missing in ("resp_0", "x" * 200):
                with pytest.raises(openai.NotFoundError, match=f"id '{missing[:80]}' not found"):
                    await client.responses.retrieve(missing)
            with pytest.raises(openai.BadRequestError, match="'stream' is not supported"):
                await client.responses.retrieve(response.id, stream=True)
            with pytest.raises(openai.NotFoundError, match=r"no GET /v1/responses/.*items"):
                await client.responses.input_items.list(response.id)
            unkept = await client.responses.create(model="gpt-4o", input="Hello", store=False)
            with pytest.raises(openai.NotFoundError):
                await client.responses.retrieve(unkept.id)
            async with client.responses.stream(model="gpt-4o", input="Hello") as stream:
                streamed = await stream.get_final_response()
            assert (await client.responses.retrieve(streamed.id)).output_text == "Yes."
            await client.responses.delete(response.id)
            with pytest.raises(openai.NotFoundError):
                await client.responses.retrieve(response.id)
            with pytest.raises(openai.BadRequestError, match="not found"):
                await client.responses.create(
                    model="gpt-4o", input="And?", previous_response_id=response.id
                )

    played(test)


def test_a_provider_before_a_name_makes_no_other_model() -> None:
    async def ask(client: Any, *names: str) -> None:
        for name in names:
            await client.chat.completions.create(model=name, messages=HELLO)

    async def test() -> None:
        async with open_gateway() as gateway:
            for own, asked in (("gpt-4o", "openai/gpt-4o"), ("openai/gpt-4o", "gpt-4o")):
                async with (
                    gateway.episode(FakeModel(["Yes."]), own) as endpoint,
                    openai.AsyncOpenAI(
                        base_url=endpoint.model_base, api_key=endpoint.token
                    ) as client,
                ):
                    await ask(client, asked)
                    with pytest.raises(openai.NotFoundError):
                        await ask(client, "my-gpt-4o")
                    with pytest.raises(openai.NotFoundError):
                        await ask(client, "4o")

    played(test)


def test_calls_have_ids_of_their_own_and_reasons_are_openais_whatever_the_server_gives() -> None:
    odd = Completion(
        message={"role": "assistant", "content": None, "tool_calls": [CALL, CALL]},
        finish_reason="eos",
    )
    model = FakeModel([odd, odd, "Done.", replace(odd, finish_reason="length")])

    async def test() -> None:
        async with episode(model) as (_, _, client):
            ids: list[str] = []
            reasons: list[str] = []
            for _ in range(3):
                async with client.chat.completions.stream(model="gpt-4o", messages=HELLO) as stream:
                    choice = (await stream.get_final_completion()).choices[0]
                ids += [one.id for one in choice.message.tool_calls or ()]
                reasons.append(choice.finish_reason)
            cut = await client.chat.completions.create(model="gpt-4o", messages=HELLO)
            assert cut.choices[0].finish_reason == "length"
        assert len(ids) == len(set(ids)) == 4
        assert reasons == ["tool_calls", "tool_calls", "stop"]

    played(test)


@pytest.mark.slow
def test_what_many_settings_say_is_gathered_and_bounded() -> None:
    async def test() -> None:
        async with episode(FakeModel(["Yes."])) as (_, endpoint, client):
            for more in ({"seed": 3}, {"top_p": 0.5}, {f"x{n}": n for n in range(100_000)}):
                raw = await client.chat.completions.with_raw_response.create(
                    model="gpt-4o", messages=HELLO, extra_body=more
                )
                assert len(raw.headers["x-greenroom-ignored"]) < 2_000
                told = endpoint.facts["settings of the agent that the run overrules"]
                if "x0" not in more:
                    assert set(more) <= set(told.split(", "))
            assert {"seed", "top_p"} <= set(told.split(", "))
            assert len(told) < 2_000

    played(test)


def test_an_agent_that_leaves_is_not_answered_and_its_question_ends() -> None:
    async def test() -> None:
        model = _Slow()
        async with open_gateway() as gateway, gateway.episode(model, "m") as endpoint:
            async with client_of(endpoint) as client, anyio.create_task_group() as group:

                async def ask() -> None:
                    await client.chat.completions.create(model="m", messages=HELLO, stream=True)

                group.start_soon(ask)
                await model.asked.wait()
                group.cancel_scope.cancel()
            with anyio.fail_after(10):
                await model.ended.wait()

    played(test)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"n": 2}, "'n' is not supported"),
        ({"logprobs": True}, "'logprobs' is not supported"),
        ({"messages": []}, "messages"),
        ({"messages": "Hello"}, "array of objects"),
        ({"tools": [1]}, "array of objects"),
        ({"stop": [1]}, "stop"),
        ({"tool_choice": 1}, "tool_choice"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"model": 1}, "model"),
    ],
)
def test_what_cannot_be_done_is_refused(fields: dict[str, Any], text: str) -> None:
    model = FakeModel(["Yes."])

    async def test() -> None:
        async with episode(model) as (_, endpoint, _), httpx.AsyncClient() as plain:
            answer = await plain.post(
                f"{endpoint.model_base}/chat/completions",
                json={"messages": HELLO} | fields,
                headers={"authorization": f"Bearer {endpoint.token}"},
            )
            assert answer.status_code == 400
            assert text in answer.json()["error"]["message"]

    played(test)
    assert model.requests == []


def test_a_run_without_a_model_has_no_endpoint() -> None:
    async def test() -> None:
        async with episode(None, None) as (_, endpoint, client):
            assert endpoint.model_base is None
            with pytest.raises(openai.NotFoundError, match="--model"):
                await client.chat.completions.create(model="default", messages=HELLO)

    played(test)


class _Slow:
    """A model that never answers, and notes how its calls end."""

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.ended = anyio.Event()
        self.cancelled = 0

    async def complete(self, request: ModelRequest) -> Completion:
        self.asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled += 1
            self.ended.set()
        raise AssertionError


def test_calls_under_way_end_with_the_episode() -> None:
    async def test() -> None:
        async with open_gateway() as gateway, anyio.create_task_group() as group:
            model = _Slow()
            async with gateway.episode(model, "m") as endpoint:

                async def ask() -> None:
                    error = pytest.raises(openai.AuthenticationError, match="no episode")
                    async with client_of(endpoint) as client:
                        with error:
                            await client.chat.completions.create(model="m", messages=HELLO)

                group.start_soon(ask)
                await model.asked.wait()
            assert model.cancelled == 1  # what it spent is counted when the block has ended

    played(test)


def test_what_is_mounted_answers_below_the_address_of_the_episode() -> None:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def hello(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"hello {request.path_params['name']}")

    async def test() -> None:
        async with open_gateway() as gateway, httpx.AsyncClient() as client:
            async with gateway.episode(None) as endpoint:
                tools = endpoint.mount("tools", Starlette(routes=[Route("/{name}", hello)]))
                assert tools.startswith(f"{endpoint.address}/tools-")
                assert (await client.get(f"{tools}/ann")).text == "hello ann"
                # Its address is a secret of its own.
                assert (await client.get(f"{endpoint.address}/tools/ann")).status_code == 401
            assert (await client.get(f"{tools}/ann")).status_code == 401

    played(test)


def test_pages_of_other_hosts_are_refused() -> None:
    async def test() -> None:
        async with episode(FakeModel(["Yes."])) as (_, endpoint, _), httpx.AsyncClient() as client:
            headers = {"authorization": f"Bearer {endpoint.token}", "host": "evil.example"}
            answer = await client.get(f"{endpoint.model_base}/models", headers=headers)
            assert answer.status_code == 403

    played(test)


def test_questions_are_limited_in_each_turn_and_not_over_all_turns() -> None:
    ended: list[Exception] = []

    async def test() -> None:
        async with episode(FakeModel([CALLING] * 5)) as (_, endpoint, client):
            endpoint.on_failure = ended.append

            async def ask() -> None:
                await client.chat.completions.create(model="gpt-4o", messages=HELLO)

            for _ in range(2):
                endpoint.begin_turn(2)
                await ask()
                await ask()
            assert not ended
            with pytest.raises(openai.RateLimitError, match="too often in one turn"):
                await ask()

    played(test)
    assert [type(one).__name__ for one in ended] == ["TooManyCalls"]
